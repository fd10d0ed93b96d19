"""Tools that are functions of the program which opened the session."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from inspect import isawaitable

from pydantic import BaseModel

from kimi_tui.base.content import ImageURLPart, TextPart
from kimi_tui.base.encoding import to_jsonable
from kimi_tui.base.value import value
from kimi_tui.llm.provider import ToolSchema
from kimi_tui.tools.approval import Approval, ToolSubject
from kimi_tui.tools.shell.output import OutputFolder, OutputKeeper
from kimi_tui.tools.tool import RunningCall, Tool, json_schema, ok
from kimi_tui.wire.display import BriefBlock
from kimi_tui.wire.events import ToolReturn


@value(kw_only=True)
class OwnFunction:
    """A function, and how a model knows it."""

    name: str
    description: str
    params: type[BaseModel]
    arguments: Mapping[str, str]
    """The function's parameters by the fields of `params` that hold them."""
    call: Callable[..., object | Awaitable[object]]
    is_async: bool
    reads: bool = False
    """Whether it changes nothing: then nobody is asked, and it runs in plan mode, too."""


class FunctionTool(Tool[BaseModel]):
    """Asks for consent, then calls the function. A grant covers this function."""

    changes_things = True

    def __init__(self, function: OwnFunction, *, approval: Approval, folder: OutputFolder) -> None:
        self._function = function
        self._approval = approval
        self._folder = folder
        self.Params = function.params

    @property
    def schema(self) -> ToolSchema:
        """The function as its signature and its documentation tell."""
        return ToolSchema(self._function.name, self._function.description, json_schema(self.Params))

    async def run(self, params: BaseModel, call: RunningCall) -> ToolReturn:
        """What the function returned. What it raises becomes an error result, as with any tool."""
        shown = json.dumps(params.model_dump(mode="json", by_alias=True), ensure_ascii=False, indent=2)
        await self._approval.request(
            call,
            action="call tool",
            description=f"Call {self._function.name}, a function of the program that runs this session",
            subject=ToolSubject(self._function.name),
            display=(BriefBlock(shown),) if self._function.arguments else (),
        )
        async with call.turn():
            return await self._called(params)

    async def _called(self, params: BaseModel) -> ToolReturn:
        function = self._function
        given = {name: getattr(params, field) for field, name in function.arguments.items()}
        returned = (
            function.call(**given)
            if function.is_async
            else await asyncio.to_thread(lambda: function.call(**given))
        )
        return self._result(await returned if isawaitable(returned) else returned)

    def _result(self, returned: object) -> ToolReturn:
        match returned:
            case ToolReturn():
                return returned
            case None:
                return ok(message="Done.", brief="done")
            case TextPart() | ImageURLPart():
                return ok((returned,))
            case tuple() | list() if returned and all(
                isinstance(it, TextPart | ImageURLPart) for it in returned
            ):
                return ok(tuple(returned))
            case str():
                return self._text(returned)
            case _:
                return self._text(json.dumps(to_jsonable(returned), ensure_ascii=False))

    def _text(self, text: str) -> ToolReturn:
        output = OutputKeeper(self._folder)
        output.add(text)
        output.close()
        return ok(output.text())


class ReadingFunctionTool(FunctionTool):
    """One that changes nothing, by its author's word: such calls run beside each other."""

    changes_things = False

    async def run(self, params: BaseModel, call: RunningCall) -> ToolReturn:
        """What the function returned."""
        return await self._called(params)


def function_tool(function: OwnFunction, *, approval: Approval, folder: OutputFolder) -> FunctionTool:
    """The tool of a function."""
    kind = ReadingFunctionTool if function.reads else FunctionTool
    return kind(function, approval=approval, folder=folder)
