"""The socket of the resident engine, which is created again if its file is deleted."""

import logging
import os
import socket
from pathlib import Path

from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.message_text import msg
from kimi_tui.resident.socket_path import socket_path

logger = logging.getLogger(__name__)

_BACKLOG = 64


class EngineSocket:
    """Listens at the path of a data directory."""

    def __init__(self, data_dir: Path) -> None:
        """Listen. Raises KimiTuiError."""
        self._data_dir = data_dir
        self._path = socket_path(data_dir)
        self.listener = _bind(self._path)
        self._file = _file_id(self._path)

    @property
    def is_in_place(self) -> bool:
        """Whether clients find the socket at its path."""
        return self._file is not None and _file_id(self._path) == self._file

    def listen_again(self) -> bool:
        """Replace the listener with one at the same path. Return False if that fails; then try again later.

        The caller closes the old listener, which a server may still use. A data directory isn't created.
        """
        if not self._data_dir.is_dir():
            return False
        try:
            listener = _bind(socket_path(self._data_dir))
        except KimiTuiError as error:
            logger.warning("can't listen again: %s", error)
            return False
        self.listener, self._file = listener, _file_id(self._path)
        return True

    def close(self) -> None:
        """Stop listening, and remove the file unless it is another one by now."""
        self.listener.close()
        if self.is_in_place:
            self._path.unlink(missing_ok=True)


def _file_id(path: Path) -> tuple[int, int] | None:
    try:
        status = path.lstat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _bind(path: Path) -> socket.socket:
    """Return a socket that listens at `path`. One that a killed engine left there is replaced.

    Raises KimiTuiError.
    """
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        path.unlink(missing_ok=True)
        before = os.umask(0o177)
        try:
            listener.bind(str(path))
        finally:
            os.umask(before)
        listener.listen(_BACKLOG)
        listener.setblocking(False)
    except OSError as error:
        listener.close()
        raise KimiTuiError(
            msg("Can't listen on {path}: {reason}.", path=path, reason=error.strerror or error),
            hint="Make the data directory writable, or set KIMI_SHARE_DIR.",
        ) from error
    return listener
