"""Lines from a file descriptor, with and without a maximum length."""

import os

import pytest

from kimi_tui.base.raw_input import LineTooLong, RawInput


def open_pipe(data: bytes) -> RawInput:
    read_end, write_end = os.pipe()
    os.write(write_end, data)
    os.close(write_end)
    return RawInput(read_end)


@pytest.mark.parametrize("max_bytes", [None, 5])
def test_lines_are_read_one_by_one_and_the_last_can_lack_its_newline(max_bytes):
    stdin = open_pipe(b"one\n\ntwo\xe2\x80\xa8\nend" if max_bytes is None else b"one\n\n12345\nend")
    lines = [stdin.readline(max_bytes) for _ in range(5)]
    assert lines[0:2] == [b"one\n", b"\n"]
    assert lines[3:] == [b"end", b""]


@pytest.mark.parametrize("length", [6, 60_000])
def test_a_line_that_is_too_long_is_skipped(length):
    stdin = open_pipe(b"x" * length + b"\nnext\n")
    with pytest.raises(LineTooLong):
        stdin.readline(5)
    assert stdin.readline(5) == b"next\n"


def test_the_last_line_can_be_too_long():
    stdin = open_pipe(b"x" * 60_000)
    with pytest.raises(LineTooLong):
        stdin.readline(5)
    assert stdin.readline(5) == b""
