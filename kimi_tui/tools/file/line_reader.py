"""Reads some lines of a file without reading more of it than needed."""

import codecs
import os
from collections.abc import Iterator
from typing import BinaryIO

from kimi_tui.base.frozen import frozen
from kimi_tui.tools.file.read_tracker import new_digest

_BLOCK = 1 << 20


@frozen(kw_only=True)
class ReadLimits:
    """Limits of reading."""

    lines: int = 1000
    line_chars: int = 2000
    output_bytes: int = 100 * 1024
    indexed_bytes: int = 64 << 20
    """Files up to this size are read completely to count their lines."""
    scanned_bytes: int = 1 << 30
    """How far from the beginning or from the end lines are searched for."""


@frozen
class LineIndex:
    """Result of reading a complete file."""

    lines: int
    digest: bytes
    """Of the complete content, as in `read_tracker.FileVersion`."""


@frozen
class NumberedLine:
    """A line as it is returned."""

    text: str
    """Without its ending, cut at the limit."""
    full_bytes: int = 0
    """Length of the whole line in bytes if it was cut, else 0."""
    has_crlf: bool = False
    is_damaged: bool = False
    """Whether bytes that aren't UTF-8 were replaced by U+FFFD."""


def build_line_index(file: BinaryIO, limits: ReadLimits) -> LineIndex | None:
    """Read the complete `file`. Return None if it is larger than `indexed_bytes`."""
    if file.seek(0, os.SEEK_END) > limits.indexed_bytes:
        return None
    file.seek(0)
    digest = new_digest()
    newlines = size = 0
    last = b""
    while block := file.read(_BLOCK):
        size += len(block)
        if size > limits.indexed_bytes:
            return None
        digest.update(block)
        newlines += block.count(b"\n")
        last = block[-1:]
    return LineIndex(newlines + (last not in (b"\n", b"")), digest.digest())


def offset_of_line(file: BinaryIO, number: int, limits: ReadLimits) -> int | None:
    """Return where line `number` (from 1) begins; None if it isn't within `scanned_bytes`."""
    file.seek(0)
    remaining, offset = number - 1, 0
    while remaining and offset < limits.scanned_bytes and (block := file.read(_BLOCK)):
        newlines = block.count(b"\n")
        if newlines < remaining:
            remaining -= newlines
            offset += len(block)
            continue
        position = -1
        for _ in range(remaining):
            position = block.index(b"\n", position + 1)
        return offset + position + 1
    return offset if not remaining else None


def offset_of_tail(file: BinaryIO, size: int, count: int, limits: ReadLimits) -> tuple[int, int]:
    """Return where the last `count` lines begin, and their number, which `scanned_bytes` may limit."""
    file.seek(size - 1)
    end = size - 1 if file.read(1) == b"\n" else size
    found, position = 0, end
    while position > 0 and end - position < limits.scanned_bytes:
        start = max(0, position - _BLOCK)
        file.seek(start)
        block = file.read(position - start)
        newlines = block.count(b"\n")
        if found + newlines < count:
            found += newlines
            position = start
            continue
        at = len(block)
        for _ in range(count - found):
            at = block.rindex(b"\n", 0, at)
        return start + at + 1, count
    return position, found + 1


def read_lines(file: BinaryIO, count: int, limits: ReadLimits) -> Iterator[NumberedLine]:
    """Yield the next `count` lines of `file` from its current position, or fewer at its end."""
    for _ in range(count):
        head = file.readline(limits.line_chars * 4)
        if not head:
            return
        n_rest = 0
        if not head.endswith(b"\n") and len(head) == limits.line_chars * 4:
            n_rest = _skip_line(file, limits)
        yield _to_line(head, n_rest, limits)


def _skip_line(file: BinaryIO, limits: ReadLimits) -> int:
    skipped = 0
    while skipped < limits.scanned_bytes and (block := file.readline(_BLOCK)):
        skipped += len(block)
        if block.endswith(b"\n"):
            return skipped - 1
    return skipped


def _to_line(head: bytes, n_rest: int, limits: ReadLimits) -> NumberedLine:
    has_crlf = head.endswith(b"\r\n")
    body = head.removesuffix(b"\n").removesuffix(b"\r" if has_crlf else b"")
    try:
        text, is_damaged = codecs.utf_8_decode(body, "strict", not n_rest)[0], False
    except UnicodeDecodeError:
        text, is_damaged = body.decode("utf-8", "replace"), True
    is_cut = bool(n_rest) or len(text) > limits.line_chars
    text = text[: limits.line_chars].replace("\x00", "␀")
    return NumberedLine(text, len(body) + n_rest if is_cut else 0, has_crlf, is_damaged)
