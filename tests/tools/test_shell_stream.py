"""Output becomes plain text wherever its pieces end."""

import re
from itertools import pairwise

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kimi_tui.base.terminal import plain
from kimi_tui.tools.shell.stream import PlainStream


def streamed(*pieces: bytes) -> str:
    stream = PlainStream()
    return "".join((*map(stream.feed, pieces), stream.end()))


PIECES = st.sampled_from(
    [
        "a", "bc", "é", "漢", "\n", "\r", "\r\n", "\t", "\x1b[31m", "\x1b[0m", "\x1b]0;t\x07", "\x07",
        "\x1b(B", "\x1b]8;;u\x1b\\", "\x1b", "\x00", "\x9b1m", "10%\r",
    ]
)  # fmt: skip
OUTPUT = st.lists(PIECES).map("".join)


@given(OUTPUT, st.lists(st.integers(0, 200), max_size=8))
@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_how_output_is_cut_into_pieces_does_not_matter(text: str, cuts: list[int]) -> None:
    data = text.encode()
    edges = sorted({min(cut, len(data)) for cut in cuts} | {0, len(data)})
    pieces = [data[start:end] for start, end in pairwise(edges)]
    shown = streamed(*pieces)
    assert plain(shown) == shown
    assert shown.count("\n") <= text.count("\n")
    rewrites = "\r" in text.replace("\r\n", "")  # what was shown already can't be taken back
    if not rewrites and not re.search("\x1b(?:[]\x1b\x00\x07\n\r\t\x9b]|[^[(]|$)", text):
        assert shown == streamed(data)


def test_a_character_split_between_two_pieces_is_whole() -> None:
    assert streamed("é".encode()[:1], "é".encode()[1:]) == "é"


def test_what_is_no_utf8_is_replaced() -> None:
    assert streamed(b"a\xff\xfeb\xc3") == "a\ufffd\ufffdb\ufffd"


def test_colours_are_dropped_even_when_split() -> None:
    assert streamed(b"a\x1b", b"[3", b"1mred\x1b[0m\n") == "ared\n"


def test_a_progress_bar_keeps_its_last_state() -> None:
    assert streamed(b"10%\r", b"20%\r", b"30%", b"\r100%\ndone\n") == "100%\ndone\n"


def test_a_line_without_an_end_is_shown_at_once() -> None:
    stream = PlainStream()
    assert stream.feed(b"passed ..") == "passed .."
    assert stream.feed(b"..") == ".."


def test_nothing_waits_for_ever() -> None:
    stream = PlainStream()
    shown = "".join(stream.feed(b"\x1b]" + b"x" * 1000) for _ in range(200))
    assert len(shown + stream.end()) <= 200_000
    rewriting = PlainStream()
    for _ in range(1000):
        rewriting.feed(b"working ...\r")
    assert rewriting.end() == "working ..."
