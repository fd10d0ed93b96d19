"""Construction and availability of an agent's tools."""

import pytest
from pydantic import BaseModel

from kimi_tui.base.errors import ConfigError
from kimi_tui.engine.build.tool_factory import BUILTIN_TOOLS, ToolFactory, is_available
from kimi_tui.llm.provider import ToolSchema
from kimi_tui.tools.path_scope import PathScope
from kimi_tui.tools.think import Think
from kimi_tui.tools.tool import CallContext, Tool, build_json_schema, success
from kimi_tui.wire.events import ToolReturn

IMAGE_INPUT = frozenset({"image_in"})


class Nothing(BaseModel):
    pass


class Own(Tool[Nothing]):
    """A user's own tool."""

    name = "Own"
    Params = Nothing

    @property
    def schema(self) -> ToolSchema:
        return ToolSchema("Own", "Does nothing.", build_json_schema(Nothing))

    async def run(self, params: Nothing, call: CallContext) -> ToolReturn:
        return success()


class WithoutDescription(Own):
    name = "NobodyWroteIt"
    schema = Tool.schema


class Broken(Own):
    def __init__(self) -> None:
        raise LookupError("no license")


class Demanding(Own):
    def __init__(self, workspace: PathScope, color: str) -> None:
        pass


class Unrelated:
    pass


@pytest.mark.parametrize("reference", ["ReadMediaFile", BUILTIN_TOOLS["ReadMediaFile"]])
def test_read_media_file_requires_image_input(reference: str) -> None:
    assert is_available(reference, IMAGE_INPUT)
    assert not is_available(reference, frozenset({"thinking"}))


def test_all_other_tools_are_available_to_all_models() -> None:
    assert all(is_available(name, frozenset()) for name in BUILTIN_TOOLS if name != "ReadMediaFile")


def test_a_tool_has_the_name_given_in_the_agent_file() -> None:
    toolset = ToolFactory({}).build_toolset([("Ponder", "Think"), ("Mine", f"{__name__}:Own")])
    assert [schema.name for schema in toolset.schemas] == ["Ponder", "Mine"]
    assert toolset.has_type(Think)


@pytest.mark.parametrize(
    ("reference", "problem"),
    [
        (f"{__name__}:Missing", "Missing"),
        ("no_such_module:Tool", "no_such_module"),
        (f"{__name__}:Unrelated", "isn't a tool"),
        (f"{__name__}:IMAGE_INPUT", "isn't a class"),
        (f"{__name__}:Demanding", "color"),
        (f"{__name__}:Broken", "no license"),
        (f"{__name__}:WithoutDescription", "NobodyWroteIt"),
        ("json", "json"),
    ],
)
def test_the_error_for_an_invalid_tool_names_the_problem(reference: str, problem: str) -> None:
    factory = ToolFactory({PathScope: object()})
    with pytest.raises(ConfigError, match=problem) as error:
        factory.build_toolset([("Name", reference)])
    assert error.value.hint
