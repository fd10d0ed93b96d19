"""Directories that a session may change freely, and the protected files in them."""

import os
import re
from collections.abc import Collection, Iterable
from pathlib import Path

from kimi_tui.base.frozen import frozen
from kimi_tui.base.paths import data_dir
from kimi_tui.permission.bash.simple_command import SimpleCommand, Word
from kimi_tui.permission.git_later_programs import reason_for_writing

_HARMLESS_DEVICE = re.compile(r"/dev/(?:null|zero|full|tty|stdin|stdout|stderr|fd/\d+)")
_NETWORK_FILES = ("/dev/tcp/", "/dev/udp/")
_PLAIN_HOME_PATH = re.compile(r"~(?:/[\w./ @%+=:,-]*)?")
_SHELL_FILES = frozenset(
    {
        ".bash_aliases", ".bash_login", ".bash_logout", ".bash_profile", ".bashrc", ".cshrc", ".kshrc",
        ".login", ".netrc", ".profile", ".tcshrc", ".xinitrc", ".xprofile", ".zlogin", ".zprofile",
        ".zshenv", ".zshrc",
    }
)  # fmt: skip
_HOME_FOLDERS = (
    (".ssh",),
    (".gnupg",),
    (".config", "fish"),
    (".config", "autostart"),
    ("library", "launchagents"),
)

_MAX_FOLDERS = 20
WorkingDir = Path | None
"""A directory in which a command may run; None if it isn't known."""


@frozen
class WritableRoots:
    """Directories that a session may change freely, with symbolic links resolved."""

    work_dir: Path
    additional_dirs: tuple[Path, ...] = ()

    @classmethod
    def resolve(cls, work_dir: Path, additional_dirs: Iterable[Path] = ()) -> "WritableRoots":
        """Return the roots with symbolic links resolved."""
        return cls(_real_path(work_dir), tuple(_real_path(folder) for folder in additional_dirs))

    def contains(self, path: Path) -> bool:
        """Return whether `path`, with links resolved, is in one of the directories."""
        return any(path.is_relative_to(root) for root in (self.work_dir, *self.additional_dirs))

    def working_dirs_of(self, commands: Iterable[SimpleCommand]) -> tuple[WorkingDir, ...]:
        """Return every directory in which one of `commands` may run."""
        folders: list[WorkingDir] = [self.work_dir]
        for command in commands:
            if command.program in ("pushd", "popd"):
                return (*folders, None)
            if command.program == "cd":
                operands = [word for word in command.arguments if word.text not in ("-L", "-P", "--")]
                targets = self.resolve_word(operands[0], folders) if operands else (_real_path(Path.home()),)
                if targets is None or (operands and operands[0].text == "-"):
                    return (*folders, None)
                folders.extend(target for target in targets if target not in folders)
                if len(folders) > _MAX_FOLDERS:
                    return (*folders[:_MAX_FOLDERS], None)
        return tuple(folders)

    def resolve_word(self, word: Word, folders: Collection[WorkingDir]) -> tuple[Path, ...] | None:
        """Return the files or directories that `word` may name; None if they aren't known.

        For a pattern, this is the directory it matches in.
        """
        path = _word_path(word)
        if path is None:
            return None
        if path.startswith("/"):
            return (_real_path(Path(path)),)
        if None in folders:
            return None
        return tuple({_real_path(folder / path): None for folder in folders if folder is not None})

    def may_write(self, word: Word, folders: Collection[WorkingDir]) -> bool:
        """Return whether a write to `word` is known to stay in the directories and off protected files."""
        if is_harmless_device(word):
            return True
        targets = self.resolve_word(word, folders)
        return targets is not None and all(
            self.contains(path) and not protected_reason(path) for path in targets
        )


def is_harmless_device(word: Word) -> bool:
    """Return whether `word` is a file descriptor, `/dev/null` or a similar device."""
    return word.prefix.startswith("/dev/fd/") or (
        word.is_literal and _HARMLESS_DEVICE.fullmatch(word.text) is not None
    )


def is_network_file(word: Word) -> bool:
    """Return whether bash opens a connection for a redirection to `word`, such as `/dev/tcp/HOST/PORT`."""
    return word.prefix.startswith(_NETWORK_FILES)


def may_be_network_file(word: Word) -> bool:
    """Return whether a redirection to `word` may expand to one that opens a connection."""
    if is_network_file(word):
        return True
    return not word.is_literal and any(name.startswith(word.prefix) for name in _NETWORK_FILES)


def protected_reason(path: Path) -> str:
    """Return why `path`, with links resolved, is protected wherever it is; empty if it isn't. Blocks."""
    parts = path.as_posix().casefold().split("/")  # some file systems ignore case
    home = _real_path(Path.home())
    if path.is_relative_to(home):
        relative = tuple(part.casefold() for part in path.relative_to(home).parts)
        if len(relative) == 1 and relative[0] in _SHELL_FILES:
            return "changes a shell profile"
        if any(relative[: len(folder)] == folder for folder in _HOME_FOLDERS):
            return f"changes ~/{relative[0]}"
    if ".git" in parts:  # includes a `.git` file, which points to the repository
        return "changes git's own files"
    if ".kimi-tui" in parts[:-1] or path.is_relative_to(_real_path(data_dir())):
        return "changes kimi-tui's own files"
    if path.is_relative_to("/dev") and path.parent != Path("/dev/shm"):  # noqa: S108
        return "writes to a device"
    return reason_for_writing(path)


def _word_path(word: Word) -> str | None:
    """Return the path that `word` names, or for a pattern the directory it matches in; None if unknown."""
    if word.is_literal:
        return word.text
    if word.kind == "unknown" or ".." in word.text or ("{" in word.text and not word.prefix):
        return None
    if word.text.startswith("~"):
        if _PLAIN_HOME_PATH.fullmatch(word.text) is None:
            return None
        return str(Path(word.text).expanduser())
    return word.prefix.rpartition("/")[0] or ("/" if word.prefix.startswith("/") else ".")


def _real_path(path: Path) -> Path:
    try:
        return Path(os.path.realpath(path))
    except ValueError:  # a NUL byte
        return path
