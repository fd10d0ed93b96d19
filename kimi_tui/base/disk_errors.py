"""What a disk's refusals mean."""

import errno

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


def is_full(error: OSError) -> bool:
    """Whether there is no room for what was to be written: the disk is full, or what the user may take of it
    is used up, or the file may not grow."""
    return error.errno in _FULL
