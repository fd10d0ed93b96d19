"""Inline Markdown: converts the tokens of a paragraph to styled spans."""

import re
from typing import TYPE_CHECKING

from kimi_tui.tui.markdown.parser import find_addresses, safe_link
from kimi_tui.tui.markdown.styled_line import PLAIN, Span, TextStyle
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
"""Matches code spans that become file links: a path, or a name with a known file extension."""
_LOOKS_LIKE_ADDRESS = re.compile(r"(?:[a-z]+://)?(?:[\w-]+\.)+[a-z]{2,}(?:[/?#:]\S*)?", re.IGNORECASE)


def inline_spans(tokens: "list[Token]", base: TextStyle = PLAIN) -> list[list[Span]]:
    """Return the spans of inline `tokens`, one list per line; hard breaks separate lines."""
    return _InlineRenderer(base).render(tokens)


class _InlineRenderer:
    """Renders inline tokens, with a stack of the styles that are open."""

    def __init__(self, base: TextStyle) -> None:
        self._stack = [base]
        self._lines: list[list[Span]] = [[]]
        self._link_start: tuple[int, int] | None = None

    def render(self, tokens: "list[Token]") -> list[list[Span]]:
        for index, token in enumerate(tokens):
            if token.type == "softbreak":
                self._add_soft_break(tokens, index)
            else:
                self._render_token(token)
        return self._lines

    def _render_token(self, token: "Token") -> None:
        style = self._stack[-1]
        kind = token.type
        if kind == "text" or kind == "text_special":
            self._add_text(token.content, style)
        elif kind == "code_inline":
            self._add_code(token.content, style)
        elif kind in _ROLES:
            self._stack.append(style.with_role(_ROLES[kind]))
        elif kind == "link_open":
            address = safe_link(str(token.attrs.get("href", "")))
            self._link_start = (len(self._lines) - 1, len(self._lines[-1]))
            self._stack.append(TextStyle((*style.roles, "link"), address))
        elif kind in _CLOSERS:
            if kind == "link_close":
                self._show_hidden_address(style.link)
            if len(self._stack) > 1:
                self._stack.pop()
        elif kind == "image":
            self._add_image(token, style)
        elif kind == "hardbreak":
            self._lines.append([])
        elif token.content:
            self._add_span(token.content, style.with_role("dim"))

    def _add_span(self, text: str, style: TextStyle) -> None:
        if text:
            self._lines[-1].append((text.replace("\n", " "), style))

    def _add_text(self, text: str, style: TextStyle) -> None:
        if style.link:
            self._add_span(text, style)
            return
        position = 0
        for start, end in find_addresses(text):
            self._add_span(text[position:start], style)
            self._add_span(text[start:end], TextStyle((*style.roles, "link"), safe_link(text[start:end])))
            position = end
        self._add_span(text[position:], style)

    def _add_code(self, text: str, style: TextStyle) -> None:
        link = style.link or (text if _PATH.fullmatch(text) else "")
        self._add_span(text, TextStyle((*style.roles, "code"), link))

    def _add_image(self, token: "Token", style: TextStyle) -> None:
        source = safe_link(str(token.attrs.get("src", "")))
        self._add_span(f"▣ {token.content or 'image'}", TextStyle((*style.roles, "link"), source))

    def _add_soft_break(self, tokens: "list[Token]", index: int) -> None:
        before = next((text for text, _ in reversed(self._lines[-1]) if text), "")
        after = next((token.content for token in tokens[index + 1 :] if token.content), "")
        if not joins_without_space(before, after):
            self._add_span(" ", self._stack[-1])

    def _show_hidden_address(self, address: str) -> None:
        # Phishing protection: if the label looks like a different address, show the real one after it.
        if self._link_start is None:
            return
        line, first_span = self._link_start
        label = "".join(text for spans in self._lines[line:] for text, _ in spans[first_span:]).strip()
        self._link_start = None
        if (
            address
            and _LOOKS_LIKE_ADDRESS.fullmatch(label)
            and _normalize_address(label) != _normalize_address(address)
        ):
            self._add_span(f" ({address})", self._stack[0].with_role("dim"))


def _normalize_address(address: str) -> str:
    return re.sub(r"^[a-z]+:(//)?(www\.)?", "", address.lower()).rstrip("/")
