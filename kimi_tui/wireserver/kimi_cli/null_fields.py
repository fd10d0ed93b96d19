"""Optional fields of events and requests. Kimi CLI sends null for a missing value.

Some of its clients read the fields without checking that they exist.
"""

from typing import Any

from kimi_tui.wireserver.event_filter import JsonMessage

_OPTIONAL_FIELDS: dict[str, tuple[str, ...]] = {
    "ToolCall": ("extras",),
    "ToolCallPart": ("arguments_part",),
    "StatusUpdate": (
        "context_usage",
        "context_tokens",
        "max_context_tokens",
        "token_usage",
        "message_id",
        "plan_mode",
        "mcp_status",
    ),
    "ApprovalRequest": (
        "source_kind",
        "source_id",
        "agent_id",
        "subagent_type",
        "source_description",
    ),
    "SubagentEvent": ("parent_tool_call_id", "agent_id", "subagent_type"),
}


_QUESTION_FIELDS = {"body": "", "other_label": "", "other_description": ""}


def with_nulls(message: JsonMessage) -> JsonMessage:
    """Return `message` with null for each of its optional fields that is missing."""
    kind, payload = message["type"], dict(message["payload"])
    for name in _OPTIONAL_FIELDS.get(kind, ()):
        payload.setdefault(name, None)
    match kind:
        case "ToolResult" if isinstance(value := payload.get("return_value"), dict):
            payload["return_value"] = {**value, "extras": value.get("extras")}
        case "ContentPart" if payload.get("type") == "think":
            payload.setdefault("encrypted", None)
            payload.pop("calls_before", None)
        case "ContentPart":
            payload = _with_media_id(payload)
        case "TurnBegin" | "SteerInput" if isinstance(parts := payload.get("user_input"), list):
            payload["user_input"] = [_with_media_id(part) for part in parts]
        case "QuestionRequest":
            payload["questions"] = [{**_QUESTION_FIELDS, **each} for each in payload["questions"]]
        case "ApprovalRequest":
            payload = _with_foreground_turn(payload)
        case "SubagentEvent" if _is_message(payload.get("event")):
            payload["event"] = with_nulls(payload["event"])
    return {"type": kind, "payload": payload}


def _with_media_id(part: dict[str, Any]) -> dict[str, Any]:
    kind = str(part.get("type"))
    media = part.get(kind)
    return {**part, kind: {**media, "id": media.get("id")}} if isinstance(media, dict) else part


def _with_foreground_turn(payload: dict[str, Any]) -> dict[str, Any]:
    """Return an approval request with the source that Kimi CLI names for requests of the main turn."""
    if payload["source_kind"] is not None or payload["agent_id"] is not None:
        return payload
    return {**payload, "source_kind": "foreground_turn", "source_id": payload["id"]}


def _is_message(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("payload"), dict)
