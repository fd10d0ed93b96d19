"""Repair of PNG files with broken optional chunks."""

import zlib
from struct import unpack

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_ANCILLARY = 0x20
"""Bit of a chunk's first letter: the image can be displayed without the chunk."""


def strip_broken_chunks(data: bytes) -> bytes:
    """Return the PNG `data` without optional chunks (such as color profiles) whose checksum is wrong.

    Browsers ignore these chunks; Pillow rejects the file. Data that isn't a complete PNG is returned
    unchanged.
    """
    if not data.startswith(_SIGNATURE):
        return data
    chunks = [_SIGNATURE]
    start = len(_SIGNATURE)
    while start + 12 <= len(data):
        end = start + 12 + unpack(">I", data[start : start + 4])[0]
        if end > len(data):
            return data
        body, (checksum,) = data[start + 4 : end - 4], unpack(">I", data[end - 4 : end])
        if not body[0] & _ANCILLARY or zlib.crc32(body) == checksum:
            chunks.append(data[start:end])
        start = end
    return b"".join(chunks)
