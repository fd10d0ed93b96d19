"""PNG files as they are found in the wild."""

import zlib
from struct import unpack

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_ANCILLARY = 0x20
"""The bit of a chunk's first letter that says that a picture can be drawn without it."""


def without_broken_extras(data: bytes) -> bytes:
    """The PNG `data` without colour profiles and other extras whose checksum is wrong; else `data` itself.

    Browsers pass over those; Pillow takes such a file for none at all.
    """
    if not data.startswith(_SIGNATURE):
        return data
    kept = [_SIGNATURE]
    start = len(_SIGNATURE)
    while start + 12 <= len(data):
        end = start + 12 + unpack(">I", data[start : start + 4])[0]
        if end > len(data):
            return data
        body, (checksum,) = data[start + 4 : end - 4], unpack(">I", data[end - 4 : end])
        if not body[0] & _ANCILLARY or zlib.crc32(body) == checksum:
            kept.append(data[start:end])
        start = end
    return b"".join(kept)
