"""Reading the grammar of bash down to its simple commands (bash manual, 3.2).

What is read is read as bash does; what isn't (functions, arrays, `case`, `[[`, arithmetic) raises Unreadable.
"""

import re

from kimi_tui.tools.permission.cursor import Cursor, Unreadable
from kimi_tui.tools.permission.here_documents import HereDocuments
from kimi_tui.tools.permission.part import Assignment, Part, Redirection, Word, literal
from kimi_tui.tools.permission.words import WordReader

_MAX_DEPTH = 30
_THEN = r"(?=[ \t\n|&;()<>]|\Z)"
_RESERVED = re.compile(
    r"(?:if|then|elif|else|fi|while|until|for|do|done|case|esac|select|function|coproc|time|\[\[|[{}!])"
    + _THEN
)
_CLOSERS = frozenset({"then", "elif", "else", "fi", "do", "done", "esac", "}"})
_NOT_READ = frozenset({"case", "select", "function", "coproc", "[["})
_REDIRECTION = re.compile(r"(?:(\d*)(<<<|<<-|<<|<>|<&|>>|>&|>\||[<>](?!\())|(&>>?))")
_PLAIN_TARGET = re.compile(r"[A-Za-z0-9_./-]+" + _THEN)
_FD_VARIABLE = re.compile(r"\{[A-Za-z_][^ \t\n{}]*\}[<>]")
_ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(\+?)=")
_ARRAY_ELEMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\[")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*" + _THEN)
_TIME_OPTION = re.compile(r"[ \t]+-p" + _THEN)
_UNKNOWN = Word("", "unknown")


class Script:
    """Reads a script; `parts` are its simple commands."""

    def __init__(self, text: str, *, depth: int = 0) -> None:
        self._cursor = Cursor(text)
        self._words = WordReader(self._cursor, on_commands=self._substitution, on_backticks=self._backticks)
        self._depth = depth
        self._here_documents = HereDocuments(self._cursor, expand=self._expand)
        self.parts: list[Part] = []

    @property
    def here_documents(self) -> list[str]:
        """What it feeds its commands."""
        return self._here_documents.bodies

    def read(self) -> None:
        """Read it all. Raises Unreadable."""
        self._list(frozenset({""}), piped=False)
        self._here_documents.end()

    def _list(self, closers: frozenset[str], *, piped: bool) -> str:
        """Read commands up to one of `closers` (`""` is the end of the text) and step over it."""
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise Unreadable("it is nested too deeply")
        while True:
            self._skip_newlines()
            if (closer := self._closer(closers)) is not None:
                self._depth -= 1
                return closer
            self._and_or(piped=piped)
            self._separator()

    def _closer(self, closers: frozenset[str]) -> str | None:
        cursor = self._cursor
        if cursor.ended:
            if "" in closers:
                return ""
            raise Unreadable("it ends too early")
        at = cursor.at
        found = cursor.take() if cursor.peek() == ")" else cursor.take_match(_RESERVED)
        if found in closers:
            return found
        cursor.at = at
        if found == ")" or found in _CLOSERS:
            raise Unreadable(f"there is a {found} too many")
        return None

    def _separator(self) -> None:
        cursor = self._cursor
        cursor.skip_blanks()
        if cursor.peek() == "\n":
            self._here_documents.begin_line()
        elif cursor.peek() in (";", "&") and cursor.peek(2) not in (";;", ";&"):
            cursor.take()
        elif not cursor.ended and cursor.peek() != ")":
            raise Unreadable("two commands stand side by side")

    def _and_or(self, *, piped: bool) -> None:
        cursor = self._cursor
        self._pipeline(piped=piped)
        while cursor.peek(2) in ("&&", "||"):
            cursor.take(2)
            self._skip_newlines()
            self._pipeline(piped=piped)

    def _pipeline(self, *, piped: bool) -> None:
        cursor = self._cursor
        self._skip_prefixes()
        self._command(piped=piped)
        cursor.skip_blanks()
        while cursor.peek() == "|" and cursor.peek(2) != "||":
            cursor.take(2 if cursor.peek(2) == "|&" else 1)
            self._skip_newlines()
            self._command(piped=True)
            cursor.skip_blanks()

    def _skip_prefixes(self) -> None:
        """Step over `!` and `time`."""
        cursor = self._cursor
        while True:
            cursor.skip_blanks()
            at = cursor.at
            match cursor.take_match(_RESERVED):
                case "!":
                    pass
                case "time":
                    cursor.take_match(_TIME_OPTION)
                    cursor.skip_blanks()
                    if cursor.peek() == "-":
                        raise Unreadable("time has options")
                case _:
                    cursor.at = at
                    return

    def _command(self, *, piped: bool) -> None:
        cursor = self._cursor
        cursor.skip_blanks()
        if cursor.peek() == "(":
            if cursor.peek(2) == "((":
                raise Unreadable("it computes with ((…))")
            cursor.take()
            self._list(frozenset({")"}), piped=piped)
            self._redirections_of_group(piped=piped)
            return
        at = cursor.at
        match cursor.take_match(_RESERVED):
            case "{":
                self._list(frozenset({"}"}), piped=piped)
            case "if":
                self._if(piped=piped)
            case "while" | "until":
                self._list(frozenset({"do"}), piped=piped)
                self._list(frozenset({"done"}), piped=piped)
            case "for":
                self._for(piped=piped)
            case str(word) if word in _NOT_READ:
                raise Unreadable(f"it uses {word}")
            case str(word) if word in _CLOSERS:
                raise Unreadable(f"there is a {word} too many")
            case "!":
                raise Unreadable("a ! stands within a pipeline")
            case _:
                cursor.at = at
                self._simple(piped=piped)
                return
        self._redirections_of_group(piped=piped)

    def _if(self, *, piped: bool) -> None:
        closer = "elif"
        while closer == "elif":
            self._list(frozenset({"then"}), piped=piped)
            closer = self._list(frozenset({"elif", "else", "fi"}), piped=piped)
        if closer == "else":
            self._list(frozenset({"fi"}), piped=piped)

    def _for(self, *, piped: bool) -> None:
        cursor = self._cursor
        cursor.skip_blanks()
        name = cursor.take_match(_NAME)
        if name is None:
            raise Unreadable("its for loop computes")
        self.parts.append(Part(assignments=(Assignment(name, _UNKNOWN),)))
        self._skip_newlines()
        if cursor.take_match(re.compile("in" + _THEN)):
            cursor.skip_blanks()
            while self._words.word() is not None:
                cursor.skip_blanks()
        if cursor.peek() == ";":
            cursor.take()
        self._skip_newlines()
        if cursor.take_match(re.compile("do" + _THEN)) is None:
            raise Unreadable("its for loop has no do")
        self._list(frozenset({"done"}), piped=piped)

    def _redirections_of_group(self, *, piped: bool) -> None:
        redirections = []
        self._cursor.skip_blanks()
        while (redirection := self._redirection()) is not None:
            redirections.append(redirection)
            self._cursor.skip_blanks()
        if redirections:
            self.parts.append(Part(redirections=tuple(redirections), reads_pipe=piped))

    def _simple(self, *, piped: bool) -> None:
        words: list[Word] = []
        assignments: list[Assignment] = []
        redirections: list[Redirection] = []
        while True:
            self._cursor.skip_blanks()
            if (redirection := self._redirection()) is not None:
                redirections.append(redirection)
            elif not words and (assignment := self._assignment()) is not None:
                assignments.append(assignment)
            elif (word := self._words.word()) is not None:
                words.append(word)
            else:
                break
        if not (words or assignments or redirections):
            raise Unreadable("a command is missing")
        self.parts.append(Part(tuple(words), tuple(assignments), tuple(redirections), piped))

    def _assignment(self) -> Assignment | None:
        cursor = self._cursor
        if _ARRAY_ELEMENT.match(cursor.text, cursor.at):
            raise Unreadable("it sets an array")
        match = _ASSIGNMENT.match(cursor.text, cursor.at)
        if match is None:
            return None
        cursor.at = match.end()
        value = self._words.word() or literal("")
        if cursor.peek() == "(":
            raise Unreadable("it sets an array")
        return Assignment(match[1], value, bool(match[2]))

    def _redirection(self) -> Redirection | None:
        cursor = self._cursor
        if _FD_VARIABLE.match(cursor.text, cursor.at):
            raise Unreadable("it keeps a descriptor in a variable")
        match = _REDIRECTION.match(cursor.text, cursor.at)
        if match is None:
            return None
        cursor.at = match.end()
        operator = match[2] or match[3]
        if operator in (">&", "<&") and cursor.peek() == "-":
            return Redirection(operator, literal(cursor.take()))
        cursor.skip_blanks()
        if operator in ("<<", "<<-"):
            return Redirection(operator, literal(self._here_documents.announce(operator)))
        if operator in (">&", "<&"):
            name = cursor.take_match(_PLAIN_TARGET)
            if name is None:
                raise Unreadable("it copies to a name that bash expands twice")
            return Redirection(operator, literal(name))
        target = self._words.word()
        if target is None:
            raise Unreadable("a redirection leads nowhere")
        return Redirection(operator, target)

    def _skip_newlines(self) -> None:
        self._cursor.skip_blanks()
        while self._cursor.peek() == "\n":
            self._here_documents.begin_line()
            self._cursor.skip_blanks()

    def _substitution(self) -> None:
        """Read the commands of `$(…)` or `<(…)` from where the cursor is."""
        self._here_documents.end()
        self._cursor.in_substitution += 1
        self._list(frozenset({")"}), piped=False)
        self._cursor.in_substitution -= 1
        self._here_documents.end()

    def _backticks(self, content: str) -> None:
        inner = Script(content, depth=self._depth)
        inner.read()
        self.parts.extend(inner.parts)

    def _expand(self, body: str) -> None:
        """Read what a here-document's body runs."""
        inner = Script(body, depth=self._depth)
        inner._words.here_document()
        self.parts.extend(inner.parts)
