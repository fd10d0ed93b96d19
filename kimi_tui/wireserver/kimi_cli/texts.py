"""Texts that clients of Kimi CLI compare: descriptions of requests, outcomes of tool calls, errors."""

import json
import re
from collections.abc import Container
from typing import Any

from kimi_tui.wireserver.jsonrpc import ErrorCode

_ERRORS = {
    ErrorCode.BAD_JSON: "Invalid JSON format",
    ErrorCode.BAD_REQUEST: "Invalid request",
    ErrorCode.UNKNOWN_METHOD: "Unexpected method received: {method}",
    ErrorCode.BAD_PARAMS: "Invalid parameters for method `{method}`",
    ErrorCode.MODEL_NOT_SET: "LLM is not set",
}
_NO_TURN, _TURN = "No agent turn is in progress", "An agent turn is already in progress"
_MISSING_TOOL = re.compile(r"There is no tool “(.+?)”\.")
_SCRIPT_LINE = re.compile(r"Script \d+, line (\d+): “(.*)” has no kind\.")
_MISSING_CAPABILITY = re.compile(r"add (\w+) to its capabilities")
_EXIT_CODE = re.compile(r"Exit code (\d+)\.")
_FILE_VERBS = {"WriteFile": "Write", "StrReplaceFile": "Edit"}
_DISMISSED = "User dismissed the question without answering."
_NO_QUESTIONS = (
    "The connected client does not support interactive questions. Do NOT call this tool again. "
    "Ask the user directly in your text response instead."
)
_REJECTED = (
    "The tool call is rejected by the user. "
    "Stop what you are doing and wait for the user to tell you how to proceed."
)


def error_text(code: ErrorCode, message: str, method: str, *, model: str) -> str:
    """Return the text of an error for a call of `method`. `model` is the name of the model on its server."""
    if code is ErrorCode.WRONG_STATE:
        return next((text for text in (_NO_TURN, _TURN) if message.startswith(text)), message)
    if (script := _SCRIPT_LINE.match(message)) is not None:
        return f"Invalid echo DSL at line {script[1]}: {script[2]!r}"
    if code is ErrorCode.MODEL_NOT_SUPPORTED and (missing := _MISSING_CAPABILITY.search(message)):
        return f"LLM model '{model}' does not support required capability: {missing[1]}."
    return _ERRORS[code].format(method=method) if code in _ERRORS else message


def request_description(
    sender: str, description: str, display: list[dict[str, Any]], *, mcp_tools: Container[str]
) -> str:
    """Return the description of a permission request of the tool `sender`."""
    if sender in mcp_tools:
        return f"Call MCP tool `{sender}`."
    block = display[0] if display else {}
    match block.get("type"):
        case "shell" if sender == "Shell":
            return f"Run command `{block['command']}`"
        case "diff" if sender in _FILE_VERBS:
            return f"{_FILE_VERBS[sender]} file `{block['path']}`"
        case _:
            return description


def result_value(tool: str, value: dict[str, Any]) -> dict[str, Any]:
    """Return the value of a tool's result."""
    message = str(value.get("message", ""))
    if (missing := _MISSING_TOOL.match(message)) is not None and missing[1] == "AskUserQuestion":
        return _failure(value, _NO_QUESTIONS, "Client unsupported")
    if missing is not None:
        return _failure(value, f"Tool `{missing[1]}` not found", f"Tool `{missing[1]}` not found")
    if isinstance(value.get("extras"), dict) and value["extras"].get("rejected"):
        return _failure(value, _REJECTED, "Rejected by user")
    match tool:
        case "Shell" if (exit_code := _EXIT_CODE.fullmatch(message)) is not None:
            return _command_result(value, int(exit_code[1]))
        case "SetTodoList" if not value.get("is_error"):
            text = "Todo list updated"
            blocks = [it for it in value["display"] if it.get("type") == "todo"]
            return {**value, "output": text, "message": text, "display": blocks}
        case "AskUserQuestion" if not value.get("is_error"):
            return _answer(value)
        case _:
            return value


def mcp_result_value(value: dict[str, Any]) -> dict[str, Any]:
    """Return the value of the result of an MCP server's tool."""
    output = value.get("output")
    parts = [{"type": "text", "text": output}] if isinstance(output, str) and output else output or []
    return {**value, "output": parts, "display": [] if not value.get("is_error") else value["display"]}


def _answer(value: dict[str, Any]) -> dict[str, Any]:
    if value.get("output"):
        brief = {"type": "brief", "text": "User answered"}
        return {**value, "message": "User has answered.", "display": [brief]}
    output = json.dumps({"answers": {}, "note": _DISMISSED})
    return {
        **value,
        "output": output,
        "message": _DISMISSED,
        "display": [{"type": "brief", "text": "User dismissed"}],
    }


def _command_result(value: dict[str, Any], exit_code: int) -> dict[str, Any]:
    if exit_code:
        brief = {"type": "brief", "text": f"Failed with exit code: {exit_code}"}
        return {**value, "message": f"Command failed with exit code: {exit_code}.", "display": [brief]}
    return {**value, "message": "Command executed successfully.", "display": []}


def _failure(value: dict[str, Any], message: str, brief: str) -> dict[str, Any]:
    display = [{"type": "brief", "text": brief}]
    return {**value, "is_error": True, "message": message, "display": display, "extras": None}
