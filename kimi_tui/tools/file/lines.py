"""Some lines of a file, read without reading more of it than needed."""

import codecs
import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

from kimi_tui.tools.file.ledger import new_digest

_BLOCK = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How much is read and given at most."""

    lines: int = 1000
    line_chars: int = 2000
    output_bytes: int = 100 * 1024
    surveyed_bytes: int = 64 << 20
    """Files up to this size are read wholly, to know their number of lines."""
    scanned_bytes: int = 1 << 30
    """How far from the beginning, or from the end, lines are looked for."""


@dataclass(frozen=True, slots=True)
class Survey:
    """What reading all of a file tells."""

    lines: int
    digest: bytes
    """Of the whole content, as in `ledger.FileVersion`."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line as it is given."""

    text: str
    """Without its ending, cut at the limit."""
    cut_from: int = 0
    """How many bytes the whole line has, when it was cut; else 0."""
    has_crlf: bool = False
    is_damaged: bool = False
    """Whether there were bytes that are no UTF-8, shown as U+FFFD."""


def survey(file: BinaryIO, limits: Limits) -> Survey | None:
    """Read `file` from its beginning to its end; None when it is larger than `surveyed_bytes`."""
    if file.seek(0, os.SEEK_END) > limits.surveyed_bytes:
        return None
    file.seek(0)
    digest = new_digest()
    newlines = size = 0
    last = b""
    while block := file.read(_BLOCK):
        size += len(block)
        if size > limits.surveyed_bytes:
            return None
        digest.update(block)
        newlines += block.count(b"\n")
        last = block[-1:]
    return Survey(newlines + (last not in (b"\n", b"")), digest.digest())


def offset_of_line(file: BinaryIO, number: int, limits: Limits) -> int | None:
    """Where line `number`, from 1, begins; None when it is not within `scanned_bytes`."""
    file.seek(0)
    wanted, offset = number - 1, 0
    while wanted and offset < limits.scanned_bytes and (block := file.read(_BLOCK)):
        newlines = block.count(b"\n")
        if newlines < wanted:
            wanted -= newlines
            offset += len(block)
            continue
        position = -1
        for _ in range(wanted):
            position = block.index(b"\n", position + 1)
        return offset + position + 1
    return offset if not wanted else None


def offset_of_tail(file: BinaryIO, size: int, count: int, limits: Limits) -> tuple[int, int]:
    """Where the last `count` lines begin, and how many they are: fewer when `scanned_bytes` end first."""
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


def read_lines(file: BinaryIO, count: int, limits: Limits) -> Iterator[Line]:
    """The next `count` lines from where `file` stands, as long as there are any."""
    for _ in range(count):
        head = file.readline(limits.line_chars * 4)
        if not head:
            return
        n_rest = 0
        if not head.endswith(b"\n") and len(head) == limits.line_chars * 4:
            n_rest = _skip_line(file, limits)
        yield _line(head, n_rest, limits)


def _skip_line(file: BinaryIO, limits: Limits) -> int:
    skipped = 0
    while skipped < limits.scanned_bytes and (block := file.readline(_BLOCK)):
        skipped += len(block)
        if block.endswith(b"\n"):
            return skipped - 1
    return skipped


def _line(head: bytes, n_rest: int, limits: Limits) -> Line:
    has_crlf = head.endswith(b"\r\n")
    body = head.removesuffix(b"\n").removesuffix(b"\r" if has_crlf else b"")
    try:
        text, is_damaged = codecs.utf_8_decode(body, "strict", not n_rest)[0], False
    except UnicodeDecodeError:
        text, is_damaged = body.decode("utf-8", "replace"), True
    is_cut = bool(n_rest) or len(text) > limits.line_chars
    text = text[: limits.line_chars].replace("\x00", "␀")
    return Line(text, len(body) + n_rest if is_cut else 0, has_crlf, is_damaged)
