"""Tools that run at the client: the model calls them, the front end answers."""

import json
from collections.abc import Iterable
from typing import Any

from pydantic import BaseModel, ConfigDict

from kimi_tui.llm.provider import ToolSchema
from kimi_tui.tools.tool import RunningCall, Tool, failed
from kimi_tui.wire.channel import Wire
from kimi_tui.wire.commands import ToolDefinition
from kimi_tui.wire.events import ToolReturn
from kimi_tui.wire.requests import ToolCallRequest, ToolCallResponse


class ClientToolParams(BaseModel):
    """Any JSON object: its schema is the client's, and so is checking it."""

    model_config = ConfigDict(extra="allow")


class ClientTool(Tool[ClientToolParams]):
    """One tool of the client. Running it is the client's act, so nobody else is asked to allow it."""

    Params = ClientToolParams
    changes_things = True

    def __init__(self, wire: Wire, definition: ToolDefinition) -> None:
        self._wire = wire
        self._definition = definition

    @property
    def schema(self) -> ToolSchema:
        """The tool as the client defined it."""
        it = self._definition
        return ToolSchema(it.name, it.description, it.parameters)

    async def run(self, params: ClientToolParams, call: RunningCall) -> ToolReturn:
        """Ask the client to run it."""
        arguments: dict[str, Any] = params.model_extra or {}
        async with call.turn():
            answer = await self._wire.ask(
                ToolCallRequest(call.id, call.tool_name, json.dumps(arguments, ensure_ascii=False))
            )
        if not isinstance(answer, ToolCallResponse):
            return failed(f"The client gave no result of {call.tool_name}. Go on without it.")
        return answer.return_value


def client_tools(wire: Wire, definitions: Iterable[ToolDefinition]) -> dict[str, Tool[Any]]:
    """The tools by name."""
    return {it.name: ClientTool(wire, it) for it in definitions}
