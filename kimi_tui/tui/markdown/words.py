"""The words of Markdown, without its marks: what fits into a line that is not laid out."""

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from kimi_tui.tui.markdown.parser import parse

if TYPE_CHECKING:
    from markdown_it.token import Token

_HEADING = re.compile(r"(?<=\s)#{2,6}\s+")
"""What a heading begins with, in the middle of lines that were joined."""
_LEFT_OPEN = re.compile(r"\*{2,}|`+")
"""Marks whose other half was cut off."""
_UNDERSCORE = "\ue000"
"""Stands for one while Markdown is read: in a line of a program's talk it is part of a name, `__init__`."""
_MARKED = re.compile(r"[*`#~\[\]<>!-]|\d\.")


@lru_cache(maxsize=1024)
def words_of(source: str) -> str:
    """`source`, one line of Markdown that may have been cut, as it reads."""
    if _MARKED.search(source) is None:
        return source
    tokens = parse(_HEADING.sub("", source.replace("_", _UNDERSCORE)))
    words = "".join(_read(token) for block in tokens for token in block.children or ())
    return words.strip().replace(_UNDERSCORE, "_") or source


def _read(token: "Token") -> str:
    match token.type:
        case "text":
            return _LEFT_OPEN.sub("", token.content)
        case "softbreak" | "hardbreak":
            return " "
        case _:
            return token.content
