"""Comparison of texts line by line: correct, and thorough and fast for long texts."""

import time
from collections.abc import Sequence
from itertools import pairwise
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from kimi_tui.base.line_matcher import LineMatcher

few_lines = st.lists(st.sampled_from("abcdefgh"), max_size=30)
many_lines = st.integers(0, 5).flatmap(
    lambda kinds: st.builds(
        lambda start, end: [*start, *(str(n % (7**kinds)) for n in range(600)), *end], few_lines, few_lines
    )
)


def apply_changes(old: Sequence[str], new: Sequence[str]) -> list[str]:
    """Apply the changes between `old` and `new` to `old`."""
    result: list[str] = []
    at = 0
    for _, i1, i2, j1, j2 in LineMatcher(old, new).get_changes():
        result += old[at:i1]
        assert len(result) == j1
        result += new[j1:j2]
        at = i2
    return result + list(old[at:])


@settings(deadline=None)
@given(few_lines | many_lines, few_lines | many_lines)
def test_applying_the_changes_yields_the_new_text(old: list[str], new: list[str]) -> None:
    assert apply_changes(old, new) == new


@settings(deadline=None)
@given(few_lines | many_lines, few_lines | many_lines)
def test_no_two_changes_are_adjacent(old: list[str], new: list[str]) -> None:
    for change, following in pairwise(LineMatcher(old, new).get_changes()):
        assert (change[2], change[4]) != (following[1], following[3])


def test_long_texts_are_compared_by_their_unique_lines() -> None:
    old = [f"line {number}" for number in range(20_000)]
    new = [line for line in old if not line.endswith("77")]
    new[5000:5000] = ["}", "}"]

    assert apply_changes(old, new) == new
    assert LineMatcher(old, new).count_changes() == (2, 200)


def test_long_texts_that_repeat_every_line_are_compared_by_runs_of_lines() -> None:
    random = Random(0)
    old = [f"line {random.randrange(1000)}" for _ in range(10_000)]
    new = [f"{line} changed" if number % 500 == 7 else line for number, line in enumerate(old)]

    assert apply_changes(old, new) == new
    assert LineMatcher(old, new).count_changes() == (20, 20)


def test_long_texts_with_nothing_in_common_are_one_change() -> None:
    old, new = ["x"] * 10_000, ["y"] * 20_000
    assert LineMatcher(old, new).get_changes() == [("replace", 0, 10_000, 0, 20_000)]


def test_bytes_are_compared_like_text() -> None:
    assert LineMatcher([b"a\n", b"b\n"], [b"b\n"]).get_changes() == [("delete", 0, 1, 0, 0)]


def test_a_hundred_thousand_lines_are_compared_in_seconds() -> None:
    old = [f"line {number}" for number in range(100_000)]
    new = [f"new {line}" if number % 3 == 0 else line for number, line in enumerate(old)]

    started = time.process_time()
    assert LineMatcher(old, new).count_changes() == (33_334, 33_334)
    assert time.process_time() - started < 10
