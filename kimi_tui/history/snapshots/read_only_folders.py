"""Read-only directories that become writable for their owner while a plan is executed."""

import contextlib
import os
import stat
from collections.abc import Collection, Iterable, Mapping

from kimi_tui.history.snapshots.dir_handles import PathRejected
from kimi_tui.history.snapshots.file_writer import AtomicFileWriter, WriteTarget

_NEEDED = stat.S_IRWXU


def find_read_only_folders(target: WriteTarget, paths: Iterable[str]) -> dict[str, int]:
    """Return the modes of the parent directories of `paths` that this user owns but can't change."""
    if os.geteuid() == 0:
        return {}  # permissions don't apply
    found = {}
    with target.open_writer() as writer:
        for folder in {path.rpartition("/")[0] for path in paths}:
            with contextlib.suppress(OSError, PathRejected):
                info = writer.folder_info(folder)
                mode = stat.S_IMODE(info.st_mode)
                if info.st_uid == os.geteuid() and mode & _NEEDED != _NEEDED:
                    found[folder] = mode
    return found


def make_writable(writer: AtomicFileWriter, folders: Mapping[str, int]) -> None:
    """Make directories writable, if possible. Otherwise, the steps in a directory fail and say why."""
    for folder in sorted(folders):
        with contextlib.suppress(OSError, PathRejected):
            writer.set_mode(folder, folders[folder] | _NEEDED)


def restore_modes(
    writer: AtomicFileWriter, folders: Mapping[str, int], *, changed: Collection[str]
) -> dict[str, str]:
    """Restore the modes of directories, except those `changed` by the plan. Return failures with reasons."""
    failed = {}
    for folder in sorted(folders, reverse=True):
        if folder in changed:
            continue
        try:
            if stat.S_IMODE(writer.folder_info(folder).st_mode) == folders[folder] | _NEEDED:
                writer.set_mode(folder, folders[folder])
        except (FileNotFoundError, NotADirectoryError):
            continue
        except PathRejected as error:
            failed[folder] = str(error)
        except OSError as error:
            failed[folder] = error.strerror or str(error)
    return failed
