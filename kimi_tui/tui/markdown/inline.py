"""Inline Markdown: the tokens within a paragraph as inked spans."""

import re
from typing import TYPE_CHECKING

from kimi_tui.tui.markdown.line import PLAIN, Ink, Span
from kimi_tui.tui.markdown.parser import addresses, safe_link
from kimi_tui.tui.markdown.wrap import joins_without_space

if TYPE_CHECKING:
    from markdown_it.token import Token

_ROLES = {"strong_open": "strong", "em_open": "em", "s_open": "strike"}
_CLOSERS = {"strong_close", "em_close", "s_close", "link_close"}
_PATH = re.compile(
    r"(?:(?:[\w.@~-]*/)+[\w.@-]+"
    r"|[\w.@-]+\.(?:cfg|cpp|css|go|html|ini|java|js|json|jsx|lock|md|php|py|rb|rs|sh|sql|toml|ts|tsx|txt|ya?ml)"
    r")(?::\d+)*"
)
"""What stands in a code span and is taken for a file: a path, or a name that ends as files do."""
_LOOKS_LIKE_ADDRESS = re.compile(r"(?:[a-z]+://)?(?:[\w-]+\.)+[a-z]{2,}(?:[/?#:]\S*)?", re.IGNORECASE)


def inline_spans(tokens: "list[Token]", base: Ink = PLAIN) -> list[list[Span]]:
    """The spans of inline `tokens`, one list for each line that hard breaks make."""
    return _Inline(base).read(tokens)


class _Inline:
    """Reads inline tokens; a stack of inks follows what is open."""

    def __init__(self, base: Ink) -> None:
        self._stack = [base]
        self._lines: list[list[Span]] = [[]]
        self._link_start: tuple[int, int] | None = None

    def read(self, tokens: "list[Token]") -> list[list[Span]]:
        for index, token in enumerate(tokens):
            if token.type == "softbreak":
                self._soft_break(tokens, index)
            else:
                self._read_one(token)
        return self._lines

    def _read_one(self, token: "Token") -> None:
        style = self._stack[-1]
        kind = token.type
        if kind == "text" or kind == "text_special":
            self._text(token.content, style)
        elif kind == "code_inline":
            self._code(token.content, style)
        elif kind in _ROLES:
            self._stack.append(style.plus(_ROLES[kind]))
        elif kind == "link_open":
            address = safe_link(str(token.attrs.get("href", "")))
            self._link_start = (len(self._lines) - 1, len(self._lines[-1]))
            self._stack.append(Ink((*style.roles, "link"), address))
        elif kind in _CLOSERS:
            if kind == "link_close":
                self._show_hidden_address(style.link)
            if len(self._stack) > 1:
                self._stack.pop()
        elif kind == "image":
            self._image(token, style)
        elif kind == "hardbreak":
            self._lines.append([])
        elif token.content:
            self._add(token.content, style.plus("dim"))

    def _add(self, text: str, style: Ink) -> None:
        if text:
            self._lines[-1].append((text.replace("\n", " "), style))

    def _text(self, text: str, style: Ink) -> None:
        if style.link:
            self._add(text, style)
            return
        position = 0
        for start, end in addresses(text):
            self._add(text[position:start], style)
            self._add(text[start:end], Ink((*style.roles, "link"), safe_link(text[start:end])))
            position = end
        self._add(text[position:], style)

    def _code(self, text: str, style: Ink) -> None:
        link = style.link or (text if _PATH.fullmatch(text) else "")
        self._add(text, Ink((*style.roles, "code"), link))

    def _image(self, token: "Token", style: Ink) -> None:
        source = safe_link(str(token.attrs.get("src", "")))
        self._add(f"▣ {token.content or 'image'}", Ink((*style.roles, "link"), source))

    def _soft_break(self, tokens: "list[Token]", index: int) -> None:
        before = next((text for text, _ in reversed(self._lines[-1]) if text), "")
        after = next((token.content for token in tokens[index + 1 :] if token.content), "")
        if not joins_without_space(before, after):
            self._add(" ", self._stack[-1])

    def _show_hidden_address(self, address: str) -> None:
        # A label that looks like another address than its own is a trap: the truth stands beside it.
        if self._link_start is None:
            return
        line, start = self._link_start
        label = "".join(text for spans in self._lines[line:] for text, _ in spans[start:]).strip()
        self._link_start = None
        if address and _LOOKS_LIKE_ADDRESS.fullmatch(label) and _bare(label) != _bare(address):
            self._add(f" ({address})", self._stack[0].plus("dim"))


def _bare(address: str) -> str:
    return re.sub(r"^[a-z]+:(//)?(www\.)?", "", address.lower()).rstrip("/")
