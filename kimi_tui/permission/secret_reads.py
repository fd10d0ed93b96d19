"""Detection of commands that may show a file with secrets, which a wildcard rule must not allow."""

import glob
import os
import re
from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import islice
from pathlib import Path

from kimi_tui.base.secret_paths import is_private, is_secret
from kimi_tui.permission.bash.simple_command import SimpleCommand, Word
from kimi_tui.permission.recursive_reads import find_secrets, recursive_read_of
from kimi_tui.permission.writable_roots import WorkingDir

_PRINTING_PROGRAMS = frozenset(
    {
        "awk", "base32", "base64", "cat", "comm", "cut", "diff", "egrep", "fgrep", "fold", "grep", "head",
        "hexdump", "join", "jq", "less", "more", "nl", "od", "paste", "pr", "rev", "rg", "sed", "sort",
        "strings", "tac", "tail", "tr", "uniq", "xxd", "zcat",
    }
)  # fmt: skip
"""Programs that print files. Words that expand to file names only at run time count as well."""
_NAME_ONLY_PROGRAMS = frozenset(
    {
        "[", "basename", "cd", "chmod", "dirname", "echo", "file", "ls", "mkdir", "printf", "realpath", "rm",
        "stat", "test", "touch",
    }
)  # fmt: skip
"""Programs that never show the content of the files they are given."""
_INDIRECT_PROGRAMS = frozenset({"find", "git"})
"""Programs whose arguments may name files elsewhere: below a directory, or in a commit."""
_FIND_PLACEHOLDER = "{}"
_WORD_SEPARATORS = re.compile(r"[=:@,]")
_UNCERTAIN = re.compile(r"[{}\\'\"$`()]")
_MAX_FILES = 5_000


def may_show_secrets(
    command: SimpleCommand, folders: Collection[WorkingDir], *, may_read: Callable[[Path], bool]
) -> bool:
    """Return whether `command`, run in one of `folders`, names or finds a file likely to hold secrets.

    `may_read` says which files the user lets the model read. For recursive reads (`grep -r`), only the files
    that `recursive_reads.find_secrets` scans are considered.
    """
    words = [
        *(command.arguments if command.program not in _NAME_ONLY_PROGRAMS else ()),
        *_input_words(command),
    ]
    must_exist = command.program not in _INDIRECT_PROGRAMS
    for word in words:
        files = _expand_files(word, folders)
        if files is None:
            if command.program in _PRINTING_PROGRAMS and word.text != _FIND_PLACEHOLDER:
                return True
            continue
        for path in files:
            if must_exist and not os.path.lexists(path):
                continue
            real = Path(os.path.realpath(path))
            if (_is_secret_path(path) or _is_secret_path(real)) and not may_read(real):
                return True
    return _reads_secrets_recursively(command, folders, may_read)


def may_create_secrets(commands: Sequence[SimpleCommand], folders: Collection[WorkingDir]) -> bool:
    """Return whether one of `commands` would show a secret file that doesn't exist yet.

    An earlier command may create it.
    """
    words = (
        word
        for command in commands
        for word in (
            *(command.arguments if command.program in _PRINTING_PROGRAMS else ()),
            *_input_words(command),
        )
    )
    return any(
        not os.path.lexists(path) and _is_secret_path(path)
        for word in words
        if word.is_literal and re.search("[./]", word.text)  # other words are mostly search patterns
        for path in _expand_files(word, folders) or ()
    )


def _reads_secrets_recursively(
    command: SimpleCommand, folders: Collection[WorkingDir], may_read: Callable[[Path], bool]
) -> bool:
    recursive_read = recursive_read_of(command, name_only_programs=_NAME_ONLY_PROGRAMS)
    if recursive_read is None:
        return False
    if None in folders:
        return True
    roots: list[Path] = []
    for word in recursive_read.roots:
        files = _expand_files(word, folders)
        if files is None:
            return True
        roots += [path for path in files if path.exists()]
    if not roots and not recursive_read.requires_roots:  # the command names no directory that exists
        roots = [folder for folder in folders if folder is not None]
    return any(not may_read(path.resolve()) for path in find_secrets(recursive_read, roots))


def _input_words(command: SimpleCommand) -> Iterable[Word]:
    return (each.target for each in command.redirections if each.reads)


def _is_secret_path(path: Path) -> bool:
    return is_private(path) or is_secret(str(path / "x"))


def _expand_files(word: Word, folders: Collection[WorkingDir]) -> Iterable[Path] | None:
    """Return the files that `word` may name, also as an option's value; None if they aren't known."""
    if None in folders:
        return None
    known = [folder for folder in folders if folder is not None]
    if word.is_literal:
        return [folder / name for folder in known for name in _path_candidates(word.text)]
    if word.kind != "pattern" or _UNCERTAIN.search(word.text):
        return None
    pattern = os.path.expanduser(word.text)  # noqa: PTH111
    files = [
        folder / name
        for folder in known
        for name in islice(glob.iglob(pattern, root_dir=folder), _MAX_FILES)  # noqa: PTH207
    ]
    return files if len(files) < _MAX_FILES else None


def _path_candidates(text: str) -> Iterable[str]:
    """Yield the possible paths in a word: `.env`, `--file=.env`, `-f.env`, `@.env`, `HEAD:.env`."""
    if "\0" in text or len(text) > os.pathconf("/", "PC_PATH_MAX"):
        return
    yield text
    if re.match(r"-[^-].", text):
        yield text[2:]
    for separator in _WORD_SEPARATORS.finditer(text):
        if rest := text[separator.end() :]:
            yield rest
