"""Reading words of bash: quotes, expansions and substitutions (bash manual, 3.1.2 and 3.5)."""

import re
from collections.abc import Callable

from kimi_tui.tools.permission.cursor import Cursor, Unreadable
from kimi_tui.tools.permission.part import Word, WordKind, literal

_PLAIN_RUN = re.compile(r"[A-Za-z0-9_/@%+^-]+")
_ENDS_WORD = frozenset(" \t\n|&;()<>")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SPECIAL_PARAMETER = re.compile(r"[0-9?$!#@*_-]")
_PLAIN_BRACES = re.compile(
    r"\{(?:#?(?:[A-Za-z_][A-Za-z0-9_]*|[0-9]+)|[A-Za-z_][A-Za-z0-9_]*(?::?[-+?]|##?|%%?)[^$`\\\"'(){}\n]*)\}"
)
"""`${…}` that only looks a variable up. Others evaluate arithmetic, follow names or run prompts."""
_PLAIN_ARITHMETIC = re.compile(r"\(\([0-9 +*/%()-]*\)\)")
"""`$((…))` without names: a name's value is evaluated in turn, and may run commands."""


class _Draft:
    """A word while it is read."""

    def __init__(self) -> None:
        self.value: list[str] = []
        self.lead: str | None = None
        self.kind: WordKind = "literal"
        self.may_split = False
        self.has_pattern = False
        self.brace_at: int | None = None

    def add(self, text: str) -> None:
        self.value.append(text)

    def becomes(self, kind: WordKind) -> None:
        """From here on the word isn't literal."""
        if self.lead is None:
            self.lead = "".join(self.value)
        if self.kind != "unknown":
            self.kind = kind
        self.has_pattern |= kind == "pattern"

    def opens_brace(self) -> None:
        if self.brace_at is None:
            self.brace_at = len("".join(self.value))

    def has_brace_list(self) -> None:
        """`{a,b}` or `{1..3}`: what stands before the brace begins each word."""
        if self.brace_at is not None:
            self.becomes("pattern")
            self.lead = (self.lead or "")[: self.brace_at]

    def word(self, source: str) -> Word:
        if source == "[":
            return literal(source)
        if self.kind == "literal":
            value = "".join(self.value)
            return Word(value, "literal", value)
        is_single = not (self.may_split or self.has_pattern)
        return Word(source, self.kind, "" if self.may_split else self.lead or "", is_single)


class WordReader:
    """Reads words at a cursor. What substitutions run is handed to `on_commands` and `on_backticks`."""

    def __init__(
        self, cursor: Cursor, *, on_commands: Callable[[], None], on_backticks: Callable[[str], None]
    ) -> None:
        self._cursor = cursor
        self._on_commands = on_commands
        """Reads the commands at the cursor up to the `)` that ends them, and steps over it."""
        self._on_backticks = on_backticks

    def word(self) -> Word | None:
        """The word at the cursor; None when an operator, a newline or the end is there. Raises Unreadable."""
        cursor, start, draft = self._cursor, self._cursor.at, _Draft()
        if cursor.peek() == "~":
            draft.becomes("pattern")
            draft.lead = "~"
        while not cursor.ended:
            char = cursor.peek()
            if char in "<>" and cursor.peek(2) in ("<(", ">("):
                self._process_substitution(draft)
            elif char in _ENDS_WORD:
                break
            else:
                self._piece(char, draft)
        if cursor.at == start:
            return None
        if cursor.peek() == "(":
            raise Unreadable("it defines a function or an array")
        return draft.word(cursor.text[start : cursor.at])

    def here_document(self) -> bool:
        """Read the body of a here-document whose delimiter is unquoted. Whether it is literal."""
        cursor, is_literal = self._cursor, True
        if "\\\n" in cursor.text:
            raise Unreadable("a line of its here-document is continued")
        while not cursor.ended:
            match cursor.peek():
                case "\\":
                    cursor.take(2)
                case "$":
                    is_literal = not self._dollar(_Draft(), quoted=True) and is_literal
                case "`":
                    self._backticks(_Draft(), quoted=True)
                    is_literal = False
                case _:
                    cursor.take()
        return is_literal

    def _piece(self, char: str, draft: _Draft) -> None:
        cursor = self._cursor
        match char:
            case "'":
                cursor.take()
                draft.add(cursor.take_until("'"))
            case '"':
                self._double_quoted(draft)
            case "\\":
                self._escaped(draft)
            case "$":
                self._dollar(draft, quoted=False)
            case "`":
                self._backticks(draft, quoted=False)
            case _:
                self._plain_character(char, draft)

    def _plain_character(self, char: str, draft: _Draft) -> None:
        cursor = self._cursor
        run = cursor.take_match(_PLAIN_RUN)
        if run is not None:
            draft.add(run)
            return
        if char in "*?[":
            draft.becomes("pattern")
        elif char == "{":
            draft.opens_brace()
        elif char == "," or cursor.peek(2) == "..":
            draft.has_brace_list()
        elif cursor.peek(2) in ("=~", ":~"):
            draft.add(char)
            cursor.take()
            draft.becomes("pattern")
            char = "~"
        draft.add(char)
        cursor.take()

    def _escaped(self, draft: _Draft) -> None:
        taken = self._cursor.take(2)
        if taken == "\\\n":
            raise Unreadable("a line breaks within a word")
        if len(taken) < 2:
            raise Unreadable("it ends in a backslash")
        draft.add(taken[1])

    def _double_quoted(self, draft: _Draft) -> None:
        cursor = self._cursor
        cursor.take()
        while (char := cursor.peek()) != '"':
            match char:
                case "":
                    raise Unreadable("a double quote is missing")
                case "\\" if cursor.take_continuation():
                    pass
                case "\\":
                    taken = cursor.take(2)
                    draft.add(taken[1] if taken[1:] in ("$", "`", '"', "\\") else taken)
                case "$":
                    self._dollar(draft, quoted=True)
                case "`":
                    self._backticks(draft, quoted=True)
                case _:
                    draft.add(cursor.take())
        cursor.take()

    def _dollar(self, draft: _Draft, *, quoted: bool) -> bool:
        """Read what `$` begins. Whether it is an expansion."""
        cursor = self._cursor
        cursor.take()
        following = cursor.peek()
        if following in ("'", '"') and not quoted:
            raise Unreadable("it has a $'…' or $\"…\" string")
        if following == "\\" and cursor.peek(2) == "\\\n":
            raise Unreadable("a line breaks within a word")
        if following not in ("(", "{", "[") and not _begins_parameter(following):
            draft.add("$")
            return False
        draft.becomes("unknown")
        draft.may_split |= not quoted or following == "@"
        match following:
            case "[":
                raise Unreadable("it computes")
            case "{":
                if cursor.take_match(_PLAIN_BRACES) is None:
                    raise Unreadable("it has an involved ${…}")
            case "(" if cursor.peek(2) == "((":
                found = cursor.take_match(_PLAIN_ARITHMETIC)
                if found is None or not _is_balanced(found):
                    raise Unreadable("it computes with $((…))")
            case "(":
                cursor.take()
                self._on_commands()
            case _ if cursor.take_match(_NAME) is None:
                cursor.take()
        return True

    def _backticks(self, draft: _Draft, *, quoted: bool) -> None:
        cursor = self._cursor
        cursor.take()
        draft.becomes("unknown")
        draft.may_split |= not quoted
        content = cursor.take_until("`")
        if "\\" in content or "#" in content or "<<" in content:
            raise Unreadable("its backticks hold more than plain commands")
        self._on_backticks(content)

    def _process_substitution(self, draft: _Draft) -> None:
        draft.add("/dev/fd/")
        draft.becomes("unknown")
        self._cursor.take(2)
        self._on_commands()


def _begins_parameter(char: str) -> bool:
    return bool(char) and (_NAME.match(char) or _SPECIAL_PARAMETER.match(char)) is not None


def _is_balanced(text: str) -> bool:
    depth = 0
    for char in text[2:-2]:
        depth += (char == "(") - (char == ")")
        if depth < 0:
            return False
    return depth == 0
