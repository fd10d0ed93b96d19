"""A session that lives with what real servers do: mended answers, results that don't fit their own schema."""

from types import TracebackType
from typing import Any

import mcp_types
from mcp import ClientSession
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCResponse

from kimi_tui.tools.mcp.schema import BadSchema, usable_schema

UNUSABLE = "x-kimi-tui-unusable"
"""Stands in a schema that replaces one which can't be used, and says why that is so."""
BEGUN_TASK = "kimi-tui/task"
"""Where the result of a call that became a task holds it: the SDK takes results only for an answer."""
_NAMELESS = {"name": "", "version": ""}
_SHAPES: dict[str, type] = {
    "annotations": dict, "description": str, "execution": dict, "outputSchema": dict, "title": str,
}  # fmt: skip
"""What else in a tool has to be of which type; left out where it isn't."""


class TolerantSession(ClientSession):
    """Takes a server that doesn't say who it is, and results as they come: the model judges them."""

    def __init__(self, read_stream: Any, write_stream: Any, **options: Any) -> None:
        super().__init__(MendedStream(read_stream), write_stream, **options)

    async def validate_tool_result(self, name: str, result: mcp_types.CallToolResult) -> None:
        """Nothing: a result that doesn't fit the schema its server gave is still what the tool did."""


class MendedStream:
    """What a server sends, with what the protocol demands and it left out."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    async def receive(self) -> "SessionMessage | Exception":
        """The next message."""
        return _mended(await self._stream.receive())

    async def aclose(self) -> None:
        """Close the stream."""
        await self._stream.aclose()

    def close(self) -> None:
        """Close the stream at once."""
        self._stream.close()

    @property
    def last_context(self) -> Any:
        """What the transport knows of the last message."""
        return getattr(self._stream, "last_context", None)

    def __aiter__(self) -> "MendedStream":
        """Messages until the stream ends."""
        return self

    async def __anext__(self) -> "SessionMessage | Exception":
        """The next message."""
        return _mended(await self._stream.__anext__())

    async def __aenter__(self) -> "MendedStream":
        """Use the stream."""
        await self._stream.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        """Close the stream."""
        ended: bool | None = await self._stream.__aexit__(kind, error, trace)
        return ended


def _mended(message: "SessionMessage | Exception") -> "SessionMessage | Exception":
    if isinstance(message, SessionMessage) and isinstance(message.message, JSONRPCResponse):
        result = message.message.result
        if "protocolVersion" in result and "capabilities" in result:
            result.setdefault("serverInfo", dict(_NAMELESS))
        elif isinstance(task := result.get("task"), dict) and "content" not in result:
            result |= {"content": [], "_meta": {BEGUN_TASK: task}}
        elif isinstance(tools := result.get("tools"), list):
            result["tools"] = [_mended_tool(it) for it in tools if _is_named(it)]
    return message


def _is_named(tool: Any) -> bool:
    return isinstance(tool, dict) and isinstance(tool.get("name"), str)


def _mended_tool(tool: dict[str, Any]) -> dict[str, Any]:
    """`tool` as the protocol wants it, so that one that is wrong costs itself and not the whole list."""
    mended: dict[str, Any] = {
        key: value for key, value in tool.items() if isinstance(value, _SHAPES.get(key, object))
    }
    output: dict[str, Any] = mended.get("outputSchema", {})
    if output.get("type") != "object":
        mended.pop("outputSchema", None)
    try:
        mended["inputSchema"] = usable_schema(tool.get("inputSchema"))
    except BadSchema as problem:
        mended["inputSchema"] = {"type": "object", UNUSABLE: str(problem)}
    return mended
