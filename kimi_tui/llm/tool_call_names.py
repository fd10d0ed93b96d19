"""Conversion of tool names that a model made up to names that servers accept."""

import re

from kimi_tui.base.message import ToolCall

_INVALID_CHARS = re.compile(r"[^a-zA-Z0-9_-]")
_MAX_LENGTH = 64
_NAMELESS = "nameless"


def valid_tool_name(call: ToolCall) -> str:
    """Return the tool name of `call`, with invalid characters replaced.

    Models make up names such as `functions.Bash`, and servers then reject the whole conversation.
    """
    return _INVALID_CHARS.sub("_", call.function.name)[:_MAX_LENGTH] or _NAMELESS
