"""One simple command of a command line: its words, assignments and redirections."""

import re
from typing import Literal

from kimi_tui.base.value import value

WordKind = Literal["literal", "pattern", "unknown"]


@value
class Word:
    """A word as the shell reads it."""

    text: str
    """A literal word's value, quotes removed; any other word as it was written."""
    kind: WordKind = "literal"
    """`pattern` when files decide what it becomes (globs, braces, `~`); `unknown` when variables or other
    commands do."""
    lead: str = ""
    """What each word that it becomes begins with, as far as that is known."""
    is_single: bool = False
    """Whether an unknown word becomes exactly one, since it is quoted."""

    @property
    def is_literal(self) -> bool:
        """Whether the shell takes it for exactly `text`."""
        return self.kind == "literal"

    @property
    def cannot_be_option(self) -> bool:
        """Whether it can't become an option, or vanish."""
        return bool(self.lead) and not self.lead.startswith("-")


def literal(text: str) -> Word:
    """A word that means itself."""
    return Word(text, "literal", text)


@value
class Assignment:
    """`NAME=value`, alone or before a command."""

    name: str
    value: Word
    appends: bool = False

    @property
    def is_harmless(self) -> bool:
        """Whether it can't change what the programs after it do beyond their looks."""
        return is_own_variable(self.name) or (_is_known_variable(self.name) and self._is_plain)

    @property
    def _is_plain(self) -> bool:
        """Whether nothing could take the value for more than a name or a number: make runs `$(shell …)`."""
        return self.value.kind != "unknown" and _PLAIN_VALUE.fullmatch(self.value.text) is not None


@value
class Redirection:
    """Where a command reads from or writes to."""

    operator: str
    target: Word
    """A file, a descriptor's number, a here-document's delimiter or a here-string."""

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


@value
class Part:
    """A simple command. Without words it is redirections around a group, or assignments alone."""

    words: tuple[Word, ...] = ()
    assignments: tuple[Assignment, ...] = ()
    redirections: tuple[Redirection, ...] = ()
    reads_pipe: bool = False
    """Whether another command's output is its input."""

    @property
    def special_assignments(self) -> tuple[Assignment, ...]:
        """Those that may change what it does.

        The program that they stand before may be make, or a script of the project, which obey any name.
        """
        return tuple(
            each
            for each in self.assignments
            if not each.is_harmless or (self.words and is_own_variable(each.name))
        )

    @property
    def head(self) -> str | None:
        """The command's name as written; None when it isn't known until it runs, or there is none."""
        return self.words[0].text if self.words and self.words[0].is_literal else None

    @property
    def program(self) -> str:
        """The command's name without its folder; empty when it isn't known."""
        return (self.head or "").rpartition("/")[2]

    @property
    def arguments(self) -> tuple[Word, ...]:
        """The words after the command's name."""
        return self.words[1:]


_HARMLESS_VARIABLES = frozenset(
    {
        "CI", "CLICOLOR", "CLICOLOR_FORCE", "COLUMNS", "DEBUG", "FORCE_COLOR", "LANG", "LANGUAGE", "LINES",
        "NO_COLOR", "PYTHONDONTWRITEBYTECODE", "PYTHONHASHSEED", "PYTHONUNBUFFERED", "PYTHONUTF8",
        "RUST_BACKTRACE", "RUST_LOG", "TERM", "TZ", "VERBOSE",
    }
)  # fmt: skip
_PLAIN_VALUE = re.compile(r"[\w.,:/@%+=*-]*", re.ASCII)


def is_own_variable(name: str) -> bool:
    """Whether `name` is a script's own, which no program or shell that is found anywhere obeys.

    They take their orders from capital names (PATH, LD_PRELOAD, GIT_SSH, IFS), and from the small ones of
    proxies and of npm.
    """
    obeyed = name.endswith("_proxy") or name.startswith(("npm_", "pnpm_"))
    return re.fullmatch(r"[a-z][a-z0-9_]*", name) is not None and not obeyed


def _is_known_variable(name: str) -> bool:
    return name in _HARMLESS_VARIABLES or re.fullmatch(r"LC_[A-Z]+", name) is not None
