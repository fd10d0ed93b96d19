"""Merging two changes of a text line by line."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kimi_tui.history.snapshots.merge3 import merge3

LINE = st.sampled_from([b"a\n", b"b\n", b"c\r\n", b"\n", b"\xff\xfe\n", "é\n".encode("latin-1")])
TEXTS = st.builds(
    lambda lines, end: b"".join(lines) + end, st.lists(LINE, max_size=8), st.sampled_from([b"", b"end"])
)


@pytest.mark.parametrize(
    ("base", "ours", "theirs", "merged"),
    [
        pytest.param(b"agent\n", b"agent\nmine\n", b"", b"mine\n", id="a line appended to a created file"),
        pytest.param(b"agent", b"agent\nmine\n", b"", b"mine\n", id="without a newline before"),
        pytest.param(b"agent\n", b"agent\nmine", b"", b"mine", id="without a newline after"),
        pytest.param(b"1\nA\n3\n", b"1\nA\nmine\n", b"1\n2\n3\n", b"1\n2\nmine\n", id="adjacent lines"),
        pytest.param(b"A\nB\nC\n", b"A\nmine\nB\nC\n", b"", b"mine\n", id="a line inside of deleted ones"),
        pytest.param(b"1\n2\n", b"1\n2\n\nx", b"1\n", b"1\n\nx", id="an empty line before an unfinished one"),
        pytest.param(b"1\r\n2\r\n", b"1\r\nX\r\n2\r\n", b"2\r\n", b"X\r\n2\r\n", id="CRLF"),
        pytest.param(b"1\nA\n", b"1\nmine\n", b"1\n2\n", None, id="the same line"),
        pytest.param(b"1\n", b"mine\n1\n", b"theirs\n1\n", None, id="two insertions at one place"),
        pytest.param(b"1\nA\nB\n", b"1\nA\n", b"1\n2\n", None, id="a deleted line of a replaced block"),
        pytest.param(b"1\n2\n3\n", b"", b"1\n2\nback\n3\n", None, id="an insertion into what you deleted"),
        pytest.param(b"a\0\n", b"a\0\nb\n", b"", None, id="binary"),
    ],
)
def test_changes_of_different_lines_are_combined(
    base: bytes, ours: bytes, theirs: bytes, merged: bytes | None
) -> None:
    assert merge3(base, ours, theirs) == merged


def test_where_changes_overlap_your_lines_can_be_kept_alone_or_with_the_others():
    base, ours, theirs = b"1\nA\nB\n4\nC\n", b"1\nA\nmine\n4\nC\nnew\n", b"1\n2\n3\n4\n"
    assert merge3(base, ours, theirs) is None
    assert merge3(base, ours, theirs, overlap="ours") == b"1\nmine\n4\nnew\n"
    assert merge3(base, ours, theirs, overlap="both") == b"1\nA\nmine\n2\n3\n4\nnew\n"


@settings(deadline=None)
@given(TEXTS, TEXTS)
def test_a_change_of_one_side_only_is_taken_byte_for_byte(base: bytes, changed: bytes) -> None:
    for overlap in ("fail", "ours", "both"):
        assert merge3(base, changed, base, overlap=overlap) == changed
        assert merge3(base, base, changed, overlap=overlap) == changed
        assert merge3(base, changed, changed, overlap=overlap) == changed


@settings(deadline=None)
@given(TEXTS, TEXTS, TEXTS)
def test_no_line_of_yours_is_lost(base: bytes, ours: bytes, theirs: bytes) -> None:
    own_lines = {b"mine %d\n" % number: number for number in range(3)}
    ours = b"mine 0\n" + b"".join(
        line + (b"mine 1\n" if at == 1 else b"") for at, line in enumerate(ours.splitlines(keepends=True))
    )
    for overlap in ("fail", "ours", "both"):
        merged = merge3(base, ours, theirs, overlap=overlap)
        assert merged is not None or overlap == "fail"
        if merged is not None:
            for line in own_lines:
                assert merged.count(line.rstrip()) == ours.count(line.rstrip())
