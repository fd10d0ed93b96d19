"""Three-way merge of texts, line by line: combines the changes of `ours` and `theirs` to `base`.

Source: S. Khanna, K. Kunal, B. C. Pierce, “A Formal Investigation of Diff3” (2007). Lines shared by all three
are stable; between them, a side that equals the base yields to the other.
"""

from collections.abc import Iterator, Sequence

from kimi_tui.history.snapshots.line_diff import lines_of, matching_lines

MAX_BYTES = 4 << 20
_SNIFF_BYTES = 8192


def is_text(content: bytes) -> bool:
    """Return whether `content` can be merged and shown line by line."""
    return b"\0" not in content[:_SNIFF_BYTES] and len(content) <= MAX_BYTES


def merge3(base: bytes, ours: bytes, theirs: bytes) -> bytes | None:
    """Return both changes combined; None if they affect the same lines, or one of the contents isn't text."""
    if not (is_text(base) and is_text(ours) and is_text(theirs)):
        return None
    result: list[bytes] = []
    for in_base, in_ours, in_theirs in _chunks(lines_of(base), lines_of(ours), lines_of(theirs)):
        if in_ours == in_theirs or in_theirs == in_base:
            result += in_ours
        elif in_ours == in_base:
            result += in_theirs
        else:
            return None
    if any(not line.endswith(b"\n") for line in result[:-1]):
        return None  # the last line of one text, without a newline, ended up in the middle
    return b"".join(result)


Lines = Sequence[bytes]


def _chunks(base: Lines, ours: Lines, theirs: Lines) -> Iterator[tuple[Lines, Lines, Lines]]:
    """Split the texts at the lines shared by all three. Each shared line is its own chunk."""
    with_ours, with_theirs = dict(matching_lines(base, ours)), dict(matching_lines(base, theirs))
    stable = [(i, with_ours[i], with_theirs[i]) for i in with_ours if i in with_theirs]
    at = (0, 0, 0)
    for i, j, k in [*stable, (len(base), len(ours), len(theirs))]:
        if (i, j, k) != at:
            yield base[at[0] : i], ours[at[1] : j], theirs[at[2] : k]
        if i < len(base):
            yield base[i : i + 1], ours[j : j + 1], theirs[k : k + 1]
        at = (i + 1, j + 1, k + 1)
