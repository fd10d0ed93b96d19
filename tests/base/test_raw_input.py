"""Lines from a pipe, however long."""

import os

import pytest

from kimi_tui.base.raw_input import LineTooLong, RawInput


def piped(data: bytes) -> RawInput:
    read_end, write_end = os.pipe()
    os.write(write_end, data)
    os.close(write_end)
    return RawInput(read_end)


@pytest.mark.parametrize("longest", [None, 5])
def test_lines_come_one_by_one_and_the_last_may_lack_its_end(longest):
    stdin = piped(b"one\n\ntwo\xe2\x80\xa8\nend" if longest is None else b"one\n\n12345\nend")
    lines = [stdin.readline(longest) for _ in range(5)]
    assert lines[0:2] == [b"one\n", b"\n"]
    assert lines[3:] == [b"end", b""]


@pytest.mark.parametrize("length", [6, 60_000])
def test_a_line_that_is_too_long_is_skipped_and_the_next_one_read(length):
    stdin = piped(b"x" * length + b"\nnext\n")
    with pytest.raises(LineTooLong):
        stdin.readline(5)
    assert stdin.readline(5) == b"next\n"


def test_a_line_that_is_too_long_may_be_the_last():
    stdin = piped(b"x" * 60_000)
    with pytest.raises(LineTooLong):
        stdin.readline(5)
    assert stdin.readline(5) == b""
