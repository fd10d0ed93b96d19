"""Conversion of tool call arguments to the valid JSON object that servers require."""

import json
from typing import Any

from kimi_tui.base.message import ToolCall
from kimi_tui.llm.lenient_json import loads_lenient

_MALFORMED = "malformed_arguments"


def arguments_as_object(call: ToolCall) -> dict[str, Any]:
    """Return the arguments of `call`. If they aren't a JSON object, their text is in `malformed_arguments`.

    Some servers render a template from the arguments and reject the whole conversation if one is malformed.
    """
    text = call.function.arguments or ""
    if not text.strip():
        return {}
    try:
        arguments = loads_lenient(text)
    except ValueError:
        return {_MALFORMED: text}
    return arguments if isinstance(arguments, dict) else {_MALFORMED: text}


def arguments_as_text(call: ToolCall) -> str:
    """Return the arguments of `call` as JSON text, unchanged if the model wrote a JSON object."""
    arguments = arguments_as_object(call)
    if not arguments or _MALFORMED in arguments:
        return json.dumps(arguments, ensure_ascii=False)
    return call.function.arguments or ""
