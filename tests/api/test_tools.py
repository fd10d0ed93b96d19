"""Functions of a program as tools of the model."""

import asyncio
from dataclasses import dataclass
from typing import Annotated, Any

import pytest
from pydantic import Field

from kimi_tui import ApprovalRequest, ImageURLPart, MediaURL, ToolResult, tool
from kimi_tui.api.tools import as_host_tool
from kimi_tui.base.errors import ConfigError, UsageError
from kimi_tui.tools.approval import Approval
from kimi_tui.tools.function_tool import HostFunction
from kimi_tui.tools.tool import CallContext, Tool, ToolParams, build_json_schema, success
from kimi_tui.wire.events import ToolReturn
from tests.engine.fake_front_end import call, script

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


def test_the_schema_is_built_from_signature_and_docstring() -> None:
    function = as_host_tool(total)
    assert isinstance(function, HostFunction)
    assert (function.name, function.description, function.read_only) == ("total", "Add numbers.", True)
    assert build_json_schema(function.params) == {
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "numbers": {"type": "array", "items": {"type": "integer"}, "description": "What to add."},
            "schema": {"type": "string", "default": "sum"},
        },
        "required": ["numbers"],
    }


async def test_a_read_only_function_needs_no_approval(home: ApiHome) -> None:
    result = await result_of(home, call("c1", "total", numbers=[1, 2]), tools=[total])
    assert result.return_value.output == '{"sum": 3}'


async def test_other_functions_need_approval_with_name_and_arguments(home: ApiHome) -> None:
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


async def test_invalid_arguments_never_reach_the_function(home: ApiHome) -> None:
    line = call("c1", "post", to={"city": "Oslo"}, text="far too long")
    result = await result_of(home, line, tools=[post], yolo=True)
    assert result.return_value.is_error
    assert "text" in result.return_value.message


async def test_the_model_sees_exceptions_and_images(home: ApiHome) -> None:
    def raise_error() -> str:
        """Break."""
        raise RuntimeError("no more paper")

    def return_image() -> ImageURLPart:
        """Draw."""
        return ImageURLPart(MediaURL("data:image/png;base64,AA=="))

    home.script(script(call("c1", "raise_error"), call("c2", "return_image")), "text: done")
    async with home.create(tools=[raise_error, return_image], yolo=True) as agent:
        results = [event async for event in agent.run("go") if isinstance(event, ToolResult)]
    assert "no more paper" in results[0].return_value.message
    assert isinstance(results[1].return_value.output[0], ImageURLPart)


async def test_a_sync_function_does_not_block_the_event_loop(home: ApiHome) -> None:
    loop = asyncio.get_running_loop()

    @tool(reads=True)
    def from_the_loop() -> str:
        """Ask the loop."""
        return asyncio.run_coroutine_threadsafe(asyncio.sleep(0, "answered"), loop).result(10)

    result = await result_of(home, call("c1", "from_the_loop"), tools=[from_the_loop])
    assert result.return_value.output == "answered"


class Noting(Tool[ToolParams]):
    """A minimal tool class."""

    name = "Noting"
    description = "Note something."
    Params = ToolParams

    def __init__(self, approval: Approval) -> None:
        self._approval = approval

    async def run(self, params: ToolParams, call: CallContext) -> ToolReturn:
        return success(f"noted by {type(self._approval).__name__}")


async def test_a_tool_class_gets_its_dependencies(home: ApiHome) -> None:
    result = await result_of(home, call("c1", "Noting"), tools=[Noting])
    assert result.return_value.output == "noted by WireApproval"


async def test_sub_agents_have_the_tools_too(home: ApiHome) -> None:
    task = call("t1", "Task", description="add", prompt="add up", subagent_type="coder")
    home.script(
        script(task),
        script("for: add up", call("c1", "total", numbers=[4, 5])),
        script("for: add up", "text: The sum is 9, as requested."),
        "text: done",
    )
    async with home.create(tools=[total]) as agent:
        assert await agent.ask("go") == "done"
    journals = "".join(path.read_text() for path in home.data_dir.rglob("context.jsonl"))
    assert '{\\"sum\\": 9}' in journals


async def test_a_duplicate_tool_name_is_rejected_when_the_session_opens(home: ApiHome) -> None:
    home.script("text: hi")
    with pytest.raises(ConfigError, match="Two tools are named Bash"):
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
    ("candidate", "reason"),
    [
        (unannotated, "`city`"),
        (many, "cities"),
        (silent, "docstring"),
        (lambda: "x", "name"),
        (int, "subclass of Tool"),
        ("x", "isn't callable"),
    ],
)
def test_an_invalid_tool_is_rejected_with_the_reason(candidate: Any, reason: str) -> None:
    with pytest.raises(UsageError) as caught:
        as_host_tool(candidate)
    assert reason in str(caught.value)
