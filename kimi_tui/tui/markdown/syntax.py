"""Syntax highlighting with Pygments: maps tokens to roles."""

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from kimi_tui.tui.markdown.styled_line import PLAIN, Span, Spans, TextStyle, text_style

if TYPE_CHECKING:
    from pygments.lexer import Lexer

_ROLES = {
    "Keyword": "syntax-keyword",
    "Keyword.Constant": "syntax-number",
    "Keyword.Type": "syntax-type",
    "Name.Builtin": "syntax-function",
    "Name.Builtin.Pseudo": "syntax-number",
    "Name.Class": "syntax-type",
    "Name.Constant": "syntax-number",
    "Name.Decorator": "syntax-type",
    "Name.Exception": "syntax-type",
    "Name.Function": "syntax-function",
    "Name.Namespace": "syntax-type",
    "Name.Tag": "syntax-keyword",
    "Name.Attribute": "syntax-function",
    "Name.Variable": "syntax-type",
    "Literal.Number": "syntax-number",
    "Literal.String": "syntax-string",
    "Literal.String.Doc": "syntax-comment",
    "Literal.Date": "syntax-number",
    "Comment": "syntax-comment",
    "Operator.Word": "syntax-keyword",
    "Generic.Deleted": "diff-removed",
    "Generic.Inserted": "diff-added",
    "Generic.Heading": "strong",
    "Generic.Subheading": "syntax-type",
    "Generic.Prompt": "syntax-comment",
    "Generic.Output": "dim",
    "Generic.Strong": "strong",
    "Generic.Emph": "em",
}
_MAX_LINE_CHARS = 2_000
"""Maximum line length in characters. Code with longer lines is likely data, so it isn't highlighted."""


def highlight(code: str, language: str) -> list[Spans]:
    """Return `code` highlighted, one tuple of spans per line.

    Code in an unknown language or with very long lines has no roles.
    """
    lexer = _find_lexer(language.lower()) if language else None
    lines = code.split("\n")
    if lexer is None or max(map(len, lines)) > _MAX_LINE_CHARS:
        return [((line, PLAIN),) if line else () for line in lines]
    highlighted: list[Spans] = []
    row: list[Span] = []
    for _, kind, value in lexer.get_tokens_unprocessed(code + "\n"):
        style = _token_style(kind)
        for index, piece in enumerate(value.split("\n")):
            if index:
                highlighted.append(tuple(row))
                row = []
            if row and row[-1][1] is style and not piece.isascii():  # may combine with the character before
                row[-1] = (row[-1][0] + piece, style)
            elif piece:
                row.append((piece, style))
    if row:
        highlighted.append(tuple(row))
    return highlighted[: len(lines)] + [()] * (len(lines) - len(highlighted))


def warm_up() -> None:
    """Load the lexers, which takes about 10 ms. Thread-safe."""
    highlight("pass", "python")


class IncrementalHighlighter:
    """Highlights code that grows at its end. Only the last lines are highlighted again.

    Highlighting restarts a few lines above the new text. A longer string or comment may therefore be
    highlighted as code until `highlight` sees the whole text.
    """

    _OVERLAP_LINES = 12
    """Lines above the new text that are highlighted again."""

    def __init__(self) -> None:
        self._language = ""
        self._code = ""
        self._lines: list[Spans] = []

    def highlight(self, code: str, language: str) -> list[Spans]:
        """Return `code` highlighted, one tuple of spans per line."""
        kept_count = len(self._lines) - self._OVERLAP_LINES
        if kept_count < 1 or language != self._language or not code.startswith(self._code):
            kept_count = 0
        start = max(0, kept_count - self._OVERLAP_LINES)
        lines = code.split("\n")
        highlighted = highlight("\n".join(lines[start:]), language)
        self._lines = self._lines[:kept_count] + highlighted[kept_count - start :]
        self._language, self._code = language, code
        return self._lines


@lru_cache(maxsize=256)
def language_of(path: str) -> str:
    """Return the language of a file, derived from its name. Empty if unknown."""
    from pygments.lexers import find_lexer_class_for_filename

    lexer = find_lexer_class_for_filename(path.rpartition("/")[2])
    return lexer.aliases[0] if lexer is not None and lexer.aliases else ""


@lru_cache(maxsize=64)
def _find_lexer(language: str) -> "Lexer | None":
    from pygments.lexers import get_lexer_by_name
    from pygments.util import ClassNotFound

    try:
        return get_lexer_by_name(language)
    except ClassNotFound:
        return None


@lru_cache(maxsize=512)
def _token_style(kind: Any) -> TextStyle:
    # A token type without a role uses the role of its nearest ancestor.
    while kind is not None and kind.parent is not None:
        role = _ROLES.get(str(kind).removeprefix("Token."))
        if role is not None:
            return text_style(role)
        kind = kind.parent
    return PLAIN
