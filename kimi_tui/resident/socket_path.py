"""Location of the resident engine's socket: a directory that only its owner can enter."""

import os
import stat
import tempfile
from pathlib import Path

from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.message_text import msg
from kimi_tui.base.paths import make_private_dir

LOCK_NAME = "resident.lock"
"""File in the data directory that a running engine locks."""
MAX_SOCKET_PATH_BYTES = 100
"""Systems limit the paths of sockets to 104 or 108 bytes."""


def engine_dir(data_dir: Path) -> Path:
    """Return the directory of the socket and its lock, created with mode 0700 if missing.

    If the data directory's path is too long for a socket, it is in the directory for temporary files.
    Raises KimiTuiError if other users can access it.
    """
    folder = data_dir / "resident"
    if len(os.fsencode(_socket_in(folder))) > MAX_SOCKET_PATH_BYTES:
        import hashlib

        digest = hashlib.sha256(os.fsencode(data_dir)).hexdigest()[:12]
        folder = Path(tempfile.gettempdir()) / f"kimi-tui-{os.getuid()}-{digest}"
    try:
        make_private_dir(folder)
        status = folder.lstat()
    except OSError as error:
        raise KimiTuiError(
            msg("Can't create {path}: {reason}.", path=folder, reason=error.strerror or error),
            hint="Make the data directory writable, or set KIMI_SHARE_DIR.",
        ) from error
    is_private = stat.S_ISDIR(status.st_mode) and not status.st_mode & 0o077
    if not is_private or status.st_uid != os.getuid():
        raise KimiTuiError(
            msg("Other users can access {path}.", path=folder),
            hint=msg("Remove it, or run `chmod 700 {path}` if it's yours.", path=folder),
        )
    return folder


def socket_path(data_dir: Path) -> Path:
    """Return the path of the socket. Raises KimiTuiError as `engine_dir` does."""
    return _socket_in(engine_dir(data_dir))


def _socket_in(folder: Path) -> Path:
    return folder / "engine.sock"
