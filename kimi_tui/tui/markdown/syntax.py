"""Syntax colours for code: roles by line, from Pygments' tokens."""

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from kimi_tui.tui.markdown.line import PLAIN, Ink, Span, Spans, ink

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
_LONGEST_LINE = 2_000
"""Characters; longer lines are data rather than code, and cost a lexer too much."""


def highlight(code: str, language: str) -> list[Spans]:
    """`code` in colour, one tuple of spans a line; plain in an unknown language or with very long lines."""
    lexer = _lexer(language.lower()) if language else None
    lines = code.split("\n")
    if lexer is None or max(map(len, lines)) > _LONGEST_LINE:
        return [((line, PLAIN),) if line else () for line in lines]
    coloured: list[Spans] = []
    row: list[Span] = []
    for _, kind, value in lexer.get_tokens_unprocessed(code + "\n"):
        style = _ink_of(kind)
        for index, piece in enumerate(value.split("\n")):
            if index:
                coloured.append(tuple(row))
                row = []
            if row and row[-1][1] is style and not piece.isascii():  # it may be one sign with what is before
                row[-1] = (row[-1][0] + piece, style)
            elif piece:
                row.append((piece, style))
    if row:
        coloured.append(tuple(row))
    return coloured[: len(lines)] + [()] * (len(lines) - len(coloured))


def warm_up() -> None:
    """Load the lexers, which takes some hundredths of a second; may run in a thread of its own."""
    highlight("pass", "python")


class GrowingCode:
    """Colours code that arrives at its end: what was coloured stays, but for the last lines.

    Each time it starts again a few lines above what is new, so a string or comment that is longer than
    that may be taken for code until all of it is coloured at once.
    """

    _AGAIN = 12
    """Lines."""

    def __init__(self) -> None:
        self._language = ""
        self._code = ""
        self._lines: list[Spans] = []

    def highlight(self, code: str, language: str) -> list[Spans]:
        """`code` in colour, one tuple of spans a line."""
        kept = len(self._lines) - self._AGAIN
        if kept < 1 or language != self._language or not code.startswith(self._code):
            kept = 0
        start = max(0, kept - self._AGAIN)
        lines = code.split("\n")
        coloured = highlight("\n".join(lines[start:]), language)
        self._lines = self._lines[:kept] + coloured[kept - start :]
        self._language, self._code = language, code
        return self._lines


@lru_cache(maxsize=256)
def language_of(path: str) -> str:
    """The name of the language that a file is written in, by its name; empty when unknown."""
    from pygments.lexers import find_lexer_class_for_filename

    lexer = find_lexer_class_for_filename(path.rpartition("/")[2])
    return lexer.aliases[0] if lexer is not None and lexer.aliases else ""


@lru_cache(maxsize=64)
def _lexer(language: str) -> "Lexer | None":
    from pygments.lexers import get_lexer_by_name
    from pygments.util import ClassNotFound

    try:
        return get_lexer_by_name(language)
    except ClassNotFound:
        return None


@lru_cache(maxsize=512)
def _ink_of(kind: Any) -> Ink:
    # A token type without a role of its own takes its nearest ancestor's.
    while kind is not None and kind.parent is not None:
        role = _ROLES.get(str(kind).removeprefix("Token."))
        if role is not None:
            return ink(role)
        kind = kind.parent
    return PLAIN
