"""Digest set: membership of 100,000 digests in a megabyte."""

from array import array
from bisect import bisect_left
from collections.abc import Iterable

_PREFIX = 16
"""Hexadecimal digits that are kept of each digest, 64 bits."""
_MIN_UNSORTED = 1 << 14
"""Number of added digests from which they are sorted in. Below it, that isn't worth the time."""


class DigestSet:
    """A set of hexadecimal digests that keeps only the beginning of each.

    Different digests with the same beginning count as equal, which happens by chance once in 10^9 sets of
    100,000.
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
        """Return whether it contains a digest."""
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
