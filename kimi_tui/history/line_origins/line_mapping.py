"""Mapping of lines: finds the line of an older text that each line of a newer text continues.

A line continues an older line if both are equal, if only the layout changed, or if the line moved. Layout
means everything that formatters change: white space, line breaks, quotes, trailing commas and parentheses
around an expression.

From two texts, it isn't always clear who wrote a line: if a closing brace is added next to another one,
either brace may be new. If the user may have written such a line, it counts as the user's, so that no line of
the user is attributed to the agent.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import pairwise

from kimi_tui.base.frozen import frozen
from kimi_tui.base.line_matcher import LineMatcher

_LAYOUT = bytes.maketrans(b"'", b'"')
_LAYOUT_BYTES = b" \t\r\n\f\v,;()\\"
_SIGNIFICANT = 12
"""Minimum number of letters and digits at which an equal line is probably the same line."""
_MAX_MOVED_LINES = 20_000


@frozen
class LineMatch:
    """Source of a line."""

    line: int | None
    """Number of the older line that the line continues, from 0; None if the line is new."""
    is_doubtful: bool = False
    """Whether the line may also be new."""


NEW = LineMatch(None)
Lines = Sequence[bytes]


def map_lines(old: Lines, new: Lines, *, is_by_user: bool) -> list[LineMatch]:
    """Return the source of each line of `new`. `is_by_user`: the user may have made the change."""
    return _LineMapper(old, new, is_by_user=is_by_user).run()


class _LineMapper:
    """Maps the lines of two texts."""

    def __init__(self, old: Lines, new: Lines, *, is_by_user: bool) -> None:
        self._old = old
        self._new = new
        self._is_by_user = is_by_user
        self._sources = [NEW] * len(new)
        self._hunks: list[tuple[int, int, int, int]] = []
        """Old and new ranges of changed lines."""

    def run(self) -> list[LineMatch]:
        """Return the sources."""
        if self._old and self._new and self._match_characters(0, len(self._old), 0, len(self._new)):
            return self._sources
        self._match_equal()
        for hunk in self._hunks:
            self._match_layout(*hunk)
        self._match_moved()
        for hunk in self._hunks:
            self._doubt_neighbors(*hunk)
        return self._sources

    def _match_equal(self) -> None:
        blocks = [
            (block.a, block.b, block.size)
            for block in LineMatcher(self._old, self._new).get_matching_blocks()
        ]
        kept = [(0, 0, 0)]
        for number, (i, j, size) in enumerate(blocks):
            is_last = number == len(blocks) - 1
            if is_last or not self._is_coincidence(kept[-1], (i, j, size), blocks[number + 1]):
                kept.append((i, j, size))
        for i, j, size in kept:
            for offset in range(size):
                self._sources[j + offset] = LineMatch(i + offset)
        for (i, j, size), (next_i, next_j, _) in pairwise(kept):
            if (i + size, j + size) != (next_i, next_j):
                self._hunks.append((i + size, next_i, j + size, next_j))

    def _is_coincidence(
        self, before: tuple[int, int, int], block: tuple[int, int, int], after: tuple[int, int, int]
    ) -> bool:
        """Return whether equal lines between rewritten lines were probably written again.

        True if the user replaced lines both before and after them, and they are short or few. A single short
        line also counts if the user only added lines before and after it.
        """
        if not self._is_by_user:
            return False
        (i, j, size) = block
        gaps = (
            (i - before[0] - before[2], j - before[1] - before[2]),
            (after[0] - i - size, after[1] - j - size),
        )
        is_short = not any(is_significant(line) for line in self._new[j : j + size])
        if size == 1 and is_short and all(added for _, added in gaps) and self._new[j].strip():
            return True
        if not all(removed and added for removed, added in gaps):
            return False
        if is_short:
            return True
        return size * 3 <= min(added for _, added in gaps)

    def _match_layout(self, i1: int, i2: int, j1: int, j2: int) -> None:
        """Map the lines of a hunk that differ from older lines only in layout."""
        old, new = self._old[i1:i2], self._new[j1:j2]
        if not old or not new:
            return
        if self._match_characters(i1, i2, j1, j2):
            return
        matcher = LineMatcher([_bare(line) for line in old], [_bare(line) for line in new])
        for block in matcher.get_matching_blocks():
            lines = new[block.b : block.b + block.size]
            if any(map(is_significant, lines)) or (not self._is_by_user and any(map(_bare, lines))):
                for offset in range(block.size):
                    self._sources[j1 + block.b + offset] = LineMatch(i1 + block.a + offset)

    def _match_characters(self, i1: int, i2: int, j1: int, j2: int) -> bool:
        """Map the lines if they were only broken, joined or indented. Return whether they were.

        Each line continues the older line with most of its characters. An empty line continues the empty line
        in the same place.
        """
        old = [_bare(line) for line in self._old[i1:i2]]
        new = [_bare(line) for line in self._new[j1:j2]]
        if not any(old) or b"".join(old) != b"".join(new):
            return False
        owners = [i1 + number for number, line in enumerate(old) for _ in line]
        empty: defaultdict[int, list[int]] = defaultdict(list)
        """Old lines without characters by the number of characters before them."""
        at = 0
        for number, line in enumerate(old):
            if not line:
                empty[at].append(i1 + number)
            at += len(line)
        at, n_empty = 0, 0
        for number, line in enumerate(new):
            if line:
                counts = Counter(owners[at : at + len(line)])
                source = counts.most_common(1)[0][0]
                at, n_empty = at + len(line), 0
            else:
                text = self._new[j1 + number].strip()
                places = [it for it in empty[at] if self._old[it].strip() == text]
                if not places and text and self._is_by_user:
                    continue  # a parenthesis on a line of its own, which the user may have typed
                places = places or [owners[max(0, at - 1)]]
                source = places[min(n_empty, len(places) - 1)]
                n_empty += 1
            self._sources[j1 + number] = LineMatch(source)
        return True

    def _match_moved(self) -> None:
        """Map new lines that are equal to removed lines."""
        kept = {source.line for source in self._sources}
        removed: defaultdict[bytes, list[int]] = defaultdict(list)
        n_removed = 0
        for i1, i2, _, _ in self._hunks:
            n_removed += i2 - i1
            for i in range(i1, i2):
                if i not in kept:
                    removed[self._old[i].strip()].append(i)
        if n_removed > _MAX_MOVED_LINES:
            return
        added: defaultdict[bytes, list[int]] = defaultdict(list)
        for _, _, j1, j2 in self._hunks:
            for j in range(j1, j2):
                if self._sources[j].line is None:
                    added[self._new[j].strip()].append(j)
        for line, positions in added.items():
            sources = removed.get(line, [])
            is_clear = len(sources) == len(positions) and is_significant(line)
            if is_clear:
                for i, j in zip(sources, positions, strict=True):
                    self._sources[j] = LineMatch(i)
            elif sources and not self._is_by_user:
                for number, j in enumerate(positions):
                    self._sources[j] = LineMatch(sources[min(number, len(sources) - 1)], is_doubtful=True)

    def _doubt_neighbors(self, i1: int, i2: int, j1: int, j2: int) -> None:
        """Find lines next to inserted lines that may be the inserted ones, since both are equal."""
        new = self._new
        for known in (j1 - 1, j2):
            if 0 <= known < len(new) and self._sources[known].line is not None:
                for added in range(j1, j2):
                    if new[added] == new[known] and not is_significant(new[known]):
                        self._doubt_pair(known, added)
        if i1 != i2:
            return
        up = 0
        while j1 - up > 0 and new[j1 - 1 - up] == new[j2 - 1 - up]:
            self._doubt_pair(j1 - 1 - up, j2 - 1 - up)
            up += 1
        down = 0
        while j2 + down < len(new) and new[j1 + down] == new[j2 + down]:
            self._doubt_pair(j2 + down, j1 + down)
            down += 1

    def _doubt_pair(self, known: int, added: int) -> None:
        """Mark two equal lines, either of which may be the older one."""
        if not self._new[added].strip():
            return
        if self._is_by_user:
            self._sources[known] = NEW
        elif self._sources[added].line is None:
            self._sources[added] = LineMatch(self._sources[known].line, is_doubtful=True)


def _bare(line: bytes) -> bytes:
    """Return a line without its layout."""
    return line.translate(_LAYOUT, _LAYOUT_BYTES)


def is_significant(line: bytes) -> bool:
    """Return whether a line is so long that an equal line is probably the same line."""
    count = 0
    for byte in line:
        count += byte > 0x7F or chr(byte).isalnum()
        if count >= _SIGNIFICANT:
            return True
    return False
