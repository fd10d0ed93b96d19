"""Whether a command may show a file that holds secrets: a wildcard must not stand for the user's consent."""

import glob
import os
import re
from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import islice
from pathlib import Path

from kimi_tui.base.secret_paths import is_private, is_secret
from kimi_tui.tools.permission.part import Part, Word
from kimi_tui.tools.permission.places import Folder
from kimi_tui.tools.permission.sweeps import secrets_below, sweep_of

_SHOWS = frozenset(
    {
        "awk", "base32", "base64", "cat", "comm", "cut", "diff", "egrep", "fgrep", "fold", "grep", "head",
        "hexdump", "join", "jq", "less", "more", "nl", "od", "paste", "pr", "rev", "rg", "sed", "sort",
        "strings", "tac", "tail", "tr", "uniq", "xxd", "zcat",
    }
)  # fmt: skip
"""Programs that print files: of these even words are asked for that turn into names only while they run."""
_NAMES_ONLY = frozenset(
    {
        "[", "basename", "cd", "chmod", "dirname", "echo", "file", "ls", "mkdir", "printf", "realpath", "rm",
        "stat", "test", "touch",
    }
)  # fmt: skip
"""Programs that never tell what is in the files that they are given."""
_NEEDS_NO_FILE = frozenset({"find", "git"})
"""Programs whose words mean files elsewhere: below a folder, in a commit."""
_FOUND = "{}"
_SEAMS = re.compile(r"[=:@,]")
_UNCERTAIN = re.compile(r"[{}\\'\"$`()]")
_MOST_FILES = 5_000


def may_show_secrets(part: Part, folders: Collection[Folder], *, consented: Callable[[Path], bool]) -> bool:
    """Whether `part`, run in one of `folders`, names or finds a file that is likely to hold secrets.

    `consented` says which files the user lets the model read. What is swept up from below a folder
    (`grep -r`) counts, as far as a short look shows (`sweeps`).
    """
    words = [*(part.arguments if part.program not in _NAMES_ONLY else ()), *_inputs(part)]
    must_exist = part.program not in _NEEDS_NO_FILE
    for word in words:
        files = _files(word, folders)
        if files is None:
            if part.program in _SHOWS and word.text != _FOUND:
                return True
            continue
        for path in files:
            if must_exist and not os.path.lexists(path):
                continue
            real = Path(os.path.realpath(path))
            if (_is_secret(path) or _is_secret(real)) and not consented(real):
                return True
    return _sweeps_up_secrets(part, folders, consented)


def names_secrets_to_come(parts: Sequence[Part], folders: Collection[Folder]) -> bool:
    """Whether one of `parts` would show a file of a secret's name that others may put there before."""
    shown = (part.arguments if part.program in _SHOWS else () for part in parts)
    words = (word for part, words in zip(parts, shown, strict=True) for word in (*words, *_inputs(part)))
    return any(
        not os.path.lexists(path) and _is_secret(path)
        for word in words
        if word.is_literal and re.search("[./]", word.text)  # others are mostly what grep looks for
        for path in _files(word, folders) or ()
    )


def _sweeps_up_secrets(part: Part, folders: Collection[Folder], consented: Callable[[Path], bool]) -> bool:
    sweep = sweep_of(part, tells_names_only=_NAMES_ONLY)
    if sweep is None:
        return False
    if None in folders:
        return True
    starts: list[Path] = []
    for word in sweep.roots:
        files = _files(word, folders)
        if files is None:
            return True
        starts += [path for path in files if path.exists()]
    if not starts and not sweep.only_roots:  # no folder was named, or what looked like one was something else
        starts = [folder for folder in folders if folder is not None]
    return any(not consented(path.resolve()) for path in secrets_below(sweep, starts))


def _inputs(part: Part) -> Iterable[Word]:
    return (each.target for each in part.redirections if each.reads)


def _is_secret(path: Path) -> bool:
    return is_private(path) or is_secret(str(path / "x"))


def _files(word: Word, folders: Collection[Folder]) -> Iterable[Path] | None:
    """The files that `word` may name, also as an option's value; None when that isn't known."""
    if None in folders:
        return None
    known = [folder for folder in folders if folder is not None]
    if word.is_literal:
        return [folder / name for folder in known for name in _names(word.text)]
    if word.kind != "pattern" or _UNCERTAIN.search(word.text):
        return None
    pattern = os.path.expanduser(word.text)  # noqa: PTH111
    found = [
        folder / name
        for folder in known
        for name in islice(glob.iglob(pattern, root_dir=folder), _MOST_FILES)  # noqa: PTH207
    ]
    return found if len(found) < _MOST_FILES else None


def _names(text: str) -> Iterable[str]:
    """What may be a path in a word: `.env`, `--file=.env`, `-f.env`, `@.env`, `HEAD:.env`."""
    if "\0" in text or len(text) > os.pathconf("/", "PC_PATH_MAX"):
        return
    yield text
    if re.match(r"-[^-].", text):
        yield text[2:]
    for seam in _SEAMS.finditer(text):
        if rest := text[seam.end() :]:
            yield rest
