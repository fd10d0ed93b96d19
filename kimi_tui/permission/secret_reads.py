"""Detection of commands that may show a file with secrets, which a wildcard rule must not allow."""

import os
import re
from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path

from kimi_tui.base.secret_paths import is_credential, is_private, is_secret
from kimi_tui.permission.bash.simple_command import SimpleCommand, Word
from kimi_tui.permission.git_index import indexed_files
from kimi_tui.permission.named_files import expand_files, is_find_placeholder
from kimi_tui.permission.recursive_reads import find_secrets, recursive_read_of
from kimi_tui.permission.writable_roots import WorkingDir

PRINTING_PROGRAMS = frozenset(
    {
        "awk", "base32", "base64", "cat", "comm", "cut", "diff", "egrep", "fgrep", "fold", "grep", "head",
        "hexdump", "join", "jq", "less", "more", "nl", "od", "paste", "pr", "rev", "rg", "sed", "sort",
        "strings", "tac", "tail", "tr", "uniq", "xxd", "zcat",
    }
)  # fmt: skip
"""Programs that print files. Words that expand to file names only at run time count as well."""
NAME_ONLY_PROGRAMS = frozenset(
    {
        "[", "basename", "cd", "chmod", "dirname", "echo", "file", "ls", "mkdir", "printf", "realpath", "rm",
        "stat", "test", "touch",
    }
)  # fmt: skip
"""Programs that never show the content of the files they are given."""
_INDIRECT_PROGRAMS = frozenset({"find", "git"})
"""Programs whose arguments may name files elsewhere: below a directory, or in a commit."""


def may_show_secrets(
    command: SimpleCommand, folders: Collection[WorkingDir], *, may_read: Callable[[Path], bool]
) -> bool:
    """Return whether `command`, run in one of `folders`, names or finds a file likely to hold secrets.

    `may_read` says which files the user lets the model read. For recursive reads (`grep -r`), only the files
    that `recursive_reads.find_secrets` scans are considered.
    """
    words = [
        *(command.arguments if command.program not in NAME_ONLY_PROGRAMS else ()),
        *_input_words(command),
    ]
    must_exist = command.program not in _INDIRECT_PROGRAMS
    for word in words:
        files = expand_files(word, folders)
        if files is None:
            if command.program in PRINTING_PROGRAMS and not is_find_placeholder(word):
                return True
            continue
        for path in files:
            if must_exist and not os.path.lexists(path):
                continue
            real = Path(os.path.realpath(path))
            if (_is_secret_path(path) or _is_secret_path(real)) and not may_read(real):
                return True
    if any(is_credential(path.name) and not may_read(path) for path in indexed_files(command, folders)):
        return True
    return _reads_secrets_recursively(command, folders, may_read)


def named_files(command: SimpleCommand, folders: Collection[WorkingDir]) -> Iterable[Path]:
    """Yield the existing files and directories that `command` names, with links resolved."""
    if command.program in NAME_ONLY_PROGRAMS:
        return
    for word in (*command.arguments, *_input_words(command)):
        for path in expand_files(word, folders) or ():
            if os.path.lexists(path):
                yield Path(os.path.realpath(path))


def may_create_secrets(commands: Sequence[SimpleCommand], folders: Collection[WorkingDir]) -> bool:
    """Return whether one of `commands` would show a secret file that doesn't exist yet.

    An earlier command may create it.
    """
    words = (
        word
        for command in commands
        for word in (
            *(command.arguments if command.program in PRINTING_PROGRAMS else ()),
            *_input_words(command),
        )
    )
    return any(
        not os.path.lexists(path) and _is_secret_path(path)
        for word in words
        if word.is_literal and re.search("[./]", word.text)  # other words are mostly search patterns
        for path in expand_files(word, folders) or ()
    )


def _reads_secrets_recursively(
    command: SimpleCommand, folders: Collection[WorkingDir], may_read: Callable[[Path], bool]
) -> bool:
    recursive_read = recursive_read_of(command, name_only_programs=NAME_ONLY_PROGRAMS)
    if recursive_read is None:
        return False
    if None in folders:
        return True
    roots: list[Path] = []
    for word in recursive_read.roots:
        files = expand_files(word, folders)
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
