"""The body of an answer, read up to a limit: an endless one or a compressed bomb doesn't fill the memory."""

import zlib
from collections.abc import AsyncIterator
from typing import Protocol

from kimi_tui.base.errors import WebProblem
from kimi_tui.base.value import value

ACCEPTED_ENCODINGS = "gzip, deflate"
"""What can be unpacked piece by piece with a bound on each."""


@value
class Body:
    """Bytes of an answer, unpacked."""

    data: bytes
    is_cut: bool
    """Whether there was more."""


async def read_body(pieces: AsyncIterator[bytes], *, encoding: str, limit: int) -> Body:
    """The first `limit` bytes of what `pieces`, in the content encoding `encoding`, unpack to.

    Raises WebProblem when they can't be unpacked.
    """
    decoder = _decoder(encoding)
    data = bytearray()
    async for piece in pieces:
        try:
            data += decoder.decode(piece, limit + 1 - len(data))
        except zlib.error as error:
            raise WebProblem(
                f"The server sent a page that can't be unpacked ({encoding}).", hint="Try another page."
            ) from error
        if len(data) > limit:
            return Body(bytes(data[:limit]), is_cut=True)
    return Body(bytes(data), is_cut=False)


class _Decoder(Protocol):
    def decode(self, piece: bytes, room: int) -> bytes: ...


class _Identity:
    def decode(self, piece: bytes, room: int) -> bytes:
        return piece[:room]


class _Inflate:
    """gzip, zlib, and the bare stream that some servers send as `deflate`."""

    def __init__(self) -> None:
        self._unpacker = zlib.decompressobj(zlib.MAX_WBITS | 32)
        self._has_begun = False

    def decode(self, piece: bytes, room: int) -> bytes:
        try:
            unpacked = self._unpacker.decompress(piece, room)
        except zlib.error:
            if self._has_begun:
                raise
            self._unpacker = zlib.decompressobj(-zlib.MAX_WBITS)
            unpacked = self._unpacker.decompress(piece, room)
        self._has_begun = True
        return unpacked


def _decoder(encoding: str) -> _Decoder:
    match encoding.strip().lower():
        case "" | "identity":
            return _Identity()
        case "gzip" | "x-gzip" | "deflate":
            return _Inflate()
        case other:
            raise WebProblem(
                f"The server packs the page as {other[:40]}, which wasn't asked for.",
                hint="Try another page.",
            )
