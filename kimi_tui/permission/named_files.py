"""Files that an argument of a command may name."""

import glob
import os
import re
from collections.abc import Collection, Iterable
from itertools import islice
from pathlib import Path

from kimi_tui.permission.bash.simple_command import FIND_PLACEHOLDER, Word
from kimi_tui.permission.writable_roots import WorkingDir

_WORD_SEPARATORS = re.compile(r"[=:@,]")
_UNCERTAIN = re.compile(r"[{}\\'\"$`()]")
_URL = re.compile(r"(?!file:)[a-z][a-z+]*://", re.IGNORECASE)
_MAX_FILES = 5_000


def is_find_placeholder(word: Word) -> bool:
    """Return whether `word` stands for the files that `find` found, in a command it runs."""
    return word.text == FIND_PLACEHOLDER and word.prefix == FIND_PLACEHOLDER and not word.is_literal


def expand_files(word: Word, folders: Collection[WorkingDir]) -> list[Path] | None:
    """Return the files that `word` may name, also as an option's value; None if they aren't known."""
    if None in folders:
        return None
    known = [folder for folder in folders if folder is not None]
    if word.is_literal:
        return [folder / name for folder in known for name in _path_candidates(word.text)]
    if word.kind != "pattern" or _UNCERTAIN.search(word.text):
        return None
    pattern = os.path.expanduser(word.text)  # noqa: PTH111
    if pattern.startswith("~"):
        return None  # a user that isn't known
    files = [
        folder / name
        for folder in known
        for name in islice(glob.iglob(pattern, root_dir=folder), _MAX_FILES)  # noqa: PTH207
    ]
    if not files:
        return [folder / pattern for folder in known]  # the shell passes it on as it is
    return files if len(files) < _MAX_FILES else None


def _path_candidates(text: str) -> Iterable[str]:
    """Yield the possible paths in a word: `.env`, `--file=.env`, `-f.env`, `@.env`, `HEAD:.env`."""
    if "\0" in text or len(text) > os.pathconf("/", "PC_PATH_MAX"):
        return
    yield text
    if _URL.match(text):
        return
    if re.match(r"-[^-].", text):
        yield text[2:]
    for separator in _WORD_SEPARATORS.finditer(text):
        if rest := text[separator.end() :]:
            yield rest
