"""Parser for bash words: quotes, expansions and substitutions (bash manual, 3.1.2 and 3.5)."""

import re
from typing import Protocol

from kimi_tui.permission.bash.cursor import Cursor, UnparsableCommand
from kimi_tui.permission.bash.simple_command import Word, WordKind, literal_word

_PLAIN_RUN = re.compile(r"[A-Za-z0-9_/@%+^-]+")
_ENDS_WORD = frozenset(" \t\n|&;()<>")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SPECIAL_PARAMETER = re.compile(r"[0-9?$!#@*_-]")
_PLAIN_BRACES = re.compile(
    r"\{(?:#?(?:[A-Za-z_][A-Za-z0-9_]*|[0-9]+)|[A-Za-z_][A-Za-z0-9_]*(?::?[-+?]|##?|%%?)[^$`\\\"'(){}\n]*)\}"
)
"""A `${…}` that only reads a variable. Other forms evaluate arithmetic, follow names or run prompts."""
_PLAIN_ARITHMETIC = re.compile(r"\(\([0-9 +*/%()-]*\)\)")
"""A `$((…))` without names. The value of a name is evaluated in turn, and may run commands."""


class SubstitutionParser(Protocol):
    """Parses the commands of the substitutions in words."""

    def parse_substitution(self) -> None:
        """Parse the commands at the cursor up to the closing `)`, and skip it."""
        ...

    def parse_backticks(self, content: str) -> None:
        """Parse the commands between two backticks, which the cursor has passed."""
        ...


class _WordBuilder:
    """Collects a word while it is parsed."""

    def __init__(self) -> None:
        self.value: list[str] = []
        self.prefix: str | None = None
        self.kind: WordKind = "literal"
        self.may_split = False
        self.has_pattern = False
        self.brace_at: int | None = None

    def add(self, text: str) -> None:
        self.value.append(text)

    def set_kind(self, kind: WordKind) -> None:
        """Mark the rest of the word as not literal."""
        if self.prefix is None:
            self.prefix = "".join(self.value)
        if self.kind != "unknown":
            self.kind = kind
        self.has_pattern |= kind == "pattern"

    def mark_brace(self) -> None:
        if self.brace_at is None:
            self.brace_at = len("".join(self.value))

    def mark_brace_list(self) -> None:
        """Handle `{a,b}` or `{1..3}`: each resulting word begins with the text before the brace."""
        if self.brace_at is not None:
            self.set_kind("pattern")
            self.prefix = (self.prefix or "")[: self.brace_at]

    def build(self, source: str) -> Word:
        if source == "[":
            return literal_word(source)
        if self.kind == "literal":
            value = "".join(self.value)
            return Word(value, "literal", value)
        is_single = not (self.may_split or self.has_pattern)
        return Word(source, self.kind, "" if self.may_split else self.prefix or "", is_single)


class WordParser:
    """Parses words at a cursor."""

    def __init__(self, cursor: Cursor, substitutions: SubstitutionParser) -> None:
        self._cursor = cursor
        self._substitutions = substitutions

    def parse_word(self) -> Word | None:
        """Return the word at the cursor; None at an operator, a newline or the end.

        Raises UnparsableCommand.
        """
        cursor, start, builder = self._cursor, self._cursor.at, _WordBuilder()
        if cursor.peek() == "~":
            builder.set_kind("pattern")
            builder.prefix = "~"
        while not cursor.at_end:
            char = cursor.peek()
            if char in "<>" and cursor.peek(2) in ("<(", ">("):
                self._parse_process_substitution(builder)
            elif char in _ENDS_WORD:
                break
            else:
                self._parse_piece(char, builder)
        if cursor.at == start:
            return None
        if cursor.peek() == "(":
            raise UnparsableCommand("it defines a function or an array")
        return builder.build(cursor.text[start : cursor.at])

    def parse_here_document(self) -> bool:
        """Parse the body of a here-document with an unquoted delimiter. Return whether it is literal."""
        cursor, is_literal = self._cursor, True
        if "\\\n" in cursor.text:
            raise UnparsableCommand("its here-document has a line continuation")
        while not cursor.at_end:
            match cursor.peek():
                case "\\":
                    cursor.take(2)
                case "$":
                    is_literal = not self._parse_dollar(_WordBuilder(), quoted=True) and is_literal
                case "`":
                    self._parse_backticks(_WordBuilder(), quoted=True)
                    is_literal = False
                case _:
                    cursor.take()
        return is_literal

    def _parse_piece(self, char: str, builder: _WordBuilder) -> None:
        cursor = self._cursor
        match char:
            case "'":
                cursor.take()
                builder.add(cursor.take_until("'"))
            case '"':
                self._parse_double_quoted(builder)
            case "\\":
                self._parse_escape(builder)
            case "$":
                self._parse_dollar(builder, quoted=False)
            case "`":
                self._parse_backticks(builder, quoted=False)
            case _:
                self._parse_plain(char, builder)

    def _parse_plain(self, char: str, builder: _WordBuilder) -> None:
        cursor = self._cursor
        run = cursor.take_match(_PLAIN_RUN)
        if run is not None:
            builder.add(run)
            return
        if char in "*?[":
            builder.set_kind("pattern")
        elif char == "{":
            builder.mark_brace()
        elif char == "," or cursor.peek(2) == "..":
            builder.mark_brace_list()
        elif cursor.peek(2) in ("=~", ":~"):
            builder.add(char)
            cursor.take()
            builder.set_kind("pattern")
            char = "~"
        builder.add(char)
        cursor.take()

    def _parse_escape(self, builder: _WordBuilder) -> None:
        taken = self._cursor.take(2)
        if taken == "\\\n":
            raise UnparsableCommand("a line continuation splits a word")
        if len(taken) < 2:
            raise UnparsableCommand("it ends with a backslash")
        builder.add(taken[1])

    def _parse_double_quoted(self, builder: _WordBuilder) -> None:
        cursor = self._cursor
        cursor.take()
        while (char := cursor.peek()) != '"':
            match char:
                case "":
                    raise UnparsableCommand('a closing " is missing')
                case "\\" if cursor.take_continuation():
                    pass
                case "\\":
                    taken = cursor.take(2)
                    builder.add(taken[1] if taken[1:] in ("$", "`", '"', "\\") else taken)
                case "$":
                    self._parse_dollar(builder, quoted=True)
                case "`":
                    self._parse_backticks(builder, quoted=True)
                case _:
                    builder.add(cursor.take())
        cursor.take()

    def _parse_dollar(self, builder: _WordBuilder, *, quoted: bool) -> bool:
        """Parse what follows `$`. Return whether it is an expansion."""
        cursor = self._cursor
        cursor.take()
        following = cursor.peek()
        if following in ("'", '"') and not quoted:
            raise UnparsableCommand("it has a $'…' or $\"…\" string")
        if following == "\\" and cursor.peek(2) == "\\\n":
            raise UnparsableCommand("a line continuation splits a word")
        if following not in ("(", "{", "[") and not _begins_parameter(following):
            builder.add("$")
            return False
        builder.set_kind("unknown")
        builder.may_split |= not quoted or following == "@"
        match following:
            case "[":
                raise UnparsableCommand("it uses $[…] arithmetic")
            case "{":
                if cursor.take_match(_PLAIN_BRACES) is None:
                    raise UnparsableCommand("it has a complex ${…} expansion")
            case "(" if cursor.peek(2) == "((":
                arithmetic = cursor.take_match(_PLAIN_ARITHMETIC)
                if arithmetic is None or not _is_balanced(arithmetic):
                    raise UnparsableCommand("it uses $((…)) arithmetic")
            case "(":
                cursor.take()
                self._substitutions.parse_substitution()
            case _ if cursor.take_match(_NAME) is None:
                cursor.take()
        return True

    def _parse_backticks(self, builder: _WordBuilder, *, quoted: bool) -> None:
        cursor = self._cursor
        cursor.take()
        builder.set_kind("unknown")
        builder.may_split |= not quoted
        content = cursor.take_until("`")
        if "\\" in content or "#" in content or "<<" in content:
            raise UnparsableCommand("its backticks contain more than plain commands")
        self._substitutions.parse_backticks(content)

    def _parse_process_substitution(self, builder: _WordBuilder) -> None:
        builder.add("/dev/fd/")
        builder.set_kind("unknown")
        self._cursor.take(2)
        self._substitutions.parse_substitution()


def _begins_parameter(char: str) -> bool:
    return bool(char) and (_NAME.match(char) or _SPECIAL_PARAMETER.match(char)) is not None


def _is_balanced(text: str) -> bool:
    depth = 0
    for char in text[2:-2]:
        depth += (char == "(") - (char == ")")
        if depth < 0:
            return False
    return depth == 0
