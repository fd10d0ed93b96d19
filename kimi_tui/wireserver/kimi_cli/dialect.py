"""Translation of messages for clients of Kimi CLI.

These clients read fields without checking that they exist, and Kimi CLI's test suite compares texts.
"""

from pathlib import PurePath
from typing import Any

from kimi_tui.wire.session import SessionInfo
from kimi_tui.wireserver.event_filter import JsonMessage
from kimi_tui.wireserver.jsonrpc import ErrorCode
from kimi_tui.wireserver.kimi_cli.mcp_loading import McpLoading
from kimi_tui.wireserver.kimi_cli.null_fields import with_nulls
from kimi_tui.wireserver.kimi_cli.texts import (
    error_text,
    mcp_result_value,
    request_description,
    result_value,
)

_FLOW_PREFIX = "/flow:"
_COMMAND_TEXTS = {
    "clear": "The context has been cleared.",
    "reset": "The context has been cleared.",
    "compact": "The context has been compacted.",
    "yolo": "",
}
"""Texts that Kimi CLI sends after commands that succeeded."""


class KimiCliDialect:
    """Translates one connection's messages. Keeps data that later messages need."""

    def __init__(self) -> None:
        self._tools: dict[str, str] = {}
        """Names of the tools by call."""
        self._work_dir = ""
        self._model = ""
        """Name of the model on its server."""
        self._plan_mode = False
        self._mcp = McpLoading()
        self._commands: set[str] = set(_COMMAND_TEXTS)
        """Names of the commands that aren't prompts."""
        self._command = ""
        """Name of the running slash command; empty if none runs or the command is a prompt."""
        self._texts: list[str] = []
        self._status: dict[str, Any] | None = None
        self._in_turn = False
        self._in_flow = False
        self._in_node = False

    def update_info(self, info: SessionInfo) -> None:
        """Store the description of a session that was opened or has changed."""
        self._work_dir = info.work_dir
        self._model = next((it.model for it in info.model_details if it.name == info.model), "")
        self._plan_mode = info.plan_mode
        for command in info.slash_commands:
            if not command.takes_turn:
                self._commands |= {command.name, *command.aliases}

    def error_text(self, code: ErrorCode, message: str, method: str) -> str:
        """Return the text of an error for a call of `method`."""
        return error_text(code, message, method, model=self._model)

    def is_left_out_of_replay(self, message: JsonMessage) -> bool:
        """Return whether Kimi CLI doesn't replay a message: permission requests and their answers."""
        return message["type"] in ("ApprovalRequest", "ApprovalResponse")

    def begin_command(self, line: str) -> list[JsonMessage]:
        """Return the messages sent before the command `line` (with its slash) runs outside of a turn."""
        return self.translate(_message("TurnBegin", user_input=line))

    def add_text(self, text: str) -> None:
        """Add a text to the output of the running command."""
        self._texts.append(text)

    def end_command(self) -> list[JsonMessage]:
        """Return the messages sent after the command of `begin_command`."""
        return self.translate(_message("TurnEnd"))

    def translate(self, message: JsonMessage) -> list[JsonMessage]:
        """Return the messages to send for a message of the engine."""
        kind, payload = message["type"], dict(message["payload"])
        if kind in ("MCPLoadingBegin", "MCPLoadingEnd"):
            return []
        if kind == "StatusUpdate" and payload.get("mcp_status") is not None:
            return [*map(with_nulls, self._mcp.update(payload, in_turn=self._in_turn))]
        if kind == "StepBegin" and self._mcp.hold_step(message):
            return []
        return [*map(with_nulls, self._mcp.release_step()), *self._translate(kind, payload)]

    def _translate(self, kind: str, payload: dict[str, Any]) -> list[JsonMessage]:
        match kind:
            case "TurnBegin":
                self._begin_turn(payload.get("user_input"))
                announced = self._mcp.announce()
                return [*map(with_nulls, ({"type": kind, "payload": payload}, *announced))]
            case "TurnEnd":
                self._in_turn = False
                return [*map(with_nulls, self._end_turn()), {"type": kind, "payload": payload}]
            case "SteerInput" if self._in_flow:
                ended = [_message("TurnEnd")] if self._in_node else []
                self._in_node = True
                return [*ended, _message("TurnBegin", **payload)]
            case "Notification" if self._command:
                self._texts.append(f"{payload['title']} {payload['body']}".strip())
                return []
            case "StatusUpdate" if self._command and payload.get("context_tokens") is not None:
                self._status = payload
                return []
            case "StatusUpdate":
                payload = self._step_status(payload)
            case "ToolCall":
                function = {"arguments": None, **payload["function"]}
                self._tools[payload["id"]] = function["name"]
                payload["function"] = function
            case "ApprovalRequest":
                payload = self._request(payload)
            case "ToolResult" if isinstance(value := payload.get("return_value"), dict):
                payload["return_value"] = self._result_value(payload["tool_call_id"], value)
        return [with_nulls({"type": kind, "payload": payload})]

    def _result_value(self, call_id: str, value: dict[str, Any]) -> dict[str, Any]:
        tool = self._tools.get(call_id, "")
        return mcp_result_value(value) if tool in self._mcp.tools else result_value(tool, value)

    def _begin_turn(self, user_input: Any) -> None:
        self._in_turn = True
        text = user_input if isinstance(user_input, str) else ""
        self._in_flow, self._in_node = text.startswith(_FLOW_PREFIX), False
        name = text.removeprefix("/").split(maxsplit=1)[0] if text.startswith("/") and text != "/" else ""
        self._command = name if name in self._commands else ""
        self._texts, self._status = [], None

    def _end_turn(self) -> list[JsonMessage]:
        ending: list[JsonMessage] = []
        if self._command:
            default = _COMMAND_TEXTS.get(self._command)
            texts = self._texts or ([default] if default else [])
            ending += [_message("ContentPart", type="text", text=text) for text in texts]
            if self._status is not None:
                ending.append(_message("StatusUpdate", **self._status))
        if self._in_node:
            ending.append(_message("TurnEnd"))
        self._command, self._in_flow, self._in_node = "", False, False
        return ending

    def _step_status(self, payload: dict[str, Any]) -> dict[str, Any]:
        """Return a status with the context size from the provider, because Kimi CLI doesn't estimate it."""
        if payload.get("context_tokens") is None:
            return payload
        usage, window = payload.get("token_usage"), payload.get("max_context_tokens")
        if not isinstance(usage, dict):
            names = ("context_tokens", "context_usage", "max_context_tokens")
            return {**payload, **dict.fromkeys(names), "plan_mode": self._plan_mode}
        tokens = sum(
            usage.get(name, 0) for name in ("input_other", "input_cache_read", "input_cache_creation")
        )
        share = tokens / window if window else None
        return {**payload, "context_tokens": tokens, "context_usage": share, "plan_mode": self._plan_mode}

    def _request(self, payload: dict[str, Any]) -> dict[str, Any]:
        display = [self._with_absolute_path(block) for block in payload.get("display", [])]
        sender, description = str(payload.get("sender")), str(payload.get("description"))
        description = request_description(sender, description, display, mcp_tools=self._mcp.tools)
        if sender in self._mcp.tools:
            payload["action"], display = f"mcp:{sender}", []
        return {**payload, "display": display, "description": description}

    def _with_absolute_path(self, block: dict[str, Any]) -> dict[str, Any]:
        if block.get("type") != "diff":
            return block
        return {**block, "path": str(PurePath(self._work_dir, str(block["path"])))}


def _message(kind: str, **payload: Any) -> JsonMessage:
    return {"type": kind, "payload": payload}
