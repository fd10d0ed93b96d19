"""Arguments of a command that are known to be safe, which is all that a wildcard rule covers."""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Literal

from kimi_tui.base.frozen import frozen
from kimi_tui.permission.bash.simple_command import SimpleCommand, Word
from kimi_tui.permission.known_programs import COMMAND_RUNNERS, is_python
from kimi_tui.permission.named_tests import names_tests
from kimi_tui.permission.safe_option_table import SAFE_OPTIONS
from kimi_tui.permission.special_arguments import has_special_arguments

ValueKind = Literal["none", "path", "text", "attached"]

_MAX_KEY_WORDS = 3
GIT_GLOBAL_FLAGS = frozenset(
    {"--no-pager", "-P", "--no-optional-locks", "--literal-pathspecs", "--icase-pathspecs"}
)
_VALUE_KINDS: Mapping[str, ValueKind] = {"=": "path", ":": "text", "?": "attached"}
_NEGATIVE_NUMBER = re.compile(r"-\d+[A-Za-z]?")
_NUMBER = re.compile(r"\d+")
_URL = re.compile(r"https?://[^{}\[\]\\\s]+")
"""An address without the wildcards of curl, which may expand to another scheme."""
_TAR_LETTERS = re.compile(r"[ctx](?:[zjJvk]*f?)")
_JQ_KEYWORDS = re.compile(r"\b(?:import|include|env|input_filename|get_search_list)\b|\$ENV")
_FIND_EXEC_ACTIONS = frozenset({"-exec", "-execdir", "-ok", "-okdir"})


@frozen
class SafeOptions:
    """Arguments of a program or subcommand that are known to be safe."""

    key: tuple[str, ...]
    """The program and subcommand; empty if a subcommand is missing."""
    options: Mapping[str, ValueKind]
    traits: frozenset[str]
    """Those of `safe_option_table`, without `@`."""

    @property
    def reads_only(self) -> bool:
        """Whether the command only reads, with these options."""
        return "read" in self.traits


@frozen
class CheckedArguments:
    """Arguments that are all known to be safe."""

    safe_options: SafeOptions
    path_words: tuple[Word, ...]
    """Operands and values that may name files. Each must be in the session's bounds."""
    runs_others: bool = False
    """Whether `find` runs another command, which is checked separately."""


@frozen
class UnsafeArgument:
    """An argument that isn't known to be safe."""

    text: str
    """The first such argument; empty if the subcommand isn't known."""


def find_safe_options(words: Sequence[Word], *, n_known: int = 1) -> tuple[int, SafeOptions] | None:
    """Return the index of the first argument after program and subcommand, and the safe options.

    Prefixes such as `uv run` and `python -m` are skipped. None if the program isn't known. A subcommand that
    isn't known has no safe options; it must be one of the first `n_known` words, which a rule names.
    """
    at = _program_index(words)
    if at >= len(words) or not words[at].is_literal:
        return None
    program = words[at].text.rpartition("/")[2]
    start = _skip_global_options(words, at + 1) if program == "git" else at + 1
    subcommands = (word.text if word.is_literal else "" for word in words[start : start + _MAX_KEY_WORDS - 1])
    texts = (program, *subcommands)
    for count in range(len(texts), 0, -1):
        if (safe_options := _parse_entry(" ".join(texts[:count]))) is not None:
            return start + count - 1, safe_options
    if program not in _known_programs():
        return None
    is_named = len(texts) > 1 and start < n_known and re.match(r"\w", texts[1]) is not None
    return start + 1, SafeOptions(texts[:2] if is_named else (), {}, frozenset())


def check_arguments(
    command: SimpleCommand, n_known: int = 1, *, any_file: bool = False
) -> CheckedArguments | UnsafeArgument:
    """Return the arguments of a program, or the first one that isn't known to be safe.

    The first `n_known` words are part of the rule, and were seen by the user. With `any_file`, it doesn't
    matter which files the command reads, so programs with the trait `any` may have any option.
    """
    found = find_safe_options(command.words, n_known=n_known)
    if found is None or not found[1].key:
        return UnsafeArgument("")
    start, safe_options = found
    accepts_any = "any" in safe_options.traits and (any_file or not safe_options.options)
    return _ArgumentChecker(command, start, safe_options, n_known=n_known, accepts_any=accepts_any).check()


def grant_prefix(command: SimpleCommand) -> tuple[str, ...] | None:
    """Return the prefix of the narrowest useful wildcard rule; None if only the exact command is safe.

    Examples: `pytest`, `git diff`, `npm run test`, `python -m pytest`, `uv run pytest`.
    """
    if has_special_arguments(command.program):
        return _special_prefix(command)
    found = find_safe_options(command.words)
    if found is None or not found[1].key or "exact" in found[1].traits:
        return None
    start, safe_options = found
    count = start + ("target" in safe_options.traits)
    prefix = [word.text for word in command.words[:count] if word.is_literal]
    own_words = prefix[start - len(safe_options.key) + 1 :]
    if len(prefix) < count or any(text.startswith("-") or "=" in text for text in own_words):
        return None
    return tuple(prefix) if isinstance(check_arguments(command, count), CheckedArguments) else None


class _ArgumentChecker:
    """Checks the arguments of one command from left to right."""

    def __init__(
        self,
        command: SimpleCommand,
        start: int,
        safe_options: SafeOptions,
        *,
        n_known: int,
        accepts_any: bool,
    ) -> None:
        self._accepts_any = accepts_any
        self._program = safe_options.key[0]
        self._words = command.words
        self._start = start
        self._safe_options = safe_options
        self._n_known = n_known
        self._path_words: list[Word] = []
        self._n_operands = 0
        self._runs_others = False

    def check(self) -> CheckedArguments | UnsafeArgument:
        """Return the checked arguments, or the first one that isn't known to be safe."""
        index, only_operands = self._start, False
        while index < len(self._words):
            word = self._words[index]
            if not only_operands and word.is_literal and word.text == "--":
                only_operands = True
                index += 1
                continue
            only_operands |= "one" in self._safe_options.traits and self._n_operands > 0
            n_taken = 1 if only_operands and self._check_operand(word) else 0
            if not only_operands:
                n_taken = self._check_word(index)
            if not n_taken and index >= self._n_known:
                return UnsafeArgument(word.text)
            index += n_taken or 1
        return CheckedArguments(self._safe_options, tuple(self._path_words), self._runs_others)

    def _check_word(self, index: int) -> int:
        """Return how many words were accepted, 0 if this one isn't known to be safe."""
        word = self._words[index]
        if self._program == "find" and word.is_literal and word.text in _FIND_EXEC_ACTIONS:
            return self._skip_exec(index)
        if word.text == "-" or word.cannot_be_option:
            return 1 if self._check_operand(word) else 0
        if self._accepts_any:
            self._add_path_word(word)
            return 1
        if not word.is_literal:
            return self._check_pattern_value(word)
        return self._check_option(index) if word.text else 0

    def _skip_exec(self, index: int) -> int:
        """Skip a command that `find` runs: the parser lists it on its own."""
        self._runs_others = True
        for end in range(index + 1, len(self._words)):
            if self._words[end].text in (";", "+"):
                return end - index + 1
        return len(self._words) - index

    def _check_option(self, index: int) -> int:
        text, options = self._words[index].text, self._safe_options.options
        if text in options:
            kind = options[text]
            return 1 if kind in ("none", "attached") else self._check_next(index, kind)
        if "-#" in options and _NEGATIVE_NUMBER.fullmatch(text):
            return 1
        name, equals, value = text.partition("=")
        if equals and options.get(name, "none") != "none":
            return self._accept_value(Word(value, "literal", value), options[name])
        if text.startswith("--"):
            return 0
        kind = options.get(text[:2], "none")
        if kind != "none":
            return self._accept_value(Word(text[2:], "literal", text[2:]), kind)
        return 1 if self._is_flag_cluster(text) else 0

    def _check_pattern_value(self, word: Word) -> int:
        """Accept `--include=*.py`, which stays this option, whatever the shell expands it to."""
        name, equals, value = word.prefix.partition("=")
        if not equals or not word.text.startswith(word.prefix):
            return 0
        kind = self._safe_options.options.get(name, "none")
        rest = Word(word.text[len(name) + 1 :], word.kind, value)
        return self._accept_value(rest, kind) if kind != "none" else 0

    def _is_flag_cluster(self, text: str) -> bool:
        """Return whether `-abc` is `-a -b -c`, none of which takes a value."""
        options = self._safe_options.options
        return (
            "words" not in self._safe_options.traits
            and len(text) > 2
            and all(options.get(f"-{letter}") == "none" for letter in text[1:])
        )

    def _check_next(self, index: int, kind: ValueKind) -> int:
        if index + 1 >= len(self._words):
            return 0
        value = self._words[index + 1]
        if index + 1 < self._n_known:
            return 2
        is_number = value.is_literal and _NEGATIVE_NUMBER.fullmatch(value.text) is not None
        may_be_option = (
            not is_number and not value.cannot_be_option and not (value.is_single and kind == "text")
        )
        if may_be_option and value.text:
            return 0
        return 2 if self._accept_value(value, kind) else 0

    def _accept_value(self, value: Word, kind: ValueKind) -> int:
        if value.prefix.startswith("@"):  # `curl -H @FILE` reads a file
            return 0
        if kind == "path":
            self._path_words.append(value)
        return 1

    def _check_operand(self, word: Word) -> bool:
        traits = self._safe_options.traits
        self._n_operands += 1
        if "one" in traits and (self._n_operands > 1 or not (word.is_literal or word.is_single)):
            return False
        if "none" in traits:
            return word.is_literal and _NUMBER.fullmatch(word.text) is not None
        if "url" in traits:
            return word.is_literal and _URL.fullmatch(word.text) is not None
        if word.prefix.startswith("-") and word.text != "-":
            return False
        if "tests" in traits and not self._may_run(word):
            return False
        if self._program == "tar" and self._n_operands == 1 and not self._is_tar_mode(word):
            return False
        if self._program == "jq" and self._n_operands == 1:
            return word.is_literal and _JQ_KEYWORDS.search(word.text) is None
        if word.prefix.startswith("@") and "text" not in traits:
            return False  # many programs read options from such a file
        self._add_path_word(word)
        return True

    def _add_path_word(self, word: Word) -> None:
        if "text" not in self._safe_options.traits and word.text != "-":
            self._path_words.append(word)

    def _may_run(self, word: Word) -> bool:
        """Return whether an operand names tests, or the rule's own words end the options for the user."""
        if any(known.text == "--" for known in self._words[: self._n_known]):
            return True
        traits = self._safe_options.traits
        return names_tests(word, folders="folders" in traits, modules="modules" in traits)

    def _is_tar_mode(self, word: Word) -> bool:
        """Return whether `word` is an option or, as tar's first argument, letters that are known."""
        is_first = self._words[self._start : self._start + 1] == (word,)
        return not is_first or (word.is_literal and _TAR_LETTERS.fullmatch(word.text) is not None)


def _skip_global_options(words: Sequence[Word], start: int) -> int:
    """Return the index of git's subcommand. Other checks look at the directory of `-C`."""
    while start < len(words) and words[start].is_literal:
        if words[start].text == "-C":
            start += 2
        elif words[start].text in GIT_GLOBAL_FLAGS:
            start += 1
        else:
            break
    return start


def _special_prefix(command: SimpleCommand) -> tuple[str, ...] | None:
    texts = tuple(word.text for word in command.words)
    if command.program == "sed":
        return texts[:2] if texts[1:2] == ("-n",) else None
    return texts[:1]


def _program_index(words: Sequence[Word]) -> int:
    """Return the index of the program that `uv run`, `python -m` and similar prefixes run."""
    texts = tuple(word.text if word.is_literal else "" for word in words[:6])
    at = 0
    while at < len(texts):
        program = texts[at].rpartition("/")[2]
        runner = next((each for each in COMMAND_RUNNERS if texts[at : at + len(each)] == each), None)
        if runner is not None:
            at += len(runner)
        elif is_python(program) and texts[at + 1 : at + 2] == ("-m",):
            return at + 2
        else:
            return at
    return at


@lru_cache(maxsize=512)
def _parse_entry(key: str) -> SafeOptions | None:
    text = SAFE_OPTIONS.get(key)
    if text is None:
        return None
    tokens = text.split()
    traits = frozenset(token[1:] for token in tokens if token.startswith("@"))
    options: dict[str, ValueKind] = {}
    for token in tokens:
        if not token.startswith("@"):
            kind = _VALUE_KINDS.get(token[-1], "none")
            options[token if kind == "none" else token[:-1]] = kind
    return SafeOptions(tuple(key.split()), options, traits)


@lru_cache(maxsize=1)
def _known_programs() -> frozenset[str]:
    return frozenset(key.partition(" ")[0] for key in SAFE_OPTIONS)
