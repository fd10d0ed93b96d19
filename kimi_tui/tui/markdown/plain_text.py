"""Markdown as plain text, for one-line summaries."""

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from kimi_tui.tui.markdown.parser import parse

if TYPE_CHECKING:
    from markdown_it.token import Token

_HEADING = re.compile(r"(?<=\s)#{2,6}\s+")
"""Heading markers in the middle of joined lines."""
_UNCLOSED_MARK = re.compile(r"\*{2,}|`+")
"""Emphasis and code marks whose closing mark was cut off."""
_UNDERSCORE_PLACEHOLDER = "\ue000"
"""Stands for underscores during parsing, so that names such as `__init__` aren't read as emphasis."""
_MARKUP = re.compile(r"[*`#~\[\]<>!-]|\d\.")


@lru_cache(maxsize=1024)
def plain_text(source: str) -> str:
    """Return `source`, one line of possibly truncated Markdown, without markup."""
    if _MARKUP.search(source) is None:
        return source
    tokens = parse(_HEADING.sub("", source.replace("_", _UNDERSCORE_PLACEHOLDER)))
    text = "".join(_token_text(token) for block in tokens for token in block.children or ())
    return text.strip().replace(_UNDERSCORE_PLACEHOLDER, "_") or source


def _token_text(token: "Token") -> str:
    match token.type:
        case "text":
            return _UNCLOSED_MARK.sub("", token.content)
        case "softbreak" | "hardbreak":
            return " "
        case _:
            return token.content
