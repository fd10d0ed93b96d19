"""Programs and builtins whose arguments need a check of their own, such as `sed` and `printf`."""

import re
from collections.abc import Callable, Mapping, Sequence

from kimi_tui.permission.bash.simple_command import Word, is_script_variable

_PRINTF_STORE = re.compile(r"%[^%a-zA-Z]*[hlLjzt]*n")
"""The printf conversion that stores the number of characters written in the variable an argument names."""
_SED_PRINT_SCRIPT = re.compile(r"(?:(?:\d+|\$)(?:,(?:\+?\d+|\$))?p[; ]*)+|/[\w .-]+/p")
_SET_OPTION = re.compile(r"-[eux]*o?|pipefail")
_DATE_WORD = re.compile(r"\+.*|-[uR]|-I\w*|--(?:utc|universal|rfc-\w+|iso-8601)(?:=\w+)?", re.DOTALL)

PathWords = tuple[Word, ...]


def has_special_arguments(program: str) -> bool:
    """Return whether `special_path_words` knows `program`."""
    return program in _CHECKS


def special_path_words(program: str, arguments: Sequence[Word]) -> PathWords | None:
    """Return the words that may name files; None if the program may do more than read."""
    return _CHECKS[program](arguments)


def is_printf_safe(arguments: Sequence[Word]) -> bool:
    """Return whether printf only prints. `-v` and `%n` set a variable, such as PATH."""
    words = arguments[1:] if arguments and arguments[0].text == "--" else arguments
    if not words:
        return True
    format_word = words[0]
    if len(words) == len(arguments) and format_word.text.startswith("-"):
        return False
    return format_word.is_literal and _PRINTF_STORE.search(format_word.text.replace("%%", "")) is None


def _check_printf(arguments: Sequence[Word]) -> PathWords | None:
    return () if is_printf_safe(arguments) else None


def _check_sed(arguments: Sequence[Word]) -> PathWords | None:
    """Check that sed only prints lines. Its scripts can also write files and run commands."""
    options = [word.text for word in arguments if word.text.startswith("-")]
    operands = [word for word in arguments if not word.text.startswith("-")]
    is_safe = (
        "-n" in options
        and set(options) <= {"-n", "-E", "-r"}
        and bool(operands)
        and operands[0].is_literal
        and _SED_PRINT_SCRIPT.fullmatch(operands[0].text) is not None
        and all(word.is_literal or word.cannot_be_option for word in operands)
    )
    return tuple(operands[1:]) if is_safe else None


def _check_set(arguments: Sequence[Word]) -> PathWords | None:
    is_safe = bool(arguments) and all(
        word.is_literal and _SET_OPTION.fullmatch(word.text) for word in arguments
    )
    return () if is_safe else None


def _check_read(arguments: Sequence[Word]) -> PathWords | None:
    is_safe = all(
        word.is_literal and (word.text == "-r" or is_script_variable(word.text)) for word in arguments
    )
    return () if is_safe else None


def _check_wait(arguments: Sequence[Word]) -> PathWords | None:
    return () if all(word.text == "$!" or word.cannot_be_option for word in arguments) else None


def _check_test(arguments: Sequence[Word]) -> PathWords | None:
    """Refuse `-v` and `-R`: the subscript in the variable name may run commands."""
    is_safe = all(
        not word.text.startswith(("-v", "-R")) if word.is_literal else word.cannot_be_option
        for word in arguments
    )
    return () if is_safe else None


def _check_date(arguments: Sequence[Word]) -> PathWords | None:
    return () if all(word.is_literal and _DATE_WORD.fullmatch(word.text) for word in arguments) else None


_CHECKS: Mapping[str, Callable[[Sequence[Word]], PathWords | None]] = {
    "[": _check_test,
    "date": _check_date,
    "jobs": _check_wait,
    "printf": _check_printf,
    "read": _check_read,
    "sed": _check_sed,
    "set": _check_set,
    "test": _check_test,
    "wait": _check_wait,
}
