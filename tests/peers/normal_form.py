"""Normal form of a program's messages: what varies between two runs of the same program is replaced.

Also the shape of a value, in which texts and numbers are replaced by their types.
"""

import json
import uuid
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

_STREAMED = ("ContentPart", "ToolCall", "ToolCallPart")
_BOUNDARIES = ("StepBegin", "TurnBegin", "TurnEnd", "CompactionBegin")


def normalize(value: Any, home: Path) -> Any:
    """Return `value` with placeholders for ids, paths and versions."""
    match value:
        case dict():
            result = {name: normalize(it, home) for name, it in value.items()}
            if "name" in result and "version" in result:
                result["version"] = "<version>"
            return result
        case list():
            return [normalize(it, home) for it in value]
        case float():
            return round(value, 6)
        case str():
            text = value.replace(str(home), "<home>")
            return "<uuid>" if _is_uuid(text) else text
        case _:
            return value


def normal_messages(seen: Iterable[Mapping[str, Any]], home: Path) -> list[dict[str, Any]]:
    """Return the events and requests in `seen`, each step's in a fixed order."""
    messages = [
        {
            "method": it["method"],
            "type": it["params"]["type"],
            "payload": normalize(it["params"]["payload"], home),
        }
        for it in seen
        if it.get("method") in ("event", "request")
    ]
    ordered: list[dict[str, Any]] = []
    block: list[dict[str, Any]] = []
    for message in messages:
        if message["type"] in _BOUNDARIES:
            ordered += sorted(block, key=_rank)
            block = []
            ordered.append(message)
        else:
            block.append(message)
    return ordered + sorted(block, key=_rank)


def without_mcp_loading(result: Any) -> Any:
    """Return a scenario's result without the messages about connecting MCP servers."""
    match result:
        case {"messages": messages}:
            kept = [it for it in messages if not _is_mcp_loading(it)]
            return {**result, "messages": kept}
        case _:
            return result


def _is_mcp_loading(message: Mapping[str, Any]) -> bool:
    is_status = message["type"] == "StatusUpdate" and message["payload"].get("mcp_status") is not None
    return is_status or message["type"] in ("MCPLoadingBegin", "MCPLoadingEnd")


def shape(value: Any) -> Any:
    """Return the types in a value. Messages keep types and order; other lists are sets of shapes."""
    match value:
        case {"method": method, "type": kind, "payload": payload}:
            return {"method": method, "type": kind, "payload": shape(payload)}
        case dict():
            return {name: shape(it) for name, it in sorted(value.items())}
        case list() if any(isinstance(it, dict) and "method" in it for it in value):
            return [shape(it) for it in value]
        case list():
            return sorted({json.dumps(shape(it)) for it in value})
        case bool() | str() | None:
            return type(value).__name__
        case _:
            return "number"


def _rank(message: Mapping[str, Any]) -> int:
    if message["type"] in _STREAMED:
        return 0
    order = ("StatusUpdate", "request", "ApprovalResponse", "ToolResult")
    key = "request" if message["method"] == "request" else message["type"]
    return order.index(key) + 1 if key in order else len(order) + 1


def _is_uuid(text: str) -> bool:
    try:
        uuid.UUID(text)
    except ValueError:
        return False
    return True
