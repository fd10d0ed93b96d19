"""Git commands that only read the repository."""

import re
from collections.abc import Callable, Mapping, Sequence

from kimi_tui.permission.bash.simple_command import SimpleCommand, Word, literal_word
from kimi_tui.permission.safe_options import GIT_GLOBAL_FLAGS, CheckedArguments, check_arguments

_CONFIG_ACTIONS = frozenset({"--get", "--get-all", "--get-regexp", "--list", "-l", "get", "list"})
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
        elif option not in GIT_GLOBAL_FLAGS:
            return False
    if not words or not words[0].is_literal:
        return False
    if (check := _CHECKS.get(words[0].text)) is not None:
        return check(words[1:])
    checked = check_arguments(SimpleCommand((literal_word("git"), *words)), any_file=True)
    return isinstance(checked, CheckedArguments) and checked.safe_options.reads_only


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
        texts[0] in ("show", "exists") and not any(text.startswith("-") or not text for text in texts)
    )


def _is_remote_read_only(words: Sequence[Word]) -> bool:
    texts = [word.text if word.is_literal else "" for word in words]
    return texts in ([], ["-v"], ["--verbose"]) or (
        texts[0] == "get-url" and not any(text.startswith("-") or not text for text in texts)
    )


def _is_config_read_only(words: Sequence[Word]) -> bool:
    texts = [word.text if word.is_literal else "" for word in words]
    return (
        texts[:1] != []
        and texts[0] in _CONFIG_ACTIONS
        and not any(text.startswith("-") or not text for text in texts[1:])
    )


def _is_bisect_log(words: Sequence[Word]) -> bool:
    return [word.text for word in words] == ["log"]


_CHECKS: Mapping[str, Callable[[Sequence[Word]], bool]] = {
    "bisect": _is_bisect_log,
    "branch": lambda words: _is_list_command(words, _LIST_OPTIONS["branch"]),
    "config": _is_config_read_only,
    "reflog": _is_reflog_read_only,
    "remote": _is_remote_read_only,
    "tag": lambda words: _is_list_command(words, _LIST_OPTIONS["tag"]),
}
