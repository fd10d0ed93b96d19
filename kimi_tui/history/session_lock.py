"""Session lock: a lock file with a process id that lets only one process write to a session."""

import contextlib
import logging
import os
from pathlib import Path

from kimi_tui.base.disk_errors import is_full
from kimi_tui.base.errors import SessionError, SessionInUse
from kimi_tui.base.message_text import msg
from kimi_tui.base.paths import make_private_dir
from kimi_tui.base.process_groups import is_other_process_alive, process_mark
from kimi_tui.history.file_lock import Lock, flock

logger = logging.getLogger(__name__)


_MAX_OWNER_BYTES = 60


class SessionLock:
    """A lock on `path`. The operating system releases it when its process ends, even after a crash.

    On file systems without locks, the session counts as locked while the process named in the file runs on
    this machine.
    """

    def __init__(self, path: Path, *, lock: Lock = flock) -> None:
        self._path = path
        self._lock = lock
        self._file: int | None = None

    def acquire(self) -> None:
        """Take the lock. No effect if it is already held, unless its file was deleted.

        Raises SessionError if another process holds it.
        """
        if self._file is not None:
            if self._is_current(self._file):
                return
            os.close(self._file)
            self._file = None
        try:
            make_private_dir(self._path.parent)
            while self._file is None:
                self._file = self._open_locked()
            os.ftruncate(self._file, 0)
            os.pwrite(self._file, f"{process_mark()}\n".encode(), 0)
        except OSError as error:
            self.release()
            raise SessionError(
                msg(
                    "Can't open the session: {reason} ({path}).",
                    reason=error.strerror or error,
                    path=self._path,
                ),
                hint=_hint(error, self._path.parent),
            ) from error

    def release(self) -> None:
        """Release the lock, if it is held."""
        if self._file is None:
            return
        with contextlib.suppress(OSError):
            if self._is_current(self._file):
                self._path.unlink()
        os.close(self._file)
        self._file = None

    def is_held(self) -> bool:
        """Return whether a process, including this one, holds the lock."""
        try:
            file = os.open(self._path, os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            return False
        try:
            self._lock(file, shared=True)
        except BlockingIOError:
            return True
        except OSError:
            return self._file is not None or is_other_process_alive(_read_owner(file))
        finally:
            os.close(file)
        return False

    def _open_locked(self) -> int | None:
        """Open and lock the file; None if its holder has just removed it. Raises OSError, SessionError."""
        file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            self._lock(file)
        except BlockingIOError:
            raise self._in_use_error(file) from None
        except OSError:
            logger.warning("this file system has no locks: %s", self._path)
            if is_other_process_alive(_read_owner(file)):
                raise self._in_use_error(file) from None
        if self._is_current(file):
            return file
        os.close(file)
        return None

    def _in_use_error(self, file: int) -> SessionInUse:
        owner = _read_owner(file).partition(" ")[0]
        os.close(file)
        return SessionInUse(
            msg(
                "The session is in use by another process{process}.",
                process=f" (pid {owner})" if owner else "",
            ),
            session_id=self._path.name,
            hint="Stop that process, or fork the session with --fork.",
        )

    def _is_current(self, file: int) -> bool:
        try:
            return os.path.samestat(os.fstat(file), self._path.stat())
        except FileNotFoundError:
            return False


def _read_owner(file: int) -> str:
    return os.pread(file, _MAX_OWNER_BYTES, 0).decode("ascii", "replace").strip()


def _hint(error: OSError, folder: Path) -> str:
    if is_full(error):
        return "Free some disk space, then try again. The conversation is not affected."
    return msg("Make {path} writable, or set KIMI_SHARE_DIR to a writable directory.", path=folder)
