"""Paths that a check's command mentions."""

import os
import re
import shlex
from collections.abc import Iterator

_INPUT_PROGRAMS = frozenset(
    {
        "bandit", "biome", "black", "cat", "cc", "cd", "clang", "clang-tidy", "echo", "eslint", "flake8",
        "g++", "gcc", "golangci-lint", "grep", "head", "isort", "javac", "ls", "mypy", "prettier", "pushd",
        "pylint", "pyright", "rg", "rubocop", "ruff", "rustc", "shellcheck", "tail", "tsc", "ty", "wc",
    }
)  # fmt: skip
"""Programs whose arguments are the code that they check or compile."""
_WRAPPERS = frozenset(
    {"-m", "env", "exec", "nice", "npx", "pipx", "poetry", "python", "python3", "run", "time", "uv"}
)
_SEPARATOR = re.compile(r"\s*(?:&&|\|\||[;|&\n()])\s*")


class NamedPaths:
    """Parts of a command that may be paths, including quoted ones."""

    def __init__(self, command: str) -> None:
        self.folders: list[str] = []
        """Directories that the command changes to, relative to the working directory."""
        self.inside: set[str] = set()
        """Paths relative to the working directory."""
        self.outside: set[str] = set()
        """Paths that are absolute or begin with `..` or `~`."""
        for part in _SEPARATOR.split(command):
            self._read_part(_split(part))

    def _read_part(self, words: list[str]) -> None:
        while words and (re.match(r"\w+=", words[0]) or words[0] in _WRAPPERS - {"python", "python3"}):
            words = words[1:]
        program = next((word for word in words if word not in _WRAPPERS), "").rpartition("/")[2]
        if program in ("cd", "pushd") and len(words) > 1:
            folder = os.path.normpath("/".join([*self.folders[-1:], words[1]]))
            if folder != "." and not folder.startswith(("/", "..", "~")):
                self.folders.append(folder)
        if program not in _INPUT_PROGRAMS:
            for word in words:
                for name in _names_in(word):
                    self._add(name)

    def _add(self, name: str) -> None:
        if name.startswith(("/", "..", "~")):
            self.outside.add(name)
            return
        self.inside.add(os.path.normpath(name))
        for folder in self.folders:
            path = os.path.normpath(f"{folder}/{name}")
            if not path.startswith(".."):
                self.inside.add(path)


def _split(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError:
        return command.split()


def _names_in(word: str) -> Iterator[str]:
    for part in re.split(r"[\s;&|()<>=\"'`$]+", word):
        name = part.partition("::")[0].rstrip("/")
        if name and name != "." and not name.startswith("-"):
            yield name
