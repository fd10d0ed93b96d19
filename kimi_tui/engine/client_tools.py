"""Tools that the client runs when the model calls them."""

import json
from collections.abc import Iterable
from typing import Any

from pydantic import BaseModel, ConfigDict

from kimi_tui.llm.provider import ToolSchema
from kimi_tui.tools.tool import CallContext, Tool, failure
from kimi_tui.wire.channel import Wire
from kimi_tui.wire.commands import ToolDefinition
from kimi_tui.wire.events import ToolReturn
from kimi_tui.wire.requests import ToolCallRequest, ToolCallResponse


class ClientToolParams(BaseModel):
    """Any JSON object. The client defines the schema and validates the arguments."""

    model_config = ConfigDict(extra="allow")


class ClientTool(Tool[ClientToolParams]):
    """Tool that the client runs. It needs no approval, because the client can refuse the call."""

    Params = ClientToolParams
    has_side_effects = True

    def __init__(self, wire: Wire, definition: ToolDefinition) -> None:
        self._wire = wire
        self._definition = definition

    @property
    def schema(self) -> ToolSchema:
        """Schema as defined by the client."""
        it = self._definition
        return ToolSchema(it.name, it.description, it.parameters)

    async def run(self, params: ClientToolParams, call: CallContext) -> ToolReturn:
        """Send the call to the client and return its result."""
        arguments: dict[str, Any] = params.model_extra or {}
        async with call.exclusive():
            response = await self._wire.ask(
                ToolCallRequest(call.id, call.tool_name, json.dumps(arguments, ensure_ascii=False))
            )
        if not isinstance(response, ToolCallResponse):
            return failure(f"The client returned no result for {call.tool_name}. Continue without it.")
        return response.return_value


def client_tools(wire: Wire, definitions: Iterable[ToolDefinition]) -> dict[str, Tool[Any]]:
    """Return the client's tools by name."""
    return {it.name: ClientTool(wire, it) for it in definitions}
