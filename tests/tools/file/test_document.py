"""Documents: what an edit must not touch."""

import re

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from kimi_tui.tools.file.document import decode, document_of
from kimi_tui.tools.file.encoding import encoding_of

texts = st.text(alphabet="ab\r\n", max_size=40)
pieces = st.text(alphabet="ab\n", min_size=1, max_size=4)


@settings(deadline=None)
@given(st.binary(max_size=60))
def test_any_bytes_survive_being_taken_apart_and_put_together(data: bytes) -> None:
    assume(encoding_of(data).is_utf8)
    assert decode(data).encoded() == data


@settings(deadline=None)
@given(texts)
def test_any_line_endings_survive(text: str) -> None:
    assert document_of(text).raw_text == text


@settings(deadline=None)
@given(texts, pieces, pieces)
def test_a_replacement_is_that_of_the_bare_text(text: str, old: str, new: str) -> None:
    document = document_of(text)
    spans = [match.span() for match in re.finditer(re.escape(old), document.text)]
    replaced = document.replacing(spans, old, new)

    assert replaced.text == document.text.replace(old, new)
    assert len(replaced.endings) == replaced.text.count("\n")


@settings(deadline=None)
@given(
    st.lists(st.sampled_from(["x\n", "x\r\n"]), max_size=6),
    st.lists(st.sampled_from(["y\n", "y\r\n"]), max_size=6),
)
def test_lines_around_a_replacement_keep_their_endings(before: list[str], after: list[str]) -> None:
    document = document_of("".join((*before, "old\r\n", *after)))
    start = document.text.index("old")
    replaced = document.replacing([(start, start + 3)], "old", "new\nlines")

    assert replaced.raw_text == "".join((*before, "new\r\nlines\r\n", *after))
