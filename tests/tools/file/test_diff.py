"""File diffs: correct and short."""

from kimi_tui.tools.file.diff import build_diff


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
    old = "a\u2028b\x0cc\x85\n" + "same\n" * 4
    (hunk,) = build_diff("a", old, old.replace("b", "B")).blocks
    assert (hunk.old_text, hunk.new_start) == ("a\u2028b\x0cc\x85\nsame\nsame\nsame\n", 1)


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
