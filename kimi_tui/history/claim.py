"""A claim: the right of one process to write a session, held by a lock file with its pid."""

import contextlib
import logging
import os
from pathlib import Path

from kimi_tui.base.disk_errors import is_full
from kimi_tui.base.errors import SessionError, SessionInUse
from kimi_tui.base.paths import make_private_dir
from kimi_tui.history.locks import Lock, flock, own_mark, runs_elsewhere

logger = logging.getLogger(__name__)


_LONGEST_MARK = 60


class Claim:
    """A lock on `path`. The system lets go of it when its process ends, however that happens.

    Where the file system has no locks, the mark in the file counts as long as its process runs here.
    """

    def __init__(self, path: Path, *, lock: Lock = flock) -> None:
        self._path = path
        self._lock = lock
        self._file: int | None = None

    def acquire(self) -> None:
        """Take the lock, anew when its file was deleted; taking it twice changes nothing.

        Raises SessionError when somebody else has it.
        """
        if self._file is not None:
            if self._is_current(self._file):
                return
            os.close(self._file)
            self._file = None
        try:
            make_private_dir(self._path.parent)
            while self._file is None:
                self._file = self._locked()
            os.ftruncate(self._file, 0)
            os.pwrite(self._file, f"{own_mark()}\n".encode(), 0)
        except OSError as error:
            self.release()
            raise SessionError(
                f"The session can't be opened: {error.strerror or error} ({self._path}).",
                hint=_hint(error, self._path.parent),
            ) from error

    def release(self) -> None:
        """Let go of the lock, if it is held."""
        if self._file is None:
            return
        with contextlib.suppress(OSError):
            if self._is_current(self._file):
                self._path.unlink()
        os.close(self._file)
        self._file = None

    def is_held(self) -> bool:
        """Whether some process has it now."""
        try:
            file = os.open(self._path, os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            return False
        try:
            self._lock(file, shared=True)
        except BlockingIOError:
            return True
        except OSError:
            return self._file is not None or runs_elsewhere(_mark_in(file))
        finally:
            os.close(file)
        return False

    def _locked(self) -> int | None:
        """The lock file, locked; None when its holder removed it meanwhile. Raises OSError, SessionError."""
        file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            self._lock(file)
        except BlockingIOError:
            raise self._in_use(file) from None
        except OSError:
            logger.warning("this file system has no locks: %s", self._path)
            if runs_elsewhere(_mark_in(file)):
                raise self._in_use(file) from None
        if self._is_current(file):
            return file
        os.close(file)
        return None

    def _in_use(self, file: int) -> SessionInUse:
        owner = _mark_in(file).partition(" ")[0]
        os.close(file)
        return SessionInUse(
            f"The session is in use by another process{f' (pid {owner})' if owner else ''}.",
            session_id=self._path.name,
            hint="End that one, or go on in a copy of the session with --fork.",
        )

    def _is_current(self, file: int) -> bool:
        try:
            return os.path.samestat(os.fstat(file), self._path.stat())
        except FileNotFoundError:
            return False


def _mark_in(file: int) -> str:
    return os.pread(file, _LONGEST_MARK, 0).decode("ascii", "replace").strip()


def _hint(error: OSError, folder: Path) -> str:
    if is_full(error):
        return "Free some space on that disk, then try again; what was said is all there."
    return f"Make {folder} writable, or set KIMI_SHARE_DIR to a folder that is."
