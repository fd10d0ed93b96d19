"""Three-way merge of texts, line by line: combines the changes of `ours` and `theirs` to `base`.

Source: S. Khanna, K. Kunal, B. C. Pierce, “A Formal Investigation of Diff3” (2007). Lines shared by all three
are stable; between them, a side that equals the base yields to the other.
"""

from collections.abc import Iterator, Sequence
from io import BytesIO

from kimi_tui.base.line_matcher import LineMatcher

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
    for in_base, in_ours, in_theirs in _chunks(*(list(BytesIO(text)) for text in (base, ours, theirs))):
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
    with_ours, with_theirs = _matching_lines(base, ours), _matching_lines(base, theirs)
    stable = [(i, with_ours[i], with_theirs[i]) for i in with_ours if i in with_theirs]
    at = (0, 0, 0)
    for i, j, k in [*stable, (len(base), len(ours), len(theirs))]:
        if (i, j, k) != at:
            yield base[at[0] : i], ours[at[1] : j], theirs[at[2] : k]
        if i < len(base):
            yield base[i : i + 1], ours[j : j + 1], theirs[k : k + 1]
        at = (i + 1, j + 1, k + 1)


def _matching_lines(old: Lines, new: Lines) -> dict[int, int]:
    """Map the indices of lines in `old` to those of their equals in `new`, ascending."""
    blocks = LineMatcher(old, new).get_matching_blocks()
    return {i + n: j + n for i, j, size in blocks for n in range(size)}
