"""Session that tolerates real servers' deviations from the protocol.

Examples are incomplete messages, and results that violate their schema.
"""

from types import TracebackType
from typing import Any

import mcp_types
from mcp import ClientSession
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCResponse

from kimi_tui.mcp.tool_schema import InvalidSchema, sanitize_schema

UNUSABLE_KEY = "x-kimi-tui-unusable"
"""Key in the schema that replaces an invalid schema. The value is the reason."""
TASK_META_KEY = "kimi-tui/task"
"""Metadata key for the task that a call returned. Needed because the SDK only accepts tool results."""
_UNNAMED_SERVER = {"name": "", "version": ""}
_FIELD_TYPES: dict[str, type] = {
    "annotations": dict, "description": str, "execution": dict, "outputSchema": dict, "title": str,
}  # fmt: skip
"""Expected types of a tool's optional fields. Fields of another type are removed."""


class TolerantSession(ClientSession):
    """Session that accepts servers without a name, and results that violate their schema."""

    def __init__(self, read_stream: Any, write_stream: Any, **options: Any) -> None:
        super().__init__(RepairedStream(read_stream), write_stream, **options)

    async def validate_tool_result(self, name: str, result: mcp_types.CallToolResult) -> None:
        """Do nothing. A result that violates its schema is passed to the model anyway."""


class RepairedStream:
    """A server's message stream, with missing required fields added."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    async def receive(self) -> "SessionMessage | Exception":
        """Return the next message."""
        return _repair_message(await self._stream.receive())

    async def aclose(self) -> None:
        """Close the stream."""
        await self._stream.aclose()

    def close(self) -> None:
        """Close the stream immediately."""
        self._stream.close()

    @property
    def last_context(self) -> Any:
        """The transport's context of the last message."""
        return getattr(self._stream, "last_context", None)

    def __aiter__(self) -> "RepairedStream":
        """Iterate over messages until the stream ends."""
        return self

    async def __anext__(self) -> "SessionMessage | Exception":
        """Return the next message."""
        return _repair_message(await self._stream.__anext__())

    async def __aenter__(self) -> "RepairedStream":
        """Enter the stream's context."""
        await self._stream.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        """Close the stream."""
        suppresses: bool | None = await self._stream.__aexit__(kind, error, trace)
        return suppresses


def _repair_message(message: "SessionMessage | Exception") -> "SessionMessage | Exception":
    if isinstance(message, SessionMessage) and isinstance(message.message, JSONRPCResponse):
        result = message.message.result
        if "protocolVersion" in result and "capabilities" in result:
            result.setdefault("serverInfo", dict(_UNNAMED_SERVER))
        elif isinstance(task := result.get("task"), dict) and "content" not in result:
            result |= {"content": [], "_meta": {TASK_META_KEY: task}}
        elif isinstance(tools := result.get("tools"), list):
            result["tools"] = [_repair_tool(it) for it in tools if _has_name(it)]
    return message


def _has_name(tool: Any) -> bool:
    return isinstance(tool, dict) and isinstance(tool.get("name"), str)


def _repair_tool(tool: dict[str, Any]) -> dict[str, Any]:
    """Return `tool` in a valid form. Otherwise, one invalid tool would invalidate the whole list."""
    repaired: dict[str, Any] = {
        key: value for key, value in tool.items() if isinstance(value, _FIELD_TYPES.get(key, object))
    }
    output_schema: dict[str, Any] = repaired.get("outputSchema", {})
    if output_schema.get("type") != "object":
        repaired.pop("outputSchema", None)
    try:
        repaired["inputSchema"] = sanitize_schema(tool.get("inputSchema"))
    except InvalidSchema as error:
        repaired["inputSchema"] = {"type": "object", UNUSABLE_KEY: str(error)}
    return repaired
