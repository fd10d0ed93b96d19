"""Operands of test runners: whether they name the project's tests, or any other file that would be run."""

import re

from kimi_tui.permission.bash.simple_command import Word

_TEST_FOLDERS = frozenset({"__tests__", "spec", "specs", "test", "tests"})
_TEST_FILE = re.compile(r"(?:test|spec)_.*\.\w+|.*[._-](?:test|tests|spec)\.\w+")
"""The names that test runners look for. A wildcard of the shell expands within one name."""
_TEST_MODULE = re.compile(r"(?:tests?|test_\w+|\w+_tests?)(?:\.\w+)*")
_QUOTED = re.compile(r"[\\'\"{}~]")


def names_tests(word: Word, *, folders: bool = False, modules: bool = False) -> bool:
    """Return whether an operand names tests by the usual names, so that running it is running the tests.

    With `folders`, it may be any directory, and with `modules`, a Python module.
    """
    if word.kind == "unknown" or (not word.is_literal and _QUOTED.search(word.text)):
        return False
    if modules and word.is_literal and (word.text == "discover" or _TEST_MODULE.fullmatch(word.text)):
        return True
    path = word.text.partition("::")[0].rstrip("/")
    *parents, name = path.split("/")
    if ".." in parents or name == "..":
        return False
    if _TEST_FILE.fullmatch(name) or (not path.startswith("/") and not _TEST_FOLDERS.isdisjoint(parents)):
        return True
    return folders and word.is_literal and (name == "." or re.fullmatch(r"[\w-]+", name) is not None)
