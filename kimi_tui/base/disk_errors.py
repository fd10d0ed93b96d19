"""Classification and description of file system errors."""

import errno

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
_FULL_TEXTS = ("No space left on device", "disk is full", "Disk quota exceeded")


def is_full(error: OSError) -> bool:
    """Return whether `error` is a lack of space: a full disk, an exceeded quota or a file size limit."""
    return error.errno in _FULL


def mentions_full_disk(text: str) -> bool:
    """Return whether the error message of a program, or of SQLite, reports a lack of space."""
    return any(part in text for part in _FULL_TEXTS)


def reason_of(error: OSError | ValueError) -> str:
    """Return the reason why a file operation failed, without the error number and the file name."""
    if isinstance(error, UnicodeDecodeError):
        return "it is not UTF-8 text"
    return (error.strerror if isinstance(error, OSError) else None) or str(error)
