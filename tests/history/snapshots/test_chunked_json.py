"""Lines of compressed documents are read one after the other."""

import random
import tracemalloc
import zlib

import pytest

from kimi_tui.history.snapshots.chunked_json import (
    MAX_ITEMS,
    decode,
    encode_lines,
    inflate_lines,
    split_lines,
)


@pytest.mark.parametrize("data", [b"", b"a", b"a\n", b"\n\nb", b"x" * 200_000 + b"\n" + b"y" * 100_000])
def test_the_lines_are_those_of_the_decompressed_data(data: bytes) -> None:
    assert list(inflate_lines(zlib.compress(data))) == list(split_lines(data))


def test_a_record_is_the_same_after_it_was_read_line_by_line() -> None:
    record = {"parent": None, "whole": {f"file{number}": [number] for number in range(3 * MAX_ITEMS + 1)}}
    data = zlib.compress(b"".join(encode_lines(record)))
    assert decode(inflate_lines(data)) == record


@pytest.mark.parametrize("length", [0, 1, -1])
def test_incomplete_data_is_an_error(length: int) -> None:
    data = zlib.compress(random.Random(0).randbytes(100_000))
    with pytest.raises(zlib.error):
        list(inflate_lines(data[:length]))


def test_the_lines_are_never_all_in_memory() -> None:
    line = random.Random(0).randbytes(1000).hex().encode()
    data = zlib.compress(b"\n".join([line] * 10_000))
    tracemalloc.start()
    try:
        assert sum(map(len, inflate_lines(data))) == 10_000 * len(line)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 10_000 * len(line) / 3
