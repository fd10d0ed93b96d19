"""The folders that a session may change freely, and what in them is protected."""

import os
import re
from collections.abc import Collection, Iterable
from pathlib import Path

from kimi_tui.base.paths import share_dir
from kimi_tui.base.value import value
from kimi_tui.tools.permission.part import Part, Word

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

_MOST_FOLDERS = 20
Folder = Path | None
"""A folder in which a command may run; None when it isn't known."""


@value
class Places:
    """The folders that a session may change freely, symbolic links resolved."""

    work_dir: Path
    additional_dirs: tuple[Path, ...] = ()

    @classmethod
    def of(cls, work_dir: Path, additional_dirs: Iterable[Path] = ()) -> "Places":
        """The places below these folders."""
        return cls(_real(work_dir), tuple(_real(folder) for folder in additional_dirs))

    def holds(self, path: Path) -> bool:
        """Whether `path`, links resolved, lies within."""
        return any(path.is_relative_to(root) for root in (self.work_dir, *self.additional_dirs))

    def folders_of(self, parts: Iterable[Part]) -> tuple[Folder, ...]:
        """Every folder that a command among `parts` may run in."""
        folders: list[Folder] = [self.work_dir]
        for part in parts:
            if part.program in ("pushd", "popd"):
                return (*folders, None)
            if part.program == "cd":
                operands = [word for word in part.arguments if word.text not in ("-L", "-P", "--")]
                targets = self.targets(operands[0], folders) if operands else (_real(Path.home()),)
                if targets is None or (operands and operands[0].text == "-"):
                    return (*folders, None)
                folders.extend(target for target in targets if target not in folders)
                if len(folders) > _MOST_FOLDERS:
                    return (*folders[:_MOST_FOLDERS], None)
        return tuple(folders)

    def targets(self, word: Word, folders: Collection[Folder]) -> tuple[Path, ...] | None:
        """The files or folders that `word` may name; None when that isn't known.

        A pattern stands for the folder that it looks in.
        """
        named = _named_path(word)
        if named is None:
            return None
        if named.startswith("/"):
            return (_real(Path(named)),)
        if None in folders:
            return None
        return tuple({_real(folder / named): None for folder in folders if folder is not None})

    def writes_freely(self, word: Word, folders: Collection[Folder]) -> bool:
        """Whether writing to what `word` names is known to stay within, and to touch nothing protected."""
        if is_harmless_device(word):
            return True
        targets = self.targets(word, folders)
        return targets is not None and all(self.holds(path) and not protection_of(path) for path in targets)


def is_harmless_device(word: Word) -> bool:
    """Whether `word` is a descriptor, `/dev/null` or the like."""
    return word.lead.startswith("/dev/fd/") or (
        word.is_literal and _HARMLESS_DEVICE.fullmatch(word.text) is not None
    )


def is_network_file(word: Word) -> bool:
    """Whether a redirection to `word` opens a connection, as bash does for `/dev/tcp/HOST/PORT`."""
    return word.lead.startswith(_NETWORK_FILES)


def may_be_network_file(word: Word) -> bool:
    """Whether a redirection to `word` may turn out to open a connection."""
    if is_network_file(word):
        return True
    return not word.is_literal and any(name.startswith(word.lead) for name in _NETWORK_FILES)


def protection_of(path: Path) -> str:
    """Why `path`, links resolved, must not change unnoticed wherever it lies; empty when it may."""
    parts = path.as_posix().casefold().split("/")  # for some file systems .GIT is .git
    home = _real(Path.home())
    if path.is_relative_to(home):
        below = tuple(part.casefold() for part in path.relative_to(home).parts)
        if len(below) == 1 and below[0] in _SHELL_FILES:
            return "changes a shell profile"
        if any(below[: len(folder)] == folder for folder in _HOME_FOLDERS):
            return f"changes ~/{below[0]}"
    if ".git" in parts:  # itself too: as a file it says where the repository is
        return "changes git's own files"
    if ".kimi-tui" in parts[:-1] or path.is_relative_to(_real(share_dir())):
        return "changes kimi-tui's own files"
    if path.is_relative_to("/dev") and path.parent != Path("/dev/shm"):  # noqa: S108
        return "writes to a device"
    return ""


def _named_path(word: Word) -> str | None:
    """The path that `word` names; for a pattern the folder that it looks in; None when it isn't known."""
    if word.is_literal:
        return word.text
    if word.kind == "unknown" or ".." in word.text or ("{" in word.text and not word.lead):
        return None
    if word.text.startswith("~"):
        if _PLAIN_HOME_PATH.fullmatch(word.text) is None:
            return None
        return str(Path(word.text).expanduser())
    return word.lead.rpartition("/")[0] or ("/" if word.lead.startswith("/") else ".")


def _real(path: Path) -> Path:
    try:
        return Path(os.path.realpath(path))
    except ValueError:  # a NUL
        return path
