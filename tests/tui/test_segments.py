"""Bars that give way when the line is short."""

from kimi_tui.tui.segments import Segment, bar

LEFT = [Segment("name", importance=90), Segment("detail", importance=10)]
RIGHT = [Segment("key", importance=50)]


def test_both_ends_are_filled() -> None:
    assert bar(LEFT, RIGHT, 20).plain == "name  detail     key"


def test_the_least_important_goes_first() -> None:
    assert bar(LEFT, RIGHT, 12).plain == "name     key"
    assert bar(LEFT, RIGHT, 8).plain == "name    "


def test_the_last_one_is_cut() -> None:
    assert bar(LEFT, RIGHT, 3).plain == "na…"


def test_wide_letters_count_twice() -> None:
    assert bar([Segment("你好")], [Segment("x")], 8).plain == "你好   x"


def test_markup_is_text() -> None:
    assert bar([Segment("[red]x[/red]")], [], 20).plain.startswith("[red]x[/red]")
