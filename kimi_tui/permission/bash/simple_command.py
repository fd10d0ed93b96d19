"""A simple command: its words, assignments and redirections."""

import re
from typing import Literal

from kimi_tui.base.frozen import frozen

WordKind = Literal["literal", "pattern", "unknown"]
FIND_PLACEHOLDER = "{}"
"""The text and prefix of a word that stands for the files that `find` found. It can't be an option."""


@frozen
class Word:
    """A word as the shell parses it."""

    text: str
    """The value of a literal word, without quotes; the source text of any other word."""
    kind: WordKind = "literal"
    """`pattern` if it expands to file names (globs, braces, `~`); `unknown` if it contains variables or
    command substitutions."""
    prefix: str = ""
    """The known beginning of every word it expands to."""
    is_single: bool = False
    """Whether an unknown word expands to exactly one word because it is quoted."""

    @property
    def is_literal(self) -> bool:
        """Whether the shell reads it as exactly `text`."""
        return self.kind == "literal"

    @property
    def cannot_be_option(self) -> bool:
        """Whether it can neither expand to an option nor vanish."""
        return bool(self.prefix) and not self.prefix.startswith("-")


def literal_word(text: str) -> Word:
    """Return a literal word."""
    return Word(text, "literal", text)


@frozen
class Assignment:
    """An assignment `NAME=value`, alone or before a command."""

    name: str
    value: Word
    appends: bool = False

    @property
    def is_harmless(self) -> bool:
        """Whether it can at most change the appearance of later programs' output."""
        return is_script_variable(self.name) or (_is_known_variable(self.name) and self._is_plain)

    @property
    def _is_plain(self) -> bool:
        """Whether no program can interpret the value as code. Make runs `$(shell …)`."""
        return self.value.kind != "unknown" and _PLAIN_VALUE.fullmatch(self.value.text) is not None


@frozen
class Redirection:
    """A redirection of input or output."""

    operator: str
    target: Word
    """A file, the number of a descriptor, the delimiter of a here-document, or a here-string."""

    @property
    def writes(self) -> bool:
        """Whether it creates or changes what `target` names."""
        if self.operator == ">&":
            return not re.fullmatch(r"\d+-?|-", self.target.text)
        return self.operator in {">", ">>", ">|", "&>", "&>>", "<>"}

    @property
    def reads(self) -> bool:
        """Whether it reads the file that `target` names."""
        return self.operator in {"<", "<>"}


@frozen
class SimpleCommand:
    """A simple command. One without words only holds assignments, or the redirections of a group."""

    words: tuple[Word, ...] = ()
    assignments: tuple[Assignment, ...] = ()
    redirections: tuple[Redirection, ...] = ()
    reads_pipe: bool = False
    """Whether its input is another command's output."""

    @property
    def special_assignments(self) -> tuple[Assignment, ...]:
        """The assignments that may change what it does.

        Before a program, even a script's own variables count: make and project scripts may use any name.
        """
        return tuple(
            each
            for each in self.assignments
            if not each.is_harmless or (self.words and is_script_variable(each.name))
        )

    @property
    def head(self) -> str | None:
        """The command name as written; None without words, or if the name is known only at run time."""
        return self.words[0].text if self.words and self.words[0].is_literal else None

    @property
    def program(self) -> str:
        """The command name without its directory; empty if it isn't known."""
        return (self.head or "").rpartition("/")[2]

    @property
    def arguments(self) -> tuple[Word, ...]:
        """The words after the command name."""
        return self.words[1:]


_HARMLESS_VARIABLES = frozenset(
    {
        "CI", "CLICOLOR", "CLICOLOR_FORCE", "COLUMNS", "DEBUG", "FORCE_COLOR", "LANG", "LANGUAGE", "LINES",
        "NO_COLOR", "PYTHONDONTWRITEBYTECODE", "PYTHONHASHSEED", "PYTHONUNBUFFERED", "PYTHONUTF8",
        "RUST_BACKTRACE", "RUST_LOG", "TERM", "TZ", "VERBOSE",
    }
)  # fmt: skip
_PLAIN_VALUE = re.compile(r"[\w.,:/@%+=*-]*", re.ASCII)


def is_script_variable(name: str) -> bool:
    """Return whether `name` is a script's own variable, which no shell or common program interprets.

    Programs read variables with uppercase names (PATH, LD_PRELOAD, GIT_SSH, IFS), and lowercase ones for
    proxies and npm.
    """
    is_interpreted = name.endswith("_proxy") or name.startswith(("npm_", "pnpm_"))
    return re.fullmatch(r"[a-z][a-z0-9_]*", name) is not None and not is_interpreted


def _is_known_variable(name: str) -> bool:
    return name in _HARMLESS_VARIABLES or re.fullmatch(r"LC_[A-Z]+", name) is not None
