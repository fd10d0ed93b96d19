"""What a disk's refusals mean, and how they are told."""

import errno

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


def is_full(error: OSError) -> bool:
    """Whether there is no room for what was to be written: the disk is full, or what the user may take of it
    is used up, or the file may not grow."""
    return error.errno in _FULL


def reason_of(error: OSError | ValueError) -> str:
    """Why a file could not be read, written or started, without its number and without the name again."""
    if isinstance(error, UnicodeDecodeError):
        return "it is not UTF-8 text"
    return (error.strerror if isinstance(error, OSError) else None) or str(error)
