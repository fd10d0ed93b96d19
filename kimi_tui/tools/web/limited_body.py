"""Response bodies read up to a limit, so that endless ones and compression bombs don't fill the memory."""

import zlib
from collections.abc import AsyncIterator
from typing import Protocol

from kimi_tui.base.errors import WebProblem
from kimi_tui.base.frozen import frozen

ACCEPTED_ENCODINGS = "gzip, deflate"
"""Encodings that can be decompressed in pieces of limited size."""


@frozen
class LimitedBody:
    """Decompressed bytes of a response."""

    data: bytes
    is_truncated: bool
    """Whether there was more."""


async def read_body(chunks: AsyncIterator[bytes], *, encoding: str, limit: int) -> LimitedBody:
    """Return the first `limit` decompressed bytes of `chunks`, whose content encoding is `encoding`.

    Raises WebProblem if they can't be decompressed.
    """
    decoder = _create_decoder(encoding)
    data = bytearray()
    async for chunk in chunks:
        try:
            data += decoder.decode(chunk, limit + 1 - len(data))
        except zlib.error as error:
            raise WebProblem(
                f"The response can't be decompressed ({encoding}).", hint="Try another page."
            ) from error
        if len(data) > limit:
            return LimitedBody(bytes(data[:limit]), is_truncated=True)
    return LimitedBody(bytes(data), is_truncated=False)


class _Decoder(Protocol):
    def decode(self, chunk: bytes, limit: int) -> bytes: ...


class _Identity:
    def decode(self, chunk: bytes, limit: int) -> bytes:
        return chunk[:limit]


class _Inflate:
    """Decodes gzip, zlib, and the raw stream that some servers send as `deflate`."""

    def __init__(self) -> None:
        self._decompressor = zlib.decompressobj(zlib.MAX_WBITS | 32)
        self._has_begun = False

    def decode(self, chunk: bytes, limit: int) -> bytes:
        try:
            data = self._decompressor.decompress(chunk, limit)
        except zlib.error:
            if self._has_begun:
                raise
            self._decompressor = zlib.decompressobj(-zlib.MAX_WBITS)
            data = self._decompressor.decompress(chunk, limit)
        self._has_begun = True
        return data


def _create_decoder(encoding: str) -> _Decoder:
    match encoding.strip().lower():
        case "" | "identity":
            return _Identity()
        case "gzip" | "x-gzip" | "deflate":
            return _Inflate()
        case other:
            raise WebProblem(
                f"The server uses the content encoding {other[:40]}, which isn't supported.",
                hint="Try another page.",
            )
