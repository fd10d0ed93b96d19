"""Opens regular files only: reading a FIFO or a device could block or never end."""

import errno
import os
import stat
from difflib import get_close_matches
from pathlib import Path
from typing import BinaryIO

from kimi_tui.base.disk_errors import is_full
from kimi_tui.base.errors import FileProblem
from kimi_tui.base.frozen import frozen
from kimi_tui.base.message_text import msg
from kimi_tui.base.no_follow import open_no_follow
from kimi_tui.tools.file.read_tracker import FileVersion, version_of
from kimi_tui.tools.path_scope import LocatedPath, printable_name

_FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_NONBLOCK", 0)  # don't block if the file has been replaced by a FIFO
    | getattr(os, "O_NOCTTY", 0)
    | getattr(os, "O_BINARY", 0)
)
_MAX_NAMES = 5000


@frozen
class FileContent:
    """A file's bytes and attributes."""

    data: bytes
    info: os.stat_result

    @property
    def version(self) -> FileVersion:
        """The version that is tracked for this content."""
        return version_of(self.data, self.info)


def open_regular(file: LocatedPath) -> BinaryIO:
    """Open a regular file for reading. Raises FileProblem for anything else, without blocking."""
    try:
        require_regular(file, file.host_path.stat().st_mode)  # some devices act when they are opened
        descriptor = open_no_follow(file.real, _FLAGS, root=file.root)
        try:
            require_regular(file, os.fstat(descriptor).st_mode)
            return os.fdopen(descriptor, "rb")
        except BaseException:
            os.close(descriptor)
            raise
    except OSError as error:
        raise to_file_problem(file, error) from error


def read_regular(file: LocatedPath, *, limit: int) -> FileContent | None:
    """Return the content of a regular file; None if it doesn't exist.

    Raises FileProblem, for example if it is larger than `limit` bytes.
    """
    if not os.path.lexists(file.host_path):
        return None
    with open_regular(file) as stream:
        info = os.fstat(stream.fileno())
        try:
            data = b"" if info.st_size > limit else stream.read(limit + 1)
        except OSError as error:
            raise to_file_problem(file, error) from error
    if info.st_size > limit or len(data) > limit:
        raise FileProblem(
            f"{file.display_path} has {info.st_size:,} bytes; only files up to {limit:,} can be changed.",
            hint="Change it with a shell command.",
        )
    return FileContent(data, info)


def require_regular(file: LocatedPath, mode: int) -> None:
    """Raises FileProblem unless `mode` is that of a regular file."""
    if not stat.S_ISREG(mode):
        raise FileProblem(
            f"{file.display_path} is {describe_file_type(mode)}, not a regular file.", hint=_hint(mode)
        )


def describe_file_type(mode: int) -> str:
    """Return the type of a file with `mode`, with an article."""
    for is_kind, name in (
        (stat.S_ISREG, "a file"),
        (stat.S_ISDIR, "a directory"),
        (stat.S_ISLNK, "a symbolic link"),
        (stat.S_ISFIFO, "a named pipe (FIFO)"),
        (stat.S_ISSOCK, "a socket"),
        (stat.S_ISCHR, "a character device"),
        (stat.S_ISBLK, "a block device"),
    ):
        if is_kind(mode):
            return name
    return "a special file"


def to_file_problem(file: LocatedPath, error: OSError) -> FileProblem:
    """Return `error`, raised by using `file`, as an error for the model."""
    if is_full(error):
        return FileProblem(f"No space left on the disk to write {file.display_path}.", hint="Tell the user.")
    match error.errno:
        case errno.ENOENT:
            return file_not_found(file)
        case errno.ENOTDIR:
            return FileProblem(
                f"{file.display_path} or one of its parents isn't a directory.", hint=_LIST_HINT
            )
        case errno.EACCES | errno.EPERM:
            return FileProblem(f"Permission denied: {file.display_path}.", hint="Ask the user for access.")
        case errno.ELOOP:
            return FileProblem(
                f"{file.display_path} is a symbolic link that forms a loop or has just changed.",
                hint="Check where the link points.",
            )
        case errno.ENAMETOOLONG:
            return FileProblem("The path or a name in it is too long.", hint="Use a shorter one.")
        case errno.EROFS:
            return FileProblem(
                f"{file.display_path} is on a read-only file system.", hint="Write somewhere else."
            )
        case _:
            return FileProblem(
                f"{file.display_path} can't be used: {error.strerror or error}.",
                hint="Tell the user if this happens again.",
            )


_LIST_HINT = "List the directory to see what it contains."


def file_not_found(file: LocatedPath) -> FileProblem:
    """Return the error for a file that doesn't exist, suggesting similar names."""
    named = Path(f"{file.root}{file.path}")
    folder, display_folder = named.parent, Path(file.display_path).parent
    if not folder.is_dir():
        while not folder.is_dir() and folder != folder.parent:
            folder, display_folder = folder.parent, display_folder.parent
        return FileProblem(
            f"{file.display_path} doesn't exist, and neither does its directory.",
            hint=f"The closest existing directory is {display_folder}.",
        )
    names = {name.lower(): name for name in _list_names(folder)}
    similar = get_close_matches(file.path.name.lower(), names, n=3, cutoff=0.6)
    suggestions = ", ".join(str(display_folder / printable_name(names[name])) for name in similar)
    return FileProblem(
        msg("{path} doesn't exist.", path=file.display_path),
        hint=f"Did you mean {suggestions}?" if suggestions else _LIST_HINT,
    )


def _list_names(folder: Path) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            return [entry.name for entry, _ in zip(entries, range(_MAX_NAMES), strict=False)]
    except OSError:
        return []


def _hint(mode: int) -> str:
    return _LIST_HINT if stat.S_ISDIR(mode) else "It can't be read or changed by this tool."
