"""A digest set contains exactly what was added, in little memory."""

import hashlib
import sys
import tracemalloc
from collections.abc import Iterator

import pytest

from kimi_tui.history.snapshots.digest_set import DigestSet


def digests(prefix: str, count: int) -> Iterator[str]:
    return (hashlib.sha1(f"{prefix}{number}".encode()).hexdigest() for number in range(count))


@pytest.mark.parametrize("count", [0, 10, 16_384, 16_385, 50_000])
def test_it_contains_what_was_added(count: int) -> None:
    found = DigestSet(digests("a", count // 2))
    found.update(digests("a", count))  # half of them again
    assert all(digest in found for digest in digests("a", count))
    assert not any(digest in found for digest in digests("b", 1000))


def test_a_hundred_thousand_digests_take_a_few_megabytes() -> None:
    expected = sum(sys.getsizeof(digest) for digest in digests("a", 1000)) * 100
    tracemalloc.start()
    try:
        found = DigestSet(digests("a", 100_000))
        size, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert next(digests("a", 1)) in found
    assert size < expected / 3
