"""Names of called tools as servers take them back, whatever the model wrote."""

import re

from kimi_tui.base.message import ToolCall

_FOREIGN = re.compile(r"[^a-zA-Z0-9_-]")
_LONGEST = 64
_NAMELESS = "nameless"


def called_name(call: ToolCall) -> str:
    """The name of the tool that `call` names; made plain where it is one that no tool could have.

    Models make up names such as `functions.Bash`, and servers then refuse the whole conversation over them.
    """
    return _FOREIGN.sub("_", call.function.name)[:_LONGEST] or _NAMELESS
