"""Mentions of resources in a prompt: `@SERVER:URI`."""

import re
from collections.abc import Collection

from kimi_tui.base.content_parts import UserInput, text_of

_MENTION = re.compile(r"(?:^|(?<=[\s(\[{\"'`,;]))@([^\s:@]+):([a-zA-Z][\w+.-]*:[^\s\"'`]+)")


def find_mentions(user_input: UserInput, servers: Collection[str]) -> tuple[tuple[str, str], ...]:
    """Return the distinct servers and URIs that `user_input` mentions, in order, limited to `servers`."""
    mentions = (
        (match[1], match[2].rstrip(".,;!?)]}"))
        for match in _MENTION.finditer(text_of(user_input))
        if match[1] in servers
    )
    return tuple(dict.fromkeys(mentions))
