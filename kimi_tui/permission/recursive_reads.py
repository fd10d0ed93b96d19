"""Commands that read all files below a directory: `grep -r`, `rg`, `diff -r`, `find … -exec cat {} +`."""

import os
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from itertools import pairwise
from pathlib import Path

from kimi_tui.base.frozen import frozen
from kimi_tui.base.secret_paths import is_secret
from kimi_tui.permission.bash.simple_command import SimpleCommand, Word
from kimi_tui.permission.write_targets import is_option, operands_of, option_values

_GREP_PROGRAMS = frozenset({"grep", "egrep", "fgrep", "zgrep"})
_RECURSIVE_PROGRAMS = frozenset({"ack", "ag", "rg", "rgrep"})
_COPY_PROGRAMS = frozenset({"cp", "install", "mv", "rsync", "scp", "zip"})
_TARGET_OPTIONS = frozenset({"-t", "--target-directory"})
_SKIPS_HIDDEN = frozenset({"ack", "ag", "rg"})
_PATTERN_OPTIONS = frozenset({"-e", "-f", "--regexp", "--file", "--files"})
_VALUED_OPTIONS = frozenset(
    {
        "-A", "-B", "-C", "-D", "-E", "-M", "-T", "-d", "-e", "-f", "-g", "-j", "-m", "-t", "--after-context",
        "--before-context", "--binary-files", "--color", "--colors", "--context", "--devices",
        "--directories", "--encoding", "--engine", "--exclude", "--exclude-dir", "--exclude-from", "--file",
        "--glob", "--iglob", "--include", "--label", "--max-columns", "--max-count", "--max-depth",
        "--max-filesize", "--regexp", "--sort", "--sortr", "--threads", "--type", "--type-not",
    }
)  # fmt: skip
"""Options of these programs that take a value."""
_FIND_EXEC_ACTIONS = frozenset({"-exec", "-execdir", "-ok", "-okdir"})
_FIND_OPERATORS = frozenset({"!", "-not", "-o", "-or", "(", ")", ","})
_SKIPPED_FOLDERS = frozenset(
    {
        ".git", ".hg", ".mypy_cache", ".ruff_cache", ".svn", ".tox", ".venv", "__pycache__", "node_modules",
        "site-packages", "venv",
    }
)  # fmt: skip
"""Directories of tools and third-party packages; their certificates and examples look like secrets."""
_CODE_SUFFIXES = (
    ".c", ".cc", ".cpp", ".css", ".go", ".h", ".html", ".java", ".js", ".kt", ".md", ".mjs", ".php", ".png",
    ".py", ".pyc", ".rb", ".rs", ".rst", ".scss", ".sh", ".svg", ".swift", ".ts", ".tsx", ".vue",
)  # fmt: skip
"""Suffixes of source files. They hold no secrets unless they're in a hidden directory or named like a key."""
_MAX_ENTRIES = 10_000
"""How many files and directories are checked, breadth first."""


@frozen
class RecursiveRead:
    """What a command reads recursively."""

    roots: tuple[Word, ...]
    """Directories to read; empty for the working directory."""
    include: tuple[str, ...] = ()
    """Name patterns. If there are any, only matching files are read."""
    exclude: tuple[str, ...] = ()
    """Name patterns of files and directories that are skipped."""
    skips_hidden: bool = False
    requires_roots: bool = False
    """Whether nothing is read if the roots don't exist."""


def recursive_read_of(command: SimpleCommand, *, name_only_programs: Collection[str]) -> RecursiveRead | None:
    """Return what `command` reads recursively; None if it only reads the files it names.

    `find` may run `name_only_programs` on any file: they don't show a file's content.
    """
    if command.program in _GREP_PROGRAMS or command.program in _RECURSIVE_PROGRAMS:
        return _parse_grep(command)
    if command.program == "diff" and _has_option(command.arguments, "r", "--recursive"):
        return RecursiveRead(tuple(operands_of(command.arguments, _VALUED_OPTIONS)))
    if command.program in _COPY_PROGRAMS:  # a later command may read the copy under its new name
        names = tuple(word for word in command.arguments if not word.prefix.startswith("-"))
        has_target_option = any(
            True for _ in option_values(command.arguments, _TARGET_OPTIONS, clusters=True)
        )
        return RecursiveRead(names if has_target_option else names[:-1], requires_roots=True)
    if command.program == "find" and _find_exec_programs(command.arguments) - set(name_only_programs):
        return _parse_find(command.arguments)
    return None


def find_secrets(recursive_read: RecursiveRead, roots: Iterable[Path]) -> Iterator[Path]:
    """Yield the files below `roots` that `recursive_read` covers and that are likely to hold secrets.

    Stops after `_MAX_ENTRIES` entries.
    """
    n_scanned = 0
    queue = list(roots)
    while queue and n_scanned < _MAX_ENTRIES:
        for entry in _scan_folder(queue.pop(0)):
            n_scanned += 1
            hidden = recursive_read.skips_hidden and entry.name.startswith(".")
            if hidden or any(fnmatchcase(entry.name, pattern) for pattern in recursive_read.exclude):
                continue
            if entry.is_dir(follow_symlinks=False):
                if entry.name not in _SKIPPED_FOLDERS:
                    queue.append(Path(entry.path))
            elif (
                entry.name.endswith(_CODE_SUFFIXES)
                and "/." not in entry.path
                and not entry.name.startswith("id_")
            ):
                continue
            elif is_secret(entry.path) and (
                not recursive_read.include
                or any(fnmatchcase(entry.name, pattern) for pattern in recursive_read.include)
            ):
                yield Path(entry.path)


def _scan_folder(folder: Path) -> Iterable["os.DirEntry[str]"]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except OSError:
        return ()


def _parse_grep(command: SimpleCommand) -> RecursiveRead | None:
    arguments = command.arguments
    if command.program in _GREP_PROGRAMS and not _is_recursive(arguments):
        return None
    has_pattern_option = any(
        any(is_option(word.prefix.partition("=")[0], option) for option in _PATTERN_OPTIONS)
        or re.match(r"-[A-Za-z]*[ef]", word.prefix)
        for word in arguments
    )
    operands = tuple(operands_of(arguments, _VALUED_OPTIONS))
    if not operands and not has_pattern_option:
        return None
    roots = operands if has_pattern_option else operands[1:]
    include = _option_patterns(arguments, {"--include"})
    exclude = _option_patterns(arguments, {"--exclude", "--exclude-dir"})
    if command.program not in _GREP_PROGRAMS:
        globs = _option_patterns(arguments, {"-g", "--glob", "--iglob"})
        include = tuple(each for each in globs if not each.startswith("!"))
        exclude = tuple(each[1:] for each in globs if each.startswith("!"))
    shows_hidden = command.program == "rgrep" or any(
        re.match(r"-[A-Za-z.]*[u.]|--(?:hidden|unres|no-ignore)", word.prefix) for word in arguments
    )
    return RecursiveRead(roots, include, exclude, command.program in _SKIPS_HIDDEN and not shows_hidden)


def _find_exec_programs(arguments: Sequence[Word]) -> set[str]:
    return {
        program.text.rpartition("/")[2]
        for word, program in pairwise(arguments)
        if word.text in _FIND_EXEC_ACTIONS
    }


def _parse_find(arguments: Sequence[Word]) -> RecursiveRead:
    roots: list[Word] = []
    for word in arguments:
        if word.text in ("-H", "-L", "-P"):
            continue
        if word.prefix.startswith("-") or word.text in _FIND_OPERATORS:
            break
        roots.append(word)
    if any(word.text in _FIND_OPERATORS for word in arguments):
        return RecursiveRead(tuple(roots))
    return RecursiveRead(tuple(roots), _option_patterns(arguments, {"-name"}))


def _option_patterns(arguments: Sequence[Word], names: set[str]) -> tuple[str, ...]:
    """Return the values of the options `names`; empty if one of them isn't known."""
    values = list(option_values(arguments, names))
    known = all(word.kind != "unknown" and not re.search(r"[\\'\"{/]", word.text) for word in values)
    return tuple(word.text for word in values) if known else ()


def _is_recursive(arguments: Sequence[Word]) -> bool:
    return (
        _has_option(arguments, "r", "--recursive")
        or _has_option(arguments, "R", "--dereference-recursive")
        or any(word.text == "recurse" for word in option_values(arguments, {"-d", "--directories"}))
    )


def _has_option(arguments: Sequence[Word], letter: str, name: str) -> bool:
    return any(
        is_option(word.prefix, name)
        or (re.match(r"-[A-Za-z]", word.prefix) is not None and letter in word.prefix)
        for word in arguments
    )
