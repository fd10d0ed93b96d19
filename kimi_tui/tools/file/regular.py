"""Opening regular files, and nothing else: a FIFO or a device would block or never end."""

import errno
import os
import stat
from difflib import get_close_matches
from pathlib import Path
from typing import BinaryIO

from kimi_tui.base.disk_errors import is_full
from kimi_tui.base.errors import FileProblem
from kimi_tui.base.resolved_path import open_resolved
from kimi_tui.base.value import value
from kimi_tui.tools.file.ledger import FileVersion, version_of
from kimi_tui.tools.workspace import Located, showable

_FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_NONBLOCK", 0)  # what became a FIFO meanwhile doesn't block
    | getattr(os, "O_NOCTTY", 0)
    | getattr(os, "O_BINARY", 0)
)
_MANY_NAMES = 5000


@value
class Content:
    """A file's bytes and what else there is to keep of it."""

    data: bytes
    info: os.stat_result

    @property
    def version(self) -> FileVersion:
        """What is remembered of it."""
        return version_of(self.data, self.info)


def open_regular(file: Located) -> BinaryIO:
    """Open a regular file for reading. Raises FileProblem, at once, when it is anything else."""
    try:
        require_regular(file, file.real.stat().st_mode)  # some devices act when they are opened
        descriptor = open_resolved(file.real, _FLAGS)
        try:
            require_regular(file, os.fstat(descriptor).st_mode)
            return os.fdopen(descriptor, "rb")
        except BaseException:
            os.close(descriptor)
            raise
    except OSError as error:
        raise file_problem(file, error) from error


def load(file: Located, *, limit: int) -> Content | None:
    """The whole of a regular file of at most `limit` bytes; None when there is none. Raises FileProblem."""
    if not os.path.lexists(file.real):
        return None
    with open_regular(file) as stream:
        info = os.fstat(stream.fileno())
        try:
            data = b"" if info.st_size > limit else stream.read(limit + 1)
        except OSError as error:
            raise file_problem(file, error) from error
    if info.st_size > limit or len(data) > limit:
        raise FileProblem(
            f"{file.shown} has {info.st_size:,} bytes; files of more than {limit:,} are not changed here.",
            hint="Change it with a shell command.",
        )
    return Content(data, info)


def require_regular(file: Located, mode: int) -> None:
    """Raises FileProblem unless `mode` is a regular file's."""
    if not stat.S_ISREG(mode):
        raise FileProblem(f"{file.shown} is {kind_of(mode)}, not a file with content.", hint=_hint(mode))


def kind_of(mode: int) -> str:
    """What a file of `mode` is, with its article."""
    for is_kind, name in (
        (stat.S_ISREG, "a file"),
        (stat.S_ISDIR, "a folder"),
        (stat.S_ISLNK, "a symbolic link"),
        (stat.S_ISFIFO, "a named pipe (FIFO)"),
        (stat.S_ISSOCK, "a socket"),
        (stat.S_ISCHR, "a character device"),
        (stat.S_ISBLK, "a block device"),
    ):
        if is_kind(mode):
            return name
    return "a special file"


def file_problem(file: Located, error: OSError) -> FileProblem:
    """`error`, which using `file` raised, in words."""
    if is_full(error):
        return FileProblem(f"There is no space left to write {file.shown}.", hint="Tell the user.")
    match error.errno:
        case errno.ENOENT:
            return missing(file)
        case errno.ENOTDIR:
            return FileProblem(f"{file.shown} leads through something that is no folder.", hint=_LIST)
        case errno.EACCES | errno.EPERM:
            return FileProblem(f"Permission to use {file.shown} is denied.", hint="Ask the user for access.")
        case errno.ELOOP:
            return FileProblem(
                f"{file.shown} is a symbolic link that leads in a circle or has just changed.",
                hint="Look at where the link points.",
            )
        case errno.ENAMETOOLONG:
            return FileProblem("The path or a name in it is too long.", hint="Use a shorter one.")
        case errno.EROFS:
            return FileProblem(f"{file.shown} lies on a read-only file system.", hint="Write elsewhere.")
        case _:
            return FileProblem(
                f"{file.shown} can't be used: {error.strerror or error}.",
                hint="Tell the user if it stays so.",
            )


_LIST = "List the folder to see what is there."


def missing(file: Located) -> FileProblem:
    """That there is no such file, with the nearest thing that there is."""
    folder, shown = file.path.parent, Path(file.shown).parent
    if not folder.is_dir():
        while not folder.is_dir() and folder != folder.parent:
            folder, shown = folder.parent, shown.parent
        return FileProblem(
            f"{file.shown} does not exist, nor does its folder.",
            hint=f"The nearest folder that exists is {shown}.",
        )
    names = {name.lower(): name for name in _names_in(folder)}
    near = get_close_matches(file.path.name.lower(), names, n=3, cutoff=0.6)
    meant = ", ".join(str(shown / showable(names[name])) for name in near)
    return FileProblem(f"{file.shown} does not exist.", hint=f"Did you mean {meant}?" if meant else _LIST)


def _names_in(folder: Path) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            return [entry.name for entry, _ in zip(entries, range(_MANY_NAMES), strict=False)]
    except OSError:
        return []


def _hint(mode: int) -> str:
    return _LIST if stat.S_ISDIR(mode) else "It can't be read or changed by this tool."
