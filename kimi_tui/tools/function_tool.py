"""Tools that are functions of the host program."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from inspect import isawaitable

from pydantic import BaseModel

from kimi_tui.base.content_parts import ImageURLPart, TextPart
from kimi_tui.base.frozen import frozen
from kimi_tui.base.json_codec import to_jsonable
from kimi_tui.llm.provider import ToolSchema
from kimi_tui.permission.subject import ToolSubject
from kimi_tui.tools.approval import Approval
from kimi_tui.tools.shell.captured_output import CapturedOutput, OutputFolder
from kimi_tui.tools.tool import CallContext, Tool, build_json_schema, success
from kimi_tui.wire.display_blocks import BriefBlock
from kimi_tui.wire.events import ToolReturn


@frozen(kw_only=True)
class HostFunction:
    """A function of the host program, described for the model."""

    name: str
    description: str
    params: type[BaseModel]
    arguments: Mapping[str, str]
    """The function's parameter names, by the field of `params` that holds the value."""
    call: Callable[..., object | Awaitable[object]]
    is_async: bool
    read_only: bool = False
    """Whether it changes nothing. Then it needs no approval and runs in plan mode, too."""


class FunctionTool(Tool[BaseModel]):
    """Requests approval, then calls the function. A grant covers all calls of this function."""

    has_side_effects = True

    def __init__(self, function: HostFunction, *, approval: Approval, output_folder: OutputFolder) -> None:
        self._function = function
        self._approval = approval
        self._output_folder = output_folder
        self.Params = function.params

    @property
    def schema(self) -> ToolSchema:
        """Schema built from the function's signature and documentation."""
        return ToolSchema(self._function.name, self._function.description, build_json_schema(self.Params))

    async def run(self, params: BaseModel, call: CallContext) -> ToolReturn:
        """Return the function's result. As with any tool, an exception becomes an error result."""
        arguments = json.dumps(params.model_dump(mode="json", by_alias=True), ensure_ascii=False, indent=2)
        await self._approval.request(
            call,
            action="call tool",
            description=f"Call {self._function.name}, a function of the program that runs this session",
            subject=ToolSubject(self._function.name),
            display=(BriefBlock(arguments),) if self._function.arguments else (),
        )
        async with call.exclusive():
            return await self._call_function(params)

    async def _call_function(self, params: BaseModel) -> ToolReturn:
        function = self._function
        arguments = {name: getattr(params, field) for field, name in function.arguments.items()}
        value = (
            function.call(**arguments)
            if function.is_async
            else await asyncio.to_thread(lambda: function.call(**arguments))
        )
        return self._to_result(await value if isawaitable(value) else value)

    def _to_result(self, value: object) -> ToolReturn:
        match value:
            case ToolReturn():
                return value
            case None:
                return success(message="Done.", brief="done")
            case TextPart() | ImageURLPart():
                return success((value,))
            case tuple() | list() if value and all(isinstance(it, TextPart | ImageURLPart) for it in value):
                return success(tuple(value))
            case str():
                return self._to_text_result(value)
            case _:
                return self._to_text_result(json.dumps(to_jsonable(value), ensure_ascii=False))

    def _to_text_result(self, text: str) -> ToolReturn:
        output = CapturedOutput(self._output_folder)
        output.add(text)
        output.close()
        return success(output.text())


class ReadOnlyFunctionTool(FunctionTool):
    """A function that changes nothing, according to its author. Its calls run in parallel."""

    has_side_effects = False

    async def run(self, params: BaseModel, call: CallContext) -> ToolReturn:
        """Return the function's result."""
        return await self._call_function(params)


def build_function_tool(
    function: HostFunction, *, approval: Approval, output_folder: OutputFolder
) -> FunctionTool:
    """Return the tool that calls `function`."""
    tool_type = ReadOnlyFunctionTool if function.read_only else FunctionTool
    return tool_type(function, approval=approval, output_folder=output_folder)
