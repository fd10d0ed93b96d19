"""File diffs: correct, short, and fast for long files."""

from collections.abc import Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from kimi_tui.tools.file.diff import build_diff
from kimi_tui.tools.file.line_diff import diff_lines, split_lines

line_lists = st.lists(st.sampled_from("abcdefgh"), max_size=30)


def apply_changes(old: Sequence[str], new: Sequence[str]) -> list[str]:
    """Apply the changes between `old` and `new` to `old`."""
    result: list[str] = []
    at = 0
    for change in diff_lines(old, new):
        result += old[at : change.old_start]
        assert len(result) == change.new_start
        result += new[change.new_start : change.new_end]
        at = change.old_end
    return result + list(old[at:])


@settings(deadline=None)
@given(line_lists, line_lists)
def test_applying_the_changes_yields_the_new_text(old: list[str], new: list[str]) -> None:
    assert apply_changes(old, new) == new


def test_long_texts_are_compared_by_their_unique_lines() -> None:
    old = [f"line {number}" for number in range(20_000)]
    new = [line for line in old if not line.endswith("77")]
    new[5000:5000] = ["}", "}"]

    assert apply_changes(old, new) == new
    assert sum(change.old_end - change.old_start for change in diff_lines(old, new)) == 200


def test_long_texts_with_nothing_in_common_are_one_change() -> None:
    old, new = ["x"] * 10_000, ["y"] * 20_000
    (change,) = diff_lines(old, new)

    assert (change.old_end, change.new_end) == (10_000, 20_000)


def test_changes_with_few_lines_between_share_a_hunk() -> None:
    old = [f"{number}\n" for number in range(40)]
    new = list(old)
    new[10], new[17], new[30] = "A\n", "B\n", "C\n"
    first, second = build_diff("a", "".join(old), "".join(new)).blocks

    assert first.old_text == "".join(old[7:21])
    assert (second.old_start, second.new_text) == (28, "".join(new[27:34]))


def test_a_removed_final_newline_is_visible() -> None:
    (hunk,) = build_diff("a", "one\n", "one").blocks
    assert (hunk.old_text, hunk.new_text) == ("one\n", "one")


def test_texts_are_safe_for_json() -> None:
    (hunk,) = build_diff("a", "caf\udce9\r\n", "tea\r\n").blocks
    assert (hunk.old_text, hunk.new_text) == ("caf\ufffd\n", "tea\n")


def test_only_newlines_end_lines() -> None:
    assert split_lines("a\u2028b\x0c\nc\x85") == ["a\u2028b\x0c\n", "c\x85"]


def test_a_change_in_a_very_long_line_shows_only_the_difference() -> None:
    old = "first\n" + "x" * 400_000 + "old words" + "y" * 400_000 + "\nlast\n"
    (block,) = build_diff("app.min.js", old, old.replace("old words", "rm -rf ~")).blocks
    assert block.is_summary
    size, before, after = block.new_text.split("\n")
    assert size == "3 lines, 800,020 characters"
    assert before == f"2 − …{'x' * 40}old words{'y' * 40}…"
    assert after == f"2 + …{'x' * 40}rm -rf ~{'y' * 40}…"


def test_only_the_first_of_too_many_changes_are_shown() -> None:
    new = "".join(f"line {number}\n" for number in range(5000))
    (block,) = build_diff("many.txt", "", new).blocks
    size, first, second, *_, last = block.new_text.split("\n")
    assert (size, first, second, last) == ("5,000 lines, 48,890 characters", "1 + line 0", "2 + line 1", "…")
