"""What of git only reads the repository."""

import re
from collections.abc import Callable, Mapping, Sequence, Set

from kimi_tui.tools.permission.part import Word
from kimi_tui.tools.permission.writes import is_option

GLOBAL_FLAGS = frozenset(
    {"--no-pager", "-P", "--no-optional-locks", "--literal-pathspecs", "--icase-pathspecs"}
)
_WRITING_OR_RUNNING = (
    "--output",
    "--ext-diff",
    "--open-files-in-pager",
    "--upload-pack",
    "--exec",
    "--filters",
)
"""Options of reading subcommands that write a file or run a program, abbreviations too."""

_SHOWING = frozenset(
    {
        "blame", "cat-file", "check-attr", "check-ignore", "check-mailmap", "cherry", "count-objects",
        "describe", "diff", "diff-files", "diff-index", "diff-tree", "for-each-ref", "grep", "log",
        "ls-files", "ls-tree", "merge-base", "name-rev", "range-diff", "rev-list", "rev-parse", "shortlog",
        "show", "show-branch", "show-ref", "status", "var", "version", "whatchanged",
    }
)  # fmt: skip
_FIRST_WORDS: Mapping[str, Set[str]] = {
    "bisect": {"log"},
    "config": {"--get", "--get-all", "--get-regexp", "--list", "-l", "get", "list"},
    "notes": {"list", "show"},
    "stash": {"list", "show"},
    "submodule": {"status", "summary"},
    "worktree": {"list"},
}
"""Subcommands that only read when one of these words comes first."""
_OF_BOTH = r"|-l|--list|--no-column|--column|--ignore-case|--omit-empty|--(?:sort|format|color|column)=.*"
_LISTING = {
    "branch": re.compile(
        r"-[avr]+|--all|--remotes|--verbose|--show-current|--abbrev=\d+" + _OF_BOTH, re.DOTALL
    ),
    "tag": re.compile(r"-n\d*" + _OF_BOTH, re.DOTALL),
}
"""Options that only say how to list."""
_FILTER = re.compile(r"--(?:no-)?(?:contains|merged)|--points-at")
"""Options that mean a list, with a commit after them."""
_REFLOG = re.compile(r"-n|-?n?\d+|--date=\S+|--oneline")


def git_only_reads(arguments: Sequence[Word]) -> bool:
    """Whether `git` with these arguments only reads."""
    words = list(arguments)
    while words and words[0].is_literal and words[0].text.startswith("-"):
        option = words.pop(0).text
        if option == "-C" and words and words[0].is_literal:
            words.pop(0)
        elif option == "--version" and not words:
            return True
        elif option not in GLOBAL_FLAGS:
            return False
    if not words or not words[0].is_literal:
        return False
    subcommand, rest = words[0].text, words[1:]
    if (judge := _JUDGES.get(subcommand)) is not None:
        return judge(rest)
    if (first := _FIRST_WORDS.get(subcommand)) is not None:
        return bool(rest) and rest[0].is_literal and rest[0].text in first and _is_harmless(rest[1:])
    return subcommand in _SHOWING and _is_harmless(rest, grep=subcommand == "grep")


def _is_harmless(words: Sequence[Word], *, grep: bool = False) -> bool:
    """Whether no word is, or may become, an option that writes or runs something."""
    for word in words:
        if word.is_literal and word.text == "--":
            return True
        if word.cannot_be_option:
            continue
        if not word.is_literal:
            return False
        name = word.text.partition("=")[0]
        if any(is_option(name, refused) for refused in _WRITING_OR_RUNNING):
            return False
        if grep and re.match(r"-[A-Za-z]*O", word.text):
            return False
    return True


def _lists(words: Sequence[Word], listing: re.Pattern[str]) -> bool:
    """Whether `git branch` or `git tag` with `words` lists: a name alone would be created."""
    texts = [word.text for word in words]
    if not all(word.is_literal for word in words):
        return False
    names_are_patterns = any(text in ("-l", "--list") or _FILTER.match(text) for text in texts)
    return all(
        listing.fullmatch(text)
        or _FILTER.fullmatch(text.partition("=")[0])
        or (names_are_patterns and not text.startswith("-"))
        for text in texts
    )


def _shows_reflog(words: Sequence[Word]) -> bool:
    texts = [word.text if word.is_literal else "" for word in words]
    return all(_REFLOG.fullmatch(text) for text in texts) or (
        texts[0] in ("show", "exists") and _is_harmless(words[1:])
    )


def _shows_remotes(words: Sequence[Word]) -> bool:
    texts = [word.text if word.is_literal else "" for word in words]
    return texts in ([], ["-v"], ["--verbose"]) or (texts[0] == "get-url" and _is_harmless(words[1:]))


_JUDGES: Mapping[str, Callable[[Sequence[Word]], bool]] = {
    "branch": lambda words: _lists(words, _LISTING["branch"]),
    "reflog": _shows_reflog,
    "remote": _shows_remotes,
    "tag": lambda words: _lists(words, _LISTING["tag"]),
}
