"""Markdown parser: CommonMark with tables, strikethrough and bare URLs as links."""

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
    """Return the tokens of `source`: block tokens in a flat list, inline tokens as children of `inline`."""
    return _parser().parse(source)


def safe_link(address: str) -> str:
    """Return `address` if it is a web, mail or file URL, or a path. Otherwise, return an empty string."""
    if not address.isprintable() or " " in address:
        return ""
    if _SCHEME.match(address) and not _SAFE_SCHEME.match(address):
        return ""
    return address


def find_addresses(text: str) -> list[tuple[int, int]]:
    """Return the (start, end) ranges of bare URLs in `text`, without trailing punctuation."""
    spans: list[tuple[int, int]] = []
    if "://" not in text:
        return spans
    for match in _ADDRESS.finditer(text):
        address = match.group().rstrip(".,;:!?*_~")
        while address.endswith(")") and address.count("(") < address.count(")"):
            address = address[:-1].rstrip(".,;:!?*_~")
        spans.append((match.start(), match.start() + len(address)))
    return spans


def warm_up() -> None:
    """Load the parser, which takes about 10 ms. Thread-safe."""
    _parser()


@cache
def _parser() -> "MarkdownIt":
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark", {"maxNesting": 100}).enable(["table", "strikethrough"])
