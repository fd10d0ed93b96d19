"""Git commands that only read the repository."""

import re
from collections.abc import Callable, Mapping, Sequence, Set

from kimi_tui.permission.bash.simple_command import Word
from kimi_tui.permission.write_targets import is_option

GLOBAL_FLAGS = frozenset(
    {"--no-pager", "-P", "--no-optional-locks", "--literal-pathspecs", "--icase-pathspecs"}
)
_UNSAFE_OPTIONS = (
    "--output",
    "--ext-diff",
    "--open-files-in-pager",
    "--upload-pack",
    "--exec",
    "--filters",
)
"""Options of read-only subcommands that write a file or run a program. Abbreviations match as well."""

_READ_ONLY_SUBCOMMANDS = frozenset(
    {
        "blame", "cat-file", "check-attr", "check-ignore", "check-mailmap", "cherry", "count-objects",
        "describe", "diff", "diff-files", "diff-index", "diff-tree", "for-each-ref", "grep", "log",
        "ls-files", "ls-tree", "merge-base", "name-rev", "range-diff", "rev-list", "rev-parse", "shortlog",
        "show", "show-branch", "show-ref", "status", "var", "version", "whatchanged",
    }
)  # fmt: skip
_READ_ONLY_ACTIONS: Mapping[str, Set[str]] = {
    "bisect": {"log"},
    "config": {"--get", "--get-all", "--get-regexp", "--list", "-l", "get", "list"},
    "notes": {"list", "show"},
    "stash": {"list", "show"},
    "submodule": {"status", "summary"},
    "worktree": {"list"},
}
"""Subcommands that are read-only if their first argument is one of these words."""
_COMMON_LIST_OPTIONS = (
    r"|-l|--list|--no-column|--column|--ignore-case|--omit-empty|--(?:sort|format|color|column)=.*"
)
_LIST_OPTIONS = {
    "branch": re.compile(
        r"-[avr]+|--all|--remotes|--verbose|--show-current|--abbrev=\d+" + _COMMON_LIST_OPTIONS, re.DOTALL
    ),
    "tag": re.compile(r"-n\d*" + _COMMON_LIST_OPTIONS, re.DOTALL),
}
"""Options that only control how items are listed."""
_FILTER_OPTION = re.compile(r"--(?:no-)?(?:contains|merged)|--points-at")
"""Options that imply listing; each takes a commit."""
_REFLOG_OPTION = re.compile(r"-n|-?n?\d+|--date=\S+|--oneline")


def is_git_read_only(arguments: Sequence[Word]) -> bool:
    """Return whether `git` with these arguments only reads."""
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
    if (check := _CHECKS.get(subcommand)) is not None:
        return check(rest)
    if (actions := _READ_ONLY_ACTIONS.get(subcommand)) is not None:
        return bool(rest) and rest[0].is_literal and rest[0].text in actions and _is_harmless(rest[1:])
    return subcommand in _READ_ONLY_SUBCOMMANDS and _is_harmless(rest, grep=subcommand == "grep")


def _is_harmless(words: Sequence[Word], *, grep: bool = False) -> bool:
    """Return whether no word is, or may expand to, an option that writes or runs something."""
    for word in words:
        if word.is_literal and word.text == "--":
            return True
        if word.cannot_be_option:
            continue
        if not word.is_literal:
            return False
        name = word.text.partition("=")[0]
        if any(is_option(name, unsafe) for unsafe in _UNSAFE_OPTIONS):
            return False
        if grep and re.match(r"-[A-Za-z]*O", word.text):
            return False
    return True


def _is_list_command(words: Sequence[Word], list_option: re.Pattern[str]) -> bool:
    """Return whether `git branch` or `git tag` with `words` lists. A name alone would be created."""
    texts = [word.text for word in words]
    if not all(word.is_literal for word in words):
        return False
    names_are_patterns = any(text in ("-l", "--list") or _FILTER_OPTION.match(text) for text in texts)
    return all(
        list_option.fullmatch(text)
        or _FILTER_OPTION.fullmatch(text.partition("=")[0])
        or (names_are_patterns and not text.startswith("-"))
        for text in texts
    )


def _is_reflog_read_only(words: Sequence[Word]) -> bool:
    texts = [word.text if word.is_literal else "" for word in words]
    return all(_REFLOG_OPTION.fullmatch(text) for text in texts) or (
        texts[0] in ("show", "exists") and _is_harmless(words[1:])
    )


def _is_remote_read_only(words: Sequence[Word]) -> bool:
    texts = [word.text if word.is_literal else "" for word in words]
    return texts in ([], ["-v"], ["--verbose"]) or (texts[0] == "get-url" and _is_harmless(words[1:]))


_CHECKS: Mapping[str, Callable[[Sequence[Word]], bool]] = {
    "branch": lambda words: _is_list_command(words, _LIST_OPTIONS["branch"]),
    "reflog": _is_reflog_read_only,
    "remote": _is_remote_read_only,
    "tag": lambda words: _is_list_command(words, _LIST_OPTIONS["tag"]),
}
