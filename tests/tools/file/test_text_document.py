"""Text documents: what an edit must not change."""

import re

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from kimi_tui.tools.file.encoding import detect_encoding
from kimi_tui.tools.file.text_document import decode_document, parse_text

texts = st.text(alphabet="ab\r\n", max_size=40)
pieces = st.text(alphabet="ab\n", min_size=1, max_size=4)


@settings(deadline=None)
@given(st.binary(max_size=60))
def test_decoding_and_encoding_any_bytes_is_lossless(data: bytes) -> None:
    assume(detect_encoding(data).is_utf8)
    assert decode_document(data).encode() == data


@settings(deadline=None)
@given(texts)
def test_all_line_endings_are_kept(text: str) -> None:
    assert parse_text(text).raw_text == text


@settings(deadline=None)
@given(texts, pieces, pieces)
def test_a_replacement_equals_that_in_the_normalized_text(text: str, old: str, new: str) -> None:
    document = parse_text(text)
    spans = [match.span() for match in re.finditer(re.escape(old), document.text)]
    replaced = document.replace_spans(spans, old, new)

    assert replaced.text == document.text.replace(old, new)
    assert len(replaced.endings) == replaced.text.count("\n")


@settings(deadline=None)
@given(
    st.lists(st.sampled_from(["x\n", "x\r\n"]), max_size=6),
    st.lists(st.sampled_from(["y\n", "y\r\n"]), max_size=6),
)
def test_lines_around_a_replacement_keep_their_endings(before: list[str], after: list[str]) -> None:
    document = parse_text("".join((*before, "old\r\n", *after)))
    start = document.text.index("old")
    replaced = document.replace_spans([(start, start + 3)], "old", "new\nlines")

    assert replaced.raw_text == "".join((*before, "new\r\nlines\r\n", *after))
