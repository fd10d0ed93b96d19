"""Sanitized text doesn't depend on where the stream is split."""

import re
from itertools import pairwise

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kimi_tui.base.terminal_text import sanitize
from kimi_tui.base.text_sanitizer import ByteStreamSanitizer, StreamSanitizer


def sanitize_chunks(*chunks: bytes) -> str:
    sanitizer = ByteStreamSanitizer()
    return "".join((*map(sanitizer.feed, chunks), sanitizer.flush()))


PIECES = st.sampled_from(
    [
        "a", "bc", "é", "漢", "\n", "\r", "\r\n", "\t", "\x1b[31m", "\x1b[0m", "\x1b]0;t\x07", "\x07",
        "\x1b(B", "\x1b]8;;u\x1b\\", "\x1b", "\x00", "\x9b1m", "10%\r",
    ]
)  # fmt: skip
OUTPUT = st.lists(PIECES).map("".join)


@given(OUTPUT, st.lists(st.integers(0, 200), max_size=8))
@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_the_result_does_not_depend_on_how_output_is_split(text: str, cuts: list[int]) -> None:
    data = text.encode()
    edges = sorted({min(cut, len(data)) for cut in cuts} | {0, len(data)})
    chunks = [data[start:end] for start, end in pairwise(edges)]
    shown = sanitize_chunks(*chunks)
    assert sanitize(shown) == shown
    assert shown.count("\n") <= text.count("\n")
    rewrites = "\r" in text.replace("\r\n", "")  # text that was shown already can't be overwritten
    if not rewrites and not re.search("\x1b(?:[]\x1b\x00\x07\n\r\t\x9b]|[^[(]|$)", text):
        assert shown == sanitize_chunks(data)


def test_a_character_split_between_two_chunks_is_decoded() -> None:
    assert sanitize_chunks("é".encode()[:1], "é".encode()[1:]) == "é"


def test_bytes_that_are_not_utf8_are_replaced() -> None:
    assert sanitize_chunks(b"a\xff\xfeb\xc3") == "a\ufffd\ufffdb\ufffd"


def test_colors_are_removed_even_when_split() -> None:
    assert sanitize_chunks(b"a\x1b", b"[3", b"1mred\x1b[0m\n") == "ared\n"


def test_an_escape_sequence_split_between_two_fragments_is_removed() -> None:
    sanitizer = StreamSanitizer()
    fragments = ("a\x1b", "[3", "1mred\x1b]0;title", "\x07 text\r", "\nend\x1b[")
    assert [sanitizer.feed(fragment) for fragment in fragments] == ["a", "", "red", " text", "\nend"]
    assert sanitizer.flush() == ""


def test_a_progress_bar_keeps_its_last_state() -> None:
    assert sanitize_chunks(b"10%\r", b"20%\r", b"30%", b"\r100%\ndone\n") == "100%\ndone\n"


def test_a_line_without_an_end_is_shown_immediately() -> None:
    sanitizer = ByteStreamSanitizer()
    assert sanitizer.feed(b"passed ..") == "passed .."
    assert sanitizer.feed(b"..") == ".."


def test_held_text_is_bounded() -> None:
    sanitizer = ByteStreamSanitizer()
    shown = "".join(sanitizer.feed(b"\x1b]" + b"x" * 1000) for _ in range(200))
    assert len(shown + sanitizer.flush()) <= 200_000
    rewriting = ByteStreamSanitizer()
    for _ in range(1000):
        rewriting.feed(b"working ...\r")
    assert rewriting.flush() == "working ..."
