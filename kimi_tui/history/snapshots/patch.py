"""Patches: how two states differ, as a text that `git apply` takes, forwards and with `--reverse`.

Format: git's own (git-diff(1), “Generating patch text with -p”), with modes, links, and binary contents as
`GIT binary patch` literals (base 85 of what zlib makes of them, 52 bytes a line, a letter before each for its
length). Folders are nothing to git: empty ones are left out.
"""

import base64
import hashlib
import os
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kimi_tui.history.snapshots.blobs import BlobMissing, BlobStore
from kimi_tui.history.snapshots.entry import Entries, Entry
from kimi_tui.history.snapshots.matching import lines_of, matching
from kimi_tui.history.snapshots.merge import is_text
from kimi_tui.history.snapshots.patience import Patience

_CONTEXT = 3
_MAX_BYTES = 16 << 20
"""A patch is a text in memory, and a larger file would take four times as much of it."""
_LINE_BYTES = 52
_NOTHING = "0" * 40
_NO_END = b"\n\\ No newline at end of file\n"


@dataclass(frozen=True, slots=True)
class Patch:
    """A patch, complete but for what could not be taken in."""

    text: bytes
    paths: tuple[str, ...]
    """The files that it changes."""
    left_out: tuple[tuple[str, str], ...]
    """Paths that differ and are not in it, and why."""


@dataclass(frozen=True, slots=True)
class _Side:
    """A file of one of the states, as git sees it."""

    mode: str
    content: bytes

    @property
    def name(self) -> str:
        """The object's name in a repository."""
        head = b"blob %d\0" % len(self.content)
        return hashlib.sha1(head + self.content, usedforsecurity=False).hexdigest()


class _LeftOut(Exception):
    """A file that no patch can hold; the text says why."""


def patch_between(
    old: Entries, new: Entries, paths: Sequence[str], blobs: BlobStore, *, patience: Patience
) -> Patch:
    """What makes of `paths` in `old` those in `new`. Raises Stopped, OSError."""
    parts: list[bytes] = []
    changed: list[str] = []
    left_out: list[tuple[str, str]] = []
    for number, path in enumerate(paths):
        patience.check(number, len(paths))
        try:
            part = b"".join(_of_file(path, old.get(path), new.get(path), blobs))
        except _LeftOut as why:
            left_out.append((path, str(why)))
            continue
        if part:
            parts.append(part)
            changed.append(path)
    return Patch(b"".join(parts), tuple(changed), tuple(left_out))


def _of_file(path: str, old: Entry | None, new: Entry | None, blobs: BlobStore) -> Iterator[bytes]:
    before, after = _side(path, old, blobs), _side(path, new, blobs)
    if before is not None and after is not None and before.mode[:3] != after.mode[:3]:
        yield from _changed(path, before, None)  # a file and a link are nothing to make of each other
        yield from _changed(path, None, after)
    elif before != after:
        yield from _changed(path, before, after)


def _side(path: str, entry: Entry | None, blobs: BlobStore) -> _Side | None:
    if entry is None or entry.kind == "folder":
        return None
    if path.startswith("/"):
        raise _LeftOut("it lies outside of the work dir")
    if entry.kind == "omitted":
        raise _LeftOut(entry.ref)
    if entry.kind == "link":
        return _Side("120000", os.fsencode(entry.ref))
    if entry.size > _MAX_BYTES:
        raise _LeftOut("it is too large for a patch")
    try:
        content = blobs.read(entry.ref)
    except BlobMissing:
        raise _LeftOut("its content is not kept any more") from None
    return _Side("100755" if entry.mode & 0o100 else "100644", content)


def _changed(path: str, before: _Side | None, after: _Side | None) -> Iterator[bytes]:
    yield b"diff --git %s %s\n" % (_name("a/", path), _name("b/", path))
    if before is None and after is not None:
        yield f"new file mode {after.mode}\n".encode()
    elif after is None and before is not None:
        yield f"deleted file mode {before.mode}\n".encode()
    elif before is not None and after is not None and before.mode != after.mode:
        yield f"old mode {before.mode}\nnew mode {after.mode}\n".encode()
    old = before.content if before is not None else b""
    new = after.content if after is not None else b""
    if before is not None and after is not None and old == new:
        return
    names = [side.name if side is not None else _NOTHING for side in (before, after)]
    same_mode = f" {before.mode}" if before and after and before.mode == after.mode else ""
    yield f"index {names[0]}..{names[1]}{same_mode}\n".encode()
    if not (_has_lines(old) and _has_lines(new)):
        yield b"GIT binary patch\n" + _literal(new) + _literal(old)
    elif old != new:
        yield b"--- %s\n" % (_name("a/", path, is_alone=True) if before is not None else b"/dev/null")
        yield b"+++ %s\n" % (_name("b/", path, is_alone=True) if after is not None else b"/dev/null")
        yield from _hunks(lines_of(old), lines_of(new))


def _has_lines(content: bytes) -> bool:
    return is_text(content) and b"\0" not in content


def _hunks(old: Sequence[bytes], new: Sequence[bytes]) -> Iterator[bytes]:
    """The changed lines with those around them. A change is (first, end) in the old and in the new text."""
    changes: list[tuple[int, int, int, int]] = []
    i = j = 0
    for in_old, in_new in [*matching(old, new), (len(old), len(new))]:
        if (in_old, in_new) != (i, j):
            changes.append((i, in_old, j, in_new))
        i, j = in_old + 1, in_new + 1
    while changes:
        count = 1
        while count < len(changes) and changes[count][0] - changes[count - 1][1] <= 2 * _CONTEXT:
            count += 1
        yield _hunk(old, new, changes[:count])
        del changes[:count]


def _hunk(old: Sequence[bytes], new: Sequence[bytes], changes: Sequence[tuple[int, int, int, int]]) -> bytes:
    above = min(_CONTEXT, changes[0][0])
    below = min(_CONTEXT, len(old) - changes[-1][1])
    start, end = changes[0][0] - above, changes[-1][1] + below
    new_start, new_end = changes[0][2] - above, changes[-1][3] + below
    lines = [b"@@ -%s +%s @@\n" % (_range(start, end), _range(new_start, new_end))]
    at = start
    for first, last, new_first, new_last in changes:
        lines += [b" " + line for line in old[at:first]]
        lines += [b"-" + line for line in old[first:last]]
        lines += [b"+" + line for line in new[new_first:new_last]]
        at = last
    lines += [b" " + line for line in old[at:end]]
    return b"".join(line if line.endswith(b"\n") else line + _NO_END for line in lines)


def _range(first: int, end: int) -> bytes:
    return b"%d,%d" % (first + 1 if end > first else first, end - first)


def _literal(content: bytes) -> bytes:
    data = zlib.compress(content)
    lines = [b"literal %d" % len(content)]
    for start in range(0, len(data), _LINE_BYTES):
        piece = data[start : start + _LINE_BYTES]
        length = len(piece)
        letter = ord("A") + length - 1 if length <= 26 else ord("a") + length - 27
        lines.append(bytes([letter]) + base64.b85encode(piece, pad=True))
    return b"\n".join(lines) + b"\n\n"


def _name(prefix: str, path: str, *, is_alone: bool = False) -> bytes:
    """A path as git writes it: in quotes when it has characters that would end it, or is no UTF-8."""
    name = os.fsencode(prefix + path)
    is_plain = all(byte >= 0x20 and byte not in b'"\\\x7f' for byte in name)
    if is_plain and not any("\udc80" <= letter <= "\udcff" for letter in path):
        return name + (b"\t" if is_alone and b" " in name else b"")
    quoted = [
        bytes([byte]) if 0x20 <= byte < 0x7F and byte not in b'"\\' else b"\\%03o" % byte for byte in name
    ]
    return b'"' + b"".join(quoted) + b'"'
