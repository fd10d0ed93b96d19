"""Parser that reduces bash to its simple commands (bash manual, 3.2).

Supported syntax is parsed exactly as bash does. The rest (functions, arrays, `case`, `[[`, arithmetic) raises
UnparsableCommand.
"""

import re

from kimi_tui.permission.bash.cursor import Cursor, UnparsableCommand
from kimi_tui.permission.bash.here_documents import HereDocuments
from kimi_tui.permission.bash.simple_command import Assignment, Redirection, SimpleCommand, Word, literal_word
from kimi_tui.permission.bash.word_parser import WordParser

_MAX_DEPTH = 30
_WORD_END = r"(?=[ \t\n|&;()<>]|\Z)"
_RESERVED = re.compile(
    r"(?:if|then|elif|else|fi|while|until|for|do|done|case|esac|select|function|coproc|time|\[\[|[{}!])"
    + _WORD_END
)
_CLOSERS = frozenset({"then", "elif", "else", "fi", "do", "done", "esac", "}"})
_UNSUPPORTED = frozenset({"case", "select", "function", "coproc", "[["})
_REDIRECTION = re.compile(r"(?:(\d*)(<<<|<<-|<<|<>|<&|>>|>&|>\||[<>](?!\())|(&>>?))")
_PLAIN_TARGET = re.compile(r"[A-Za-z0-9_./-]+" + _WORD_END)
_FD_VARIABLE = re.compile(r"\{[A-Za-z_][^ \t\n{}]*\}[<>]")
_ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(\+?)=")
_ARRAY_ELEMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\[")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*" + _WORD_END)
_TIME_OPTION = re.compile(r"[ \t]+-p" + _WORD_END)
_UNKNOWN = Word("", "unknown")


class BashParser:
    """Parses a script and collects its simple commands in `commands`."""

    def __init__(self, text: str, *, depth: int = 0) -> None:
        self._cursor = Cursor(text)
        self._words = WordParser(self._cursor, substitutions=self)
        self._depth = depth
        self._here_documents = HereDocuments(self._cursor)
        self.commands: list[SimpleCommand] = []
        self.has_background_job = False
        """Whether a command runs in the background of the shell, with `&`."""

    @property
    def here_documents(self) -> list[str]:
        """The bodies of all here-documents."""
        return self._here_documents.bodies

    def parse(self) -> None:
        """Parse the whole text. Raises UnparsableCommand."""
        self._parse_list(frozenset({""}), piped=False)
        self._here_documents.require_none_pending()

    def _parse_list(self, closers: frozenset[str], *, piped: bool) -> str:
        """Parse commands up to one of `closers` and skip it. `""` stands for the end of the text."""
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise UnparsableCommand("it is nested too deeply")
        while True:
            self._skip_newlines()
            if (closer := self._parse_closer(closers)) is not None:
                self._depth -= 1
                return closer
            self._parse_and_or(piped=piped)
            self._parse_separator()

    def _parse_closer(self, closers: frozenset[str]) -> str | None:
        cursor = self._cursor
        if cursor.at_end:
            if "" in closers:
                return ""
            raise UnparsableCommand("it ends unexpectedly")
        at = cursor.at
        closer = cursor.take() if cursor.peek() == ")" else cursor.take_match(_RESERVED)
        if closer in closers:
            return closer
        cursor.at = at
        if closer == ")" or closer in _CLOSERS:
            raise UnparsableCommand(f"it has an unexpected {closer}")
        return None

    def _parse_separator(self) -> None:
        cursor = self._cursor
        cursor.skip_blanks()
        if cursor.peek() == "\n":
            self._parse_here_documents()
        elif cursor.peek() in (";", "&") and cursor.peek(2) not in (";;", ";&"):
            self.has_background_job |= cursor.take() == "&"
        elif not cursor.at_end and cursor.peek() != ")":
            raise UnparsableCommand("a separator between two commands is missing")

    def _parse_and_or(self, *, piped: bool) -> None:
        cursor = self._cursor
        self._parse_pipeline(piped=piped)
        while cursor.peek(2) in ("&&", "||"):
            cursor.take(2)
            self._skip_newlines()
            self._parse_pipeline(piped=piped)

    def _parse_pipeline(self, *, piped: bool) -> None:
        cursor = self._cursor
        self._skip_prefixes()
        self._parse_command(piped=piped)
        cursor.skip_blanks()
        while cursor.peek() == "|" and cursor.peek(2) != "||":
            cursor.take(2 if cursor.peek(2) == "|&" else 1)
            self._skip_newlines()
            self._parse_command(piped=True)
            cursor.skip_blanks()

    def _skip_prefixes(self) -> None:
        """Skip `!` and `time`."""
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
                        raise UnparsableCommand("it uses time with options")
                case _:
                    cursor.at = at
                    return

    def _parse_command(self, *, piped: bool) -> None:
        cursor = self._cursor
        cursor.skip_blanks()
        if cursor.peek() == "(":
            if cursor.peek(2) == "((":
                raise UnparsableCommand("it uses ((…)) arithmetic")
            cursor.take()
            self._parse_list(frozenset({")"}), piped=piped)
            self._parse_group_redirections(piped=piped)
            return
        at = cursor.at
        match cursor.take_match(_RESERVED):
            case "{":
                self._parse_list(frozenset({"}"}), piped=piped)
            case "if":
                self._parse_if(piped=piped)
            case "while" | "until":
                self._parse_list(frozenset({"do"}), piped=piped)
                self._parse_list(frozenset({"done"}), piped=piped)
            case "for":
                self._parse_for(piped=piped)
            case str(word) if word in _UNSUPPORTED:
                raise UnparsableCommand(f"it uses {word}")
            case str(word) if word in _CLOSERS:
                raise UnparsableCommand(f"it has an unexpected {word}")
            case "!":
                raise UnparsableCommand("it has a ! inside a pipeline")
            case _:
                cursor.at = at
                self._parse_simple_command(piped=piped)
                return
        self._parse_group_redirections(piped=piped)

    def _parse_if(self, *, piped: bool) -> None:
        closer = "elif"
        while closer == "elif":
            self._parse_list(frozenset({"then"}), piped=piped)
            closer = self._parse_list(frozenset({"elif", "else", "fi"}), piped=piped)
        if closer == "else":
            self._parse_list(frozenset({"fi"}), piped=piped)

    def _parse_for(self, *, piped: bool) -> None:
        cursor = self._cursor
        cursor.skip_blanks()
        name = cursor.take_match(_NAME)
        if name is None:
            raise UnparsableCommand("its for loop has no variable name")
        self.commands.append(SimpleCommand(assignments=(Assignment(name, _UNKNOWN),)))
        self._skip_newlines()
        if cursor.take_match(re.compile("in" + _WORD_END)):
            cursor.skip_blanks()
            while self._words.parse_word() is not None:
                cursor.skip_blanks()
        if cursor.peek() == ";":
            cursor.take()
        self._skip_newlines()
        if cursor.take_match(re.compile("do" + _WORD_END)) is None:
            raise UnparsableCommand("its for loop has no do")
        self._parse_list(frozenset({"done"}), piped=piped)

    def _parse_group_redirections(self, *, piped: bool) -> None:
        redirections = []
        self._cursor.skip_blanks()
        while (redirection := self._parse_redirection()) is not None:
            redirections.append(redirection)
            self._cursor.skip_blanks()
        if redirections:
            self.commands.append(SimpleCommand(redirections=tuple(redirections), reads_pipe=piped))

    def _parse_simple_command(self, *, piped: bool) -> None:
        words: list[Word] = []
        assignments: list[Assignment] = []
        redirections: list[Redirection] = []
        while True:
            self._cursor.skip_blanks()
            if (redirection := self._parse_redirection()) is not None:
                redirections.append(redirection)
            elif not words and (assignment := self._parse_assignment()) is not None:
                assignments.append(assignment)
            elif (word := self._words.parse_word()) is not None:
                words.append(word)
            else:
                break
        if not (words or assignments or redirections):
            raise UnparsableCommand("a command is missing")
        self.commands.append(SimpleCommand(tuple(words), tuple(assignments), tuple(redirections), piped))

    def _parse_assignment(self) -> Assignment | None:
        cursor = self._cursor
        if _ARRAY_ELEMENT.match(cursor.text, cursor.at):
            raise UnparsableCommand("it assigns to an array")
        match = _ASSIGNMENT.match(cursor.text, cursor.at)
        if match is None:
            return None
        cursor.at = match.end()
        value = self._words.parse_word() or literal_word("")
        if cursor.peek() == "(":
            raise UnparsableCommand("it assigns to an array")
        return Assignment(match[1], value, bool(match[2]))

    def _parse_redirection(self) -> Redirection | None:
        cursor = self._cursor
        if _FD_VARIABLE.match(cursor.text, cursor.at):
            raise UnparsableCommand("it stores a file descriptor in a variable")
        match = _REDIRECTION.match(cursor.text, cursor.at)
        if match is None:
            return None
        cursor.at = match.end()
        operator = match[2] or match[3]
        if operator in (">&", "<&") and cursor.peek() == "-":
            return Redirection(operator, literal_word(cursor.take()))
        cursor.skip_blanks()
        if operator in ("<<", "<<-"):
            return Redirection(operator, literal_word(self._here_documents.read_delimiter(operator)))
        if operator in (">&", "<&"):
            name = cursor.take_match(_PLAIN_TARGET)
            if name is None:
                raise UnparsableCommand("its redirection has a target that bash expands twice")
            return Redirection(operator, literal_word(name))
        target = self._words.parse_word()
        if target is None:
            raise UnparsableCommand("a redirection has no target")
        return Redirection(operator, target)

    def _skip_newlines(self) -> None:
        self._cursor.skip_blanks()
        while self._cursor.peek() == "\n":
            self._parse_here_documents()
            self._cursor.skip_blanks()

    def parse_substitution(self) -> None:
        """Parse the commands of `$(…)` or `<(…)` at the cursor. Raises UnparsableCommand."""
        self._here_documents.require_none_pending()
        self._cursor.in_substitution += 1
        self._parse_list(frozenset({")"}), piped=False)
        self._cursor.in_substitution -= 1
        self._here_documents.require_none_pending()

    def parse_backticks(self, content: str) -> None:
        """Parse the commands between backticks. Raises UnparsableCommand."""
        inner = BashParser(content, depth=self._depth)
        inner.parse()
        self.commands.extend(inner.commands)

    def _parse_here_documents(self) -> None:
        """Skip the here-documents after the newline at the cursor, and parse the commands they run."""
        for body in self._here_documents.read_bodies():
            inner = BashParser(body, depth=self._depth)
            inner._words.parse_here_document()
            self.commands.extend(inner.commands)
