"""Inotify: reports of changes in directories by Linux. Uses ctypes, since Python doesn't provide it."""

import os
import struct
from collections.abc import Iterator

_EVENT = struct.Struct("iIII")
"""`struct inotify_event`: watch, mask, cookie, length of the name that follows."""
_BUFFER_BYTES = 1 << 16
_MODIFY, _ATTRIB, _CLOSE_WRITE = 0x2, 0x4, 0x8
_MOVED_FROM, _MOVED_TO, _CREATE, _DELETE = 0x40, 0x80, 0x100, 0x200
_DELETE_SELF, _MOVE_SELF, _OVERFLOW, _IGNORED = 0x400, 0x800, 0x4000, 0x8000
_ONLY_DIRECTORIES, _NO_LINKS, _IS_DIRECTORY = 0x1000000, 0x2000000, 0x40000000
_NAMES = _MOVED_FROM | _MOVED_TO | _CREATE | _DELETE
_MASK = _MODIFY | _ATTRIB | _CLOSE_WRITE | _NAMES | _DELETE_SELF | _MOVE_SELF
_ENDS = _DELETE_SELF | _MOVE_SELF | _OVERFLOW | _IGNORED


class Inotify:
    """An inotify descriptor. The constructor raises OSError, or AttributeError on other systems."""

    def __init__(self) -> None:
        import ctypes

        library = ctypes.CDLL(None, use_errno=True)
        self._add_watch = library.inotify_add_watch
        self._mask = ctypes.c_uint32(_MASK | _ONLY_DIRECTORIES | _NO_LINKS)
        self._handle: int = library.inotify_init1(os.O_CLOEXEC | os.O_NONBLOCK)
        if self._handle < 0:
            raise _last_error()

    def watch(self, folder: str) -> None:
        """Report changes of the files and names directly in a directory. Raises OSError."""
        if self._add_watch(self._handle, os.fsencode(folder), self._mask) < 0:
            raise _last_error()

    def read(self) -> Iterator[int]:
        """Yield the masks of the changes since the last call. They are dropped even if not all are used."""
        while True:
            try:
                data = os.read(self._handle, _BUFFER_BYTES)
            except BlockingIOError:
                return
            at = 0
            while at < len(data):
                _, mask, _, length = _EVENT.unpack_from(data, at)
                yield mask
                at += _EVENT.size + length

    def close(self) -> None:
        """Close the descriptor."""
        os.close(self._handle)


def moves_directories(mask: int) -> bool:
    """Return whether a change may have given a watched directory another path, or ended a watch."""
    return bool(mask & _ENDS or (mask & _IS_DIRECTORY and mask & _NAMES))


def _last_error() -> OSError:
    import ctypes

    number = ctypes.get_errno()
    return OSError(number, os.strerror(number))
