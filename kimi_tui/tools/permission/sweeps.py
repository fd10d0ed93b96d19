"""Commands that read whatever lies below a folder: `grep -r`, `rg`, `diff -r`, `find … -exec cat {} +`."""

import os
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from itertools import pairwise
from pathlib import Path

from kimi_tui.base.secret_paths import is_secret
from kimi_tui.base.value import value
from kimi_tui.tools.permission.part import Part, Word
from kimi_tui.tools.permission.writes import is_option, operands_of, option_values

_GREPS = frozenset({"grep", "egrep", "fgrep", "zgrep"})
_RECURSIVE_BY_NATURE = frozenset({"ack", "ag", "rg", "rgrep"})
_CARRIERS = frozenset({"cp", "install", "mv", "rsync", "scp", "zip"})
_TARGET_OPTIONS = frozenset({"-t", "--target-directory"})
_SKIP_HIDDEN = frozenset({"ack", "ag", "rg"})
_PATTERN_OPTIONS = frozenset({"-e", "-f", "--regexp", "--file", "--files"})
_VALUED = frozenset(
    {
        "-A", "-B", "-C", "-D", "-E", "-M", "-T", "-d", "-e", "-f", "-g", "-j", "-m", "-t", "--after-context",
        "--before-context", "--binary-files", "--color", "--colors", "--context", "--devices",
        "--directories", "--encoding", "--engine", "--exclude", "--exclude-dir", "--exclude-from", "--file",
        "--glob", "--iglob", "--include", "--label", "--max-columns", "--max-count", "--max-depth",
        "--max-filesize", "--regexp", "--sort", "--sortr", "--threads", "--type", "--type-not",
    }
)  # fmt: skip
"""Options of them that take a word each."""
_FIND_RUNS = frozenset({"-exec", "-execdir", "-ok", "-okdir"})
_FIND_JOINS = frozenset({"!", "-not", "-o", "-or", "(", ")", ","})
_LEFT_OUT = frozenset(
    {
        ".git", ".hg", ".mypy_cache", ".ruff_cache", ".svn", ".tox", ".venv", "__pycache__", "node_modules",
        "site-packages", "venv",
    }
)  # fmt: skip
"""Folders of tools and of other people's packages, whose certificates and examples look like secrets."""
_CODE = (
    ".c", ".cc", ".cpp", ".css", ".go", ".h", ".html", ".java", ".js", ".kt", ".md", ".mjs", ".php", ".png",
    ".py", ".pyc", ".rb", ".rs", ".rst", ".scss", ".sh", ".svg", ".swift", ".ts", ".tsx", ".vue",
)  # fmt: skip
"""Endings of most files of a project, which hold no secret but in hidden folders or under a name of one."""
_MOST_ENTRIES = 10_000
"""How many files and folders are looked at, the nearest first."""


@value
class Sweep:
    """What a command reads below its folders."""

    roots: tuple[Word, ...]
    """The folders; none for the one that it runs in."""
    only: tuple[str, ...] = ()
    """Patterns of names: nothing else is read, if there are some."""
    left_out: tuple[str, ...] = ()
    """Patterns of names of files and folders that are not."""
    skips_hidden: bool = False
    only_roots: bool = False
    """Whether it reads nothing when the roots aren't there."""


def sweep_of(part: Part, *, tells_names_only: Collection[str]) -> Sweep | None:
    """What `part` reads below folders; None when it reads only the files that it names.

    Programs that `tells_names_only` may be run by `find` on whatever it comes by.
    """
    if part.program in _GREPS or part.program in _RECURSIVE_BY_NATURE:
        return _of_grep(part)
    if part.program == "diff" and _has_letter(part.arguments, "r", "--recursive"):
        return Sweep(tuple(operands_of(part.arguments, _VALUED)))
    if part.program in _CARRIERS:  # what is copied under another name may be shown by that
        names = tuple(word for word in part.arguments if not word.lead.startswith("-"))
        into = any(True for _ in option_values(part.arguments, _TARGET_OPTIONS, clusters=True))
        return Sweep(names if into else names[:-1], only_roots=True)
    if part.program == "find" and _run_by_find(part.arguments) - set(tells_names_only):
        return _of_find(part.arguments)
    return None


def secrets_below(sweep: Sweep, starts: Iterable[Path]) -> Iterator[Path]:
    """The files likely to hold secrets that `sweep` comes by below `starts`, as far as a short look shows."""
    seen = 0
    waiting = list(starts)
    while waiting and seen < _MOST_ENTRIES:
        for entry in _entries(waiting.pop(0)):
            seen += 1
            hidden = sweep.skips_hidden and entry.name.startswith(".")
            if hidden or any(fnmatchcase(entry.name, pattern) for pattern in sweep.left_out):
                continue
            if entry.is_dir(follow_symlinks=False):
                if entry.name not in _LEFT_OUT:
                    waiting.append(Path(entry.path))
            elif entry.name.endswith(_CODE) and "/." not in entry.path and not entry.name.startswith("id_"):
                continue
            elif is_secret(entry.path) and (
                not sweep.only or any(fnmatchcase(entry.name, pattern) for pattern in sweep.only)
            ):
                yield Path(entry.path)


def _entries(folder: Path) -> Iterable["os.DirEntry[str]"]:
    try:
        with os.scandir(folder) as found:
            return sorted(found, key=lambda entry: entry.name)
    except OSError:
        return ()


def _of_grep(part: Part) -> Sweep | None:
    arguments = part.arguments
    if part.program in _GREPS and not _recurses(arguments):
        return None
    names_pattern = any(
        any(is_option(word.lead.partition("=")[0], option) for option in _PATTERN_OPTIONS)
        or re.match(r"-[A-Za-z]*[ef]", word.lead)
        for word in arguments
    )
    operands = tuple(operands_of(arguments, _VALUED))
    if not operands and not names_pattern:
        return None
    roots = operands if names_pattern else operands[1:]
    only, left_out = _patterns(arguments, {"--include"}), _patterns(arguments, {"--exclude", "--exclude-dir"})
    if part.program not in _GREPS:
        globs = _patterns(arguments, {"-g", "--glob", "--iglob"})
        only = tuple(each for each in globs if not each.startswith("!"))
        left_out = tuple(each[1:] for each in globs if each.startswith("!"))
    shows_hidden = part.program == "rgrep" or any(
        re.match(r"-[A-Za-z.]*[u.]|--(?:hidden|unres|no-ignore)", word.lead) for word in arguments
    )
    return Sweep(roots, only, left_out, part.program in _SKIP_HIDDEN and not shows_hidden)


def _run_by_find(arguments: Sequence[Word]) -> set[str]:
    return {
        program.text.rpartition("/")[2] for word, program in pairwise(arguments) if word.text in _FIND_RUNS
    }


def _of_find(arguments: Sequence[Word]) -> Sweep:
    roots: list[Word] = []
    for word in arguments:
        if word.text in ("-H", "-L", "-P"):
            continue
        if word.lead.startswith("-") or word.text in _FIND_JOINS:
            break
        roots.append(word)
    if any(word.text in _FIND_JOINS for word in arguments):
        return Sweep(tuple(roots))
    return Sweep(tuple(roots), _patterns(arguments, {"-name"}))


def _patterns(arguments: Sequence[Word], names: set[str]) -> tuple[str, ...]:
    """The values of the options `names`; none when one of them isn't known."""
    values = list(option_values(arguments, names))
    known = all(word.kind != "unknown" and not re.search(r"[\\'\"{/]", word.text) for word in values)
    return tuple(word.text for word in values) if known else ()


def _recurses(arguments: Sequence[Word]) -> bool:
    return (
        _has_letter(arguments, "r", "--recursive")
        or _has_letter(arguments, "R", "--dereference-recursive")
        or any(word.text == "recurse" for word in option_values(arguments, {"-d", "--directories"}))
    )


def _has_letter(arguments: Sequence[Word], letter: str, name: str) -> bool:
    return any(
        is_option(word.lead, name) or (re.match(r"-[A-Za-z]", word.lead) is not None and letter in word.lead)
        for word in arguments
    )
