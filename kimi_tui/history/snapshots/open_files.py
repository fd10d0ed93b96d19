"""Search for files that other processes have open, in Linux' `/proc`.

Processes of other users can't be examined without root, and are not found.
"""

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from kimi_tui.base.terminal_text import sanitize_line

_TIME_LIMIT_S = 0.5
_PROC = Path("/proc")

FileId = tuple[int, int]
"""The device and inode of a file."""


@dataclass(frozen=True, slots=True)
class OpenFiles:
    """Result of a search for open files."""

    programs: Mapping[FileId, str] = field(default_factory=dict)
    """For each open file, one of the programs that have it open, such as `sqlite3 (1234)`."""
    is_complete: bool = True
    """Whether all processes of this user could be examined within the time limit."""


def find_open_files(files: Mapping[FileId, str], *, proc: Path = _PROC) -> OpenFiles:
    """Return the files that other processes have open. The values of `files` are the file names."""
    if not files:
        return OpenFiles()
    if not (proc / "self" / "fd").is_dir():
        return OpenFiles(is_complete=False)
    deadline = time.monotonic() + _TIME_LIMIT_S
    names = set(files.values())
    programs: dict[FileId, str] = {}
    for process in proc.iterdir():
        if not process.name.isdecimal() or process.name == str(os.getpid()):
            continue
        if time.monotonic() > deadline:
            return OpenFiles(programs, is_complete=False)
        for file in _open_files_of(process, names):
            if file in files:
                programs.setdefault(file, _describe(process))
    return OpenFiles(programs)


def _open_files_of(process: Path, names: set[str]) -> set[FileId]:
    """Return the open files of a process that have one of `names`."""
    folder = f"{process}/fd"
    try:
        descriptors = os.listdir(folder)  # noqa: PTH208  called for each process
    except OSError:
        return set()
    found = set()
    for descriptor in descriptors:
        link = f"{folder}/{descriptor}"
        try:
            if os.readlink(link).rpartition("/")[2] in names:  # noqa: PTH115  called for each descriptor
                info = os.stat(link)  # noqa: PTH116
                found.add((info.st_dev, info.st_ino))
        except OSError:
            continue
    return found


def _describe(process: Path) -> str:
    try:
        name = (process / "comm").read_text("utf-8", "replace").strip()
    except OSError:
        name = ""
    return f"{sanitize_line(name)} ({process.name})" if name else process.name
