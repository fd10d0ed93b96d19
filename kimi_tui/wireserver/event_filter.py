"""Filter for messages: clients get Wire 1.10, and kimi-tui's extensions only on request."""

from typing import Any, get_args

from kimi_tui.wire.requests import Request

REQUEST_TYPES = {kind.__name__ for kind in get_args(Request)}

_EXTENSION_TYPES = {
    "ToolOutput", "RequestClosed", "CheckpointCreated", "Reverted", "TodoUpdate", "CostUpdate", "SessionInfo",
    "ReplayBegin", "ReplayEnd", "SnapshotProgress", "RevertPlan", "Timeline", "TimelineUpdate",
    "BranchContent", "Comparison", "PatchWritten", "SessionForked", "TasksUpdate", "TaskText",
    "ShellCommandBegin", "ShellCommandEnd", "SessionList", "SessionPreview", "MessageMatches",
    "ModelSources", "ModelConnected", "SettingsList", "SettingChanged",
    "PermissionList", "PermissionChanged",
    "ArgumentChoices", "AgentList", "WindowFilling", "UsageReport", "BisectProgress", "BisectResult",
    "CheckResult",
    "LineReason", "CommentList", "ChangeReview", "PlannedFileContent", "AttemptList", "AttemptChanges",
}  # fmt: skip
_EXTENSION_FIELDS = {
    "TurnBegin": ("prompt_id",),
    "TurnEnd": ("outcome", "steps", "failure", "files"),
    "StatusUpdate": ("session_usage", "cache_miss"),
    "CompactionEnd": ("tokens_before", "tokens_after"),
    "ApprovalRequest": ("rule", "danger", "reason", "effects", "proposal"),
    "ApprovalResponse": ("edited", "rule"),
    "ToolCallPart": ("tool_call_id",),
}

JsonMessage = dict[str, Any]
"""A Wire message as JSON: `{"type", "payload"}`."""


_EFFECT_FIELDS = ("rule", "danger", "reason", "effects")
"""Fields of an ApprovalRequest for clients with `supports_effects`."""


def filter_for_client(message: JsonMessage, *, keeps_effects: bool = False) -> JsonMessage | None:
    """Return `message` without kimi-tui's extensions to Wire 1.10. None: the whole message is an extension.

    With `keeps_effects`, permission requests keep their rule, danger, reason and effects.
    """
    kind, payload = message["type"], dict(message["payload"])
    if kind in _EXTENSION_TYPES:
        return None
    for name in _EXTENSION_FIELDS.get(kind, ()):
        if not (keeps_effects and kind == "ApprovalRequest" and name in _EFFECT_FIELDS):
            payload.pop(name, None)
    match kind:
        case "StatusUpdate" if not payload:
            return None
        case "SubagentEvent" if isinstance(payload.get("event"), dict) and "payload" in payload["event"]:
            nested = filter_for_client(payload["event"], keeps_effects=keeps_effects)
            if nested is None:
                return None
            payload["event"] = nested
        case "StatusUpdate" if isinstance(payload.get("mcp_status"), dict):
            payload["mcp_status"] = _plain_mcp_status(payload["mcp_status"])
        case "ApprovalRequest":
            payload = _with_plain_display(payload)
        case "ToolResult" if isinstance(payload.get("return_value"), dict):
            payload["return_value"] = _with_plain_display(payload["return_value"])
    return {"type": kind, "payload": payload}


def _plain_mcp_status(status: dict[str, Any]) -> dict[str, Any]:
    servers = [{name: it[name] for name in ("name", "status", "tools")} for it in status["servers"]]
    return {**status, "servers": servers}


def _with_plain_display(value: dict[str, Any]) -> dict[str, Any]:
    blocks = value.get("display")
    if not isinstance(blocks, list):
        return value
    return {**value, "display": [_plain_block(block) for block in blocks]}


def _plain_block(block: Any) -> Any:
    if isinstance(block, dict) and block.get("type") == "shell":
        return {name: value for name, value in block.items() if name != "danger"}
    return block
