"""Patches: the difference of two states as text that `git apply` accepts, also with `--reverse`.

Format: git's own (git-diff(1), “Generating patch text with -p”), including modes and links. Binary contents
are `GIT binary patch` literals: zlib data in base 85, 52 bytes per line, each line preceded by a letter for
its length. Git doesn't track directories, so empty directories are omitted.
"""

import base64
import hashlib
import os
import zlib
from collections.abc import Iterator, Sequence
from io import BytesIO

from kimi_tui.base.frozen import frozen
from kimi_tui.base.line_matcher import LineMatcher, Opcode
from kimi_tui.history.snapshots.blob_store import BlobMissing, BlobStore
from kimi_tui.history.snapshots.deadline import ScanDeadline
from kimi_tui.history.snapshots.entry import Entries, Entry
from kimi_tui.history.snapshots.merge3 import is_text

_MAX_BYTES = 16 << 20
"""Larger files are omitted: a patch is built in memory, where a file needs about four times its size."""
_LINE_BYTES = 52
_NOTHING = "0" * 40
_NO_END = b"\n\\ No newline at end of file\n"


@frozen
class Patch:
    """A patch, complete except for the omitted paths."""

    text: bytes
    paths: tuple[str, ...]
    """The files that the patch changes."""
    omitted: tuple[tuple[str, str], ...]
    """Paths that differ but aren't included, and why."""


@frozen
class _Side:
    """A file in one of the states, as git represents it."""

    mode: str
    content: bytes

    @property
    def name(self) -> str:
        """The name of the object in a git repository."""
        head = b"blob %d\0" % len(self.content)
        return hashlib.sha1(head + self.content, usedforsecurity=False).hexdigest()


class _NotPatchable(Exception):
    """A file that a patch can't contain; the message says why."""


def build_patch(
    old: Entries, new: Entries, paths: Sequence[str], blobs: BlobStore, *, deadline: ScanDeadline
) -> Patch:
    """Return the patch that turns `paths` in `old` into those in `new`. Raises ScanCanceled, OSError."""
    parts: list[bytes] = []
    changed: list[str] = []
    omitted: list[tuple[str, str]] = []
    for number, path in enumerate(paths):
        deadline.check(number, len(paths))
        try:
            part = b"".join(_file_patch(path, old.get(path), new.get(path), blobs))
        except _NotPatchable as reason:
            omitted.append((path, str(reason)))
            continue
        if part:
            parts.append(part)
            changed.append(path)
    return Patch(b"".join(parts), tuple(changed), tuple(omitted))


def _file_patch(path: str, old: Entry | None, new: Entry | None, blobs: BlobStore) -> Iterator[bytes]:
    before, after = _side(path, old, blobs), _side(path, new, blobs)
    if before is not None and after is not None and before.mode[:3] != after.mode[:3]:
        yield from _render_change(path, before, None)  # git can't turn a file into a link or the reverse
        yield from _render_change(path, None, after)
    elif before != after:
        yield from _render_change(path, before, after)


def _side(path: str, entry: Entry | None, blobs: BlobStore) -> _Side | None:
    if entry is None or entry.kind == "folder":
        return None
    if path.startswith("/"):
        raise _NotPatchable("outside the working directory")
    if entry.kind == "omitted":
        raise _NotPatchable(entry.ref)
    if entry.kind == "link":
        return _Side("120000", os.fsencode(entry.ref))
    if entry.size > _MAX_BYTES:
        raise _NotPatchable("too large for a patch")
    try:
        content = blobs.read(entry.ref)
    except BlobMissing:
        raise _NotPatchable("its content is no longer stored") from None
    return _Side("100755" if entry.mode & 0o100 else "100644", content)


def _render_change(path: str, before: _Side | None, after: _Side | None) -> Iterator[bytes]:
    yield b"diff --git %s %s\n" % (_format_name("a/", path), _format_name("b/", path))
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
        yield b"GIT binary patch\n" + _render_literal(new) + _render_literal(old)
    elif old != new:
        yield b"--- %s\n" % (_format_name("a/", path, is_alone=True) if before is not None else b"/dev/null")
        yield b"+++ %s\n" % (_format_name("b/", path, is_alone=True) if after is not None else b"/dev/null")
        old_lines, new_lines = list(BytesIO(old)), list(BytesIO(new))
        for opcodes in LineMatcher(old_lines, new_lines).get_grouped_opcodes():
            yield _render_hunk(old_lines, new_lines, opcodes)


def _has_lines(content: bytes) -> bool:
    return is_text(content) and b"\0" not in content


def _render_hunk(old: Sequence[bytes], new: Sequence[bytes], opcodes: Sequence[Opcode]) -> bytes:
    """Return a hunk: changed lines with context."""
    (_, start, _, new_start, _), (_, _, end, _, new_end) = opcodes[0], opcodes[-1]
    lines = [b"@@ -%s +%s @@\n" % (_format_range(start, end), _format_range(new_start, new_end))]
    for tag, i1, i2, j1, j2 in opcodes:
        if tag == "equal":
            lines += [b" " + line for line in old[i1:i2]]
        else:
            lines += [b"-" + line for line in old[i1:i2]]
            lines += [b"+" + line for line in new[j1:j2]]
    return b"".join(line if line.endswith(b"\n") else line + _NO_END for line in lines)


def _format_range(first: int, end: int) -> bytes:
    return b"%d,%d" % (first + 1 if end > first else first, end - first)


def _render_literal(content: bytes) -> bytes:
    data = zlib.compress(content)
    lines = [b"literal %d" % len(content)]
    for start in range(0, len(data), _LINE_BYTES):
        piece = data[start : start + _LINE_BYTES]
        length = len(piece)
        letter = ord("A") + length - 1 if length <= 26 else ord("a") + length - 27
        lines.append(bytes([letter]) + base64.b85encode(piece, pad=True))
    return b"\n".join(lines) + b"\n\n"


def _format_name(prefix: str, path: str, *, is_alone: bool = False) -> bytes:
    """Format a path like git: quoted if it contains special characters or isn't valid UTF-8."""
    name = os.fsencode(prefix + path)
    is_plain = all(byte >= 0x20 and byte not in b'"\\\x7f' for byte in name)
    if is_plain and not any("\udc80" <= letter <= "\udcff" for letter in path):
        return name + (b"\t" if is_alone and b" " in name else b"")
    quoted = [
        bytes([byte]) if 0x20 <= byte < 0x7F and byte not in b'"\\' else b"\\%03o" % byte for byte in name
    ]
    return b'"' + b"".join(quoted) + b'"'
