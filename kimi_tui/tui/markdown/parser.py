"""The Markdown parser: CommonMark with tables, strike-through and bare addresses as links."""

import re
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

_ADDRESS = re.compile(r"https?://[^\s<>\"'`，。；：！？（）【】《》「」]+")
_SAFE_SCHEME = re.compile(r"(?:https?|ftp|mailto|file):", re.IGNORECASE)
_SCHEME = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:")


def parse(source: str) -> "list[Token]":
    """The tokens of `source`, block tokens flat, inline tokens as children of `inline`."""
    return _parser().parse(source)


def safe_link(address: str) -> str:
    """`address` when a click may lead there: a web, mail or file address, or a path. Otherwise empty."""
    if not address.isprintable() or " " in address:
        return ""
    if _SCHEME.match(address) and not _SAFE_SCHEME.match(address):
        return ""
    return address


def addresses(text: str) -> list[tuple[int, int]]:
    """Where web addresses stand bare in `text`, without the stops of the sentence around them."""
    found: list[tuple[int, int]] = []
    if "://" not in text:
        return found
    for match in _ADDRESS.finditer(text):
        address = match.group().rstrip(".,;:!?*_~")
        while address.endswith(")") and address.count("(") < address.count(")"):
            address = address[:-1].rstrip(".,;:!?*_~")
        found.append((match.start(), match.start() + len(address)))
    return found


def warm_up() -> None:
    """Load the parser, which takes some hundredths of a second; may run in a thread of its own."""
    _parser()


@cache
def _parser() -> "MarkdownIt":
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark", {"maxNesting": 100}).enable(["table", "strikethrough"])
