"""An agent's tools: which of them a model gets, and users' own."""

import pytest
from pydantic import BaseModel

from kimi_tui.base.errors import ConfigError
from kimi_tui.engine.toolbox import BUILTIN_TOOLS, Toolbox, suits
from kimi_tui.llm.provider import ToolSchema
from kimi_tui.tools.think import Think
from kimi_tui.tools.tool import RunningCall, Tool, json_schema, ok
from kimi_tui.tools.workspace import Workspace
from kimi_tui.wire.events import ToolReturn

SEEING = frozenset({"image_in"})


class Nothing(BaseModel):
    pass


class Own(Tool[Nothing]):
    """A user's own tool."""

    name = "Own"
    Params = Nothing

    @property
    def schema(self) -> ToolSchema:
        return ToolSchema("Own", "Does nothing.", json_schema(Nothing))

    async def run(self, params: Nothing, call: RunningCall) -> ToolReturn:
        return ok()


class WithoutDescription(Own):
    name = "NobodyWroteIt"
    schema = Tool.schema


class Broken(Own):
    def __init__(self) -> None:
        raise LookupError("no licence")


class Demanding(Own):
    def __init__(self, workspace: Workspace, colour: str) -> None:
        pass


class Unrelated:
    pass


@pytest.mark.parametrize("reference", ["ReadMediaFile", BUILTIN_TOOLS["ReadMediaFile"]])
def test_only_models_that_see_are_shown_pictures(reference: str) -> None:
    assert suits(reference, SEEING)
    assert not suits(reference, frozenset({"thinking"}))


def test_every_other_tool_is_for_every_model() -> None:
    assert all(suits(name, frozenset()) for name in BUILTIN_TOOLS if name != "ReadMediaFile")


def test_a_tool_has_the_name_that_the_agent_gives_it() -> None:
    toolset = Toolbox({}).toolset([("Ponder", "Think"), ("Mine", f"{__name__}:Own")])
    assert [schema.name for schema in toolset.schemas] == ["Ponder", "Mine"]
    assert toolset.has(Think)


@pytest.mark.parametrize(
    ("reference", "said"),
    [
        (f"{__name__}:Missing", "Missing"),
        ("no_such_module:Tool", "no_such_module"),
        (f"{__name__}:Unrelated", "is no tool"),
        (f"{__name__}:SEEING", "is no class"),
        (f"{__name__}:Demanding", "colour"),
        (f"{__name__}:Broken", "no licence"),
        (f"{__name__}:WithoutDescription", "NobodyWroteIt"),
        ("json", "json"),
    ],
)
def test_a_tool_that_can_not_be_had_is_an_error_that_says_why(reference: str, said: str) -> None:
    toolbox = Toolbox({Workspace: object()})
    with pytest.raises(ConfigError, match=said) as error:
        toolbox.toolset([("Name", reference)])
    assert error.value.hint
