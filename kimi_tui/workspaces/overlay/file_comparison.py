"""Comparison of files: contents and extended attributes."""

import os
from collections.abc import Mapping
from contextlib import suppress

_PIECE = 1 << 20
OVERLAY_PREFIXES = ("trusted.overlay.", "user.overlay.")


def has_same_content(first: str, second: str) -> bool:
    """Return whether two regular files have the same bytes. False if one can't be read."""
    try:
        with open(first, "rb") as one, open(second, "rb") as other:
            while True:
                piece = one.read(_PIECE)
                if piece != other.read(_PIECE):
                    return False
                if not piece:
                    return True
    except OSError:
        return False


def own_attributes(path: str | int) -> Mapping[str, bytes]:
    """Return the extended attributes of a path or descriptor, without those of overlayfs."""
    attributes = {}
    with suppress(OSError):
        options = {} if isinstance(path, int) else {"follow_symlinks": False}
        for name in os.listxattr(path, **options):
            if not name.startswith(OVERLAY_PREFIXES):
                with suppress(OSError):
                    attributes[name] = os.getxattr(path, name, **options)
    return attributes
