"""Resources that a prompt mentions: `@SERVER:URI`."""

import re
from collections.abc import Collection

from kimi_tui.base.content import UserInput, text_of

_MENTION = re.compile(r"(?:^|(?<=[\s(\[{\"'`,;]))@([^\s:@]+):([a-zA-Z][\w+.-]*:[^\s\"'`]+)")


def mentioned(user_input: UserInput, servers: Collection[str]) -> tuple[tuple[str, str], ...]:
    """The servers and URIs that `user_input` mentions, each once, in order. Only of `servers`."""
    found = (
        (match[1], match[2].rstrip(".,;!?)]}"))
        for match in _MENTION.finditer(text_of(user_input))
        if match[1] in servers
    )
    return tuple(dict.fromkeys(found))
