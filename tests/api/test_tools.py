"""Functions of a program as tools of the model."""

import asyncio
from dataclasses import dataclass
from typing import Annotated, Any

import pytest
from pydantic import Field

from kimi_tui import ApprovalRequest, ImageURLPart, MediaURL, ToolResult, tool
from kimi_tui.api.tools import own_tool
from kimi_tui.base.errors import ConfigError, UsageError
from kimi_tui.tools.approval import Approval
from kimi_tui.tools.function_tool import OwnFunction
from kimi_tui.tools.tool import RunningCall, Tool, ToolParams, json_schema, ok
from kimi_tui.wire.events import ToolReturn
from tests.engine.front import call, script

from .conftest import ApiHome


@dataclass
class Address:
    city: str
    zip: int = 0


@tool(reads=True)
def total(numbers: Annotated[list[int], "What to add."], schema: str = "sum") -> dict[str, int]:
    """Add numbers."""
    return {schema: sum(numbers)}


async def post(to: Address, text: Annotated[str, Field(max_length=5)] = "hello") -> str:
    """Send a letter."""
    return f"{text} to {to.city}"


async def result_of(home: ApiHome, call_line: str, /, **options: Any) -> ToolResult:
    home.script(script(call_line), "text: done")
    async with home.create(**options) as agent:
        results = [event async for event in agent.run("go") if isinstance(event, ToolResult)]
    return results[0]


def test_a_model_is_told_what_signature_and_docstring_say() -> None:
    function = own_tool(total)
    assert isinstance(function, OwnFunction)
    assert (function.name, function.description, function.reads) == ("total", "Add numbers.", True)
    assert json_schema(function.params) == {
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "numbers": {"type": "array", "items": {"type": "integer"}, "description": "What to add."},
            "schema": {"type": "string", "default": "sum"},
        },
        "required": ["numbers"],
    }


async def test_one_that_reads_is_called_without_asking(home: ApiHome) -> None:
    result = await result_of(home, call("c1", "total", numbers=[1, 2]), tools=[total])
    assert result.return_value.output == '{"sum": 3}'


async def test_any_other_is_asked_for_by_name_with_its_arguments(home: ApiHome) -> None:
    asked: list[ApprovalRequest] = []

    def approve(request: ApprovalRequest) -> bool:
        asked.append(request)
        return True

    result = await result_of(home, call("c1", "post", to={"city": "Oslo"}), tools=[post], approve=approve)
    assert result.return_value.output == "hello to Oslo"
    (request,) = asked
    assert (request.sender, request.action) == ("post", "call tool")
    assert "Oslo" in str(request.display)


@pytest.mark.parametrize(("allowed", "is_error"), [(["Tool(post)"], False), (["Tool(total)"], True)])
async def test_a_rule_allows_one_tool_and_no_other(home: ApiHome, allowed: list[str], is_error: bool) -> None:
    settings = {"permissions": {"allow": allowed}}
    line = call("c1", "post", to={"city": "Oslo"})
    result = await result_of(home, line, tools=[post], settings=settings)
    assert result.return_value.is_error == is_error


async def test_arguments_that_do_not_fit_never_reach_the_function(home: ApiHome) -> None:
    line = call("c1", "post", to={"city": "Oslo"}, text="far too long")
    result = await result_of(home, line, tools=[post], yolo=True)
    assert result.return_value.is_error
    assert "text" in result.return_value.message


async def test_what_it_raises_is_told_to_the_model_and_a_picture_is_shown_to_it(home: ApiHome) -> None:
    def broken() -> str:
        """Break."""
        raise RuntimeError("no more paper")

    def drawn() -> ImageURLPart:
        """Draw."""
        return ImageURLPart(MediaURL("data:image/png;base64,AA=="))

    home.script(script(call("c1", "broken"), call("c2", "drawn")), "text: done")
    async with home.create(tools=[broken, drawn], yolo=True) as agent:
        results = [event async for event in agent.run("go") if isinstance(event, ToolResult)]
    assert "no more paper" in results[0].return_value.message
    assert isinstance(results[1].return_value.output[0], ImageURLPart)


async def test_a_function_that_is_not_async_does_not_stop_the_loop(home: ApiHome) -> None:
    loop = asyncio.get_running_loop()

    @tool(reads=True)
    def from_the_loop() -> str:
        """Ask the loop."""
        return asyncio.run_coroutine_threadsafe(asyncio.sleep(0, "answered"), loop).result(10)

    result = await result_of(home, call("c1", "from_the_loop"), tools=[from_the_loop])
    assert result.return_value.output == "answered"


class Noting(Tool[ToolParams]):
    """A tool by the book."""

    name = "Noting"
    description = "Note something."
    Params = ToolParams

    def __init__(self, approval: Approval) -> None:
        self._approval = approval

    async def run(self, params: ToolParams, call: RunningCall) -> ToolReturn:
        return ok(f"noted by {type(self._approval).__name__}")


async def test_a_tool_class_is_made_with_what_it_asks_for(home: ApiHome) -> None:
    result = await result_of(home, call("c1", "Noting"), tools=[Noting])
    assert result.return_value.output == "noted by WireApproval"


async def test_sub_agents_have_them_too(home: ApiHome) -> None:
    task = call("t1", "Task", description="add", prompt="add up", subagent_type="coder")
    home.script(
        script(task),
        script("for: add up", call("c1", "total", numbers=[4, 5])),
        script("for: add up", "text: It makes 9, which is what was asked for."),
        "text: done",
    )
    async with home.create(tools=[total]) as agent:
        assert await agent.ask("go") == "done"
    journals = "".join(path.read_text() for path in home.share_dir.rglob("context.jsonl"))
    assert '{\\"sum\\": 9}' in journals


async def test_a_name_that_is_taken_is_refused_at_the_opening(home: ApiHome) -> None:
    home.script("text: hi")
    with pytest.raises(ConfigError, match="two tools named Bash"):
        async with home.create(tools=[tool(name="Bash", description="Mine.")(lambda: "")]):
            pass


def unannotated(city) -> str:  # type: ignore[no-untyped-def]
    """Has a parameter without a type."""
    return str(city)


def many(*cities: str) -> str:
    """Takes any number."""
    return "".join(cities)


def silent(city: str) -> str:
    return city


@pytest.mark.parametrize(
    ("given", "why"),
    [
        (unannotated, "`city`"),
        (many, "cities"),
        (silent, "docstring"),
        (lambda: "x", "name"),
        (int, "no Tool"),
        ("x", "can't be called"),
    ],
)
def test_what_can_be_no_tool_is_refused_with_the_reason(given: Any, why: str) -> None:
    with pytest.raises(UsageError) as refused:
        own_tool(given)
    assert why in str(refused.value)
