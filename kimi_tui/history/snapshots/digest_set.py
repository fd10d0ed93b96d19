"""Digest set that stores 100,000 digests in a megabyte of memory."""

from array import array
from bisect import bisect_left
from collections.abc import Iterable

_PREFIX = 16
"""Number of hexadecimal digits kept of each digest: 64 bits."""
_MIN_UNSORTED = 1 << 14
"""Minimum number of digests to sort in at a time. Sorting fewer isn't worth the time."""


class DigestSet:
    """A set of hexadecimal digests that keeps only the beginning of each.

    Different digests with the same beginning count as equal. By chance, this happens once in 10^9 sets of
    100,000 digests.
    """

    def __init__(self, digests: Iterable[str] = ()) -> None:
        self._sorted = array("Q")
        self._added: set[int] = set()
        self.update(digests)

    def update(self, digests: Iterable[str]) -> None:
        """Add digests."""
        for digest in digests:
            self._added.add(int(digest[:_PREFIX], 16))
            if len(self._added) >= max(_MIN_UNSORTED, len(self._sorted) // 4):
                self._sort_in()

    def __contains__(self, digest: str) -> bool:
        """Return whether the set contains a digest."""
        prefix = int(digest[:_PREFIX], 16)
        at = bisect_left(self._sorted, prefix)
        return (at < len(self._sorted) and self._sorted[at] == prefix) or prefix in self._added

    def _sort_in(self) -> None:
        added, self._added = array("Q", sorted(self._added)), set()
        merged = array("Q")
        at = 0
        for prefix in added:
            end = bisect_left(self._sorted, prefix, lo=at)
            merged += self._sorted[at:end]
            at = end
            if at == len(self._sorted) or self._sorted[at] != prefix:
                merged.append(prefix)
        self._sorted = merged + self._sorted[at:]
