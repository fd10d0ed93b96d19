"""Hunks: the changes between two versions of a file that can be applied one by one.

A hunk is a run of adjacent changed lines. Lines are bytes up to and including a newline; the last line may
lack the newline. With any selection of hunks, each resulting line is identical to a line of one version.
"""

import hashlib
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from io import BytesIO

from kimi_tui.base.line_matcher import LineMatcher
from kimi_tui.history.snapshots.merge3 import is_text

_ID_BYTES = 6


@dataclass(frozen=True, slots=True)
class Hunk:
    """Replacement of the lines `old[old_start:old_end]` by the lines `new[new_start:new_end]`."""

    id: str
    """Depends only on the replaced lines, the new lines, and the number of equal hunks before it."""
    old_start: int
    old_end: int
    new_start: int
    new_end: int


class UnknownHunk(Exception):
    """Some selected hunks don't exist; the exception text lists their ids."""


def split_lines(content: bytes) -> list[bytes]:
    """Return the lines, each with its newline."""
    return list(BytesIO(content))


def find_hunks(old: bytes, new: bytes) -> list[Hunk]:
    """Return the hunks that turn `old` into `new`, in order; none if one of them isn't text."""
    if not (is_text(old) and is_text(new)):
        return []
    return _hunks_of_lines(split_lines(old), split_lines(new))


def apply_hunks(old: bytes, new: bytes, ids: Collection[str]) -> bytes:
    """Return `old` with the hunks `ids` of `find_hunks(old, new)` applied.

    Raises UnknownHunk if no hunk has one of the ids.
    """
    old_lines, new_lines = split_lines(old), split_lines(new)
    hunks = find_hunks(old, new)
    if unknown := set(ids) - {hunk.id for hunk in hunks}:
        raise UnknownHunk(", ".join(sorted(unknown)))
    result: list[bytes] = []
    at = 0
    for hunk in hunks:
        if hunk.id in ids:
            result += old_lines[at : hunk.old_start] + new_lines[hunk.new_start : hunk.new_end]
            at = hunk.old_end
    return b"".join(result + old_lines[at:])


def _hunks_of_lines(old: Sequence[bytes], new: Sequence[bytes]) -> list[Hunk]:
    seen: Counter[str] = Counter()
    hunks = []
    for _, i1, i2, j1, j2 in LineMatcher(old, new).get_changes():
        name = _change_digest(old[i1:i2], new[j1:j2])
        seen[name] += 1
        hunks.append(Hunk(name if seen[name] == 1 else f"{name}-{seen[name]}", i1, i2, j1, j2))
    return hunks


def _change_digest(old: Sequence[bytes], new: Sequence[bytes]) -> str:
    digest = hashlib.blake2b(digest_size=_ID_BYTES)
    for lines in (old, new):
        digest.update(b"%d\n" % len(lines))
        digest.update(b"".join(lines))
    return digest.hexdigest()
