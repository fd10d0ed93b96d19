"""Tool call arguments as servers take them back: a JSON object, whatever the model wrote."""

import json
from typing import Any

from kimi_tui.base.message import ToolCall
from kimi_tui.llm.json_text import parsed

_MALFORMED = "malformed_arguments"


def arguments_object(call: ToolCall) -> dict[str, Any]:
    """The arguments of `call`; text that is no JSON object is kept under a key that says so.

    Servers that render a template from the arguments refuse the whole conversation over one malformed call.
    """
    written = call.function.arguments or ""
    if not written.strip():
        return {}
    try:
        arguments = parsed(written)
    except ValueError:
        return {_MALFORMED: written}
    return arguments if isinstance(arguments, dict) else {_MALFORMED: written}


def arguments_text(call: ToolCall) -> str:
    """The arguments of `call` as JSON text: as the model wrote them where that is an object."""
    arguments = arguments_object(call)
    if not arguments or _MALFORMED in arguments:
        return json.dumps(arguments, ensure_ascii=False)
    return call.function.arguments or ""
