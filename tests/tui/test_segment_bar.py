"""Bars that drop segments if the line is too short."""

from kimi_tui.tui.widgets.segment_bar import Segment, fit_segments

LEFT = [Segment("name", importance=90), Segment("detail", importance=10)]
RIGHT = [Segment("key", importance=50)]


def test_both_ends_are_filled() -> None:
    assert fit_segments(LEFT, RIGHT, 20).plain == "name  detail     key"


def test_the_least_important_segment_is_dropped_first() -> None:
    assert fit_segments(LEFT, RIGHT, 12).plain == "name     key"
    assert fit_segments(LEFT, RIGHT, 8).plain == "name    "


def test_the_last_segment_is_truncated() -> None:
    assert fit_segments(LEFT, RIGHT, 3).plain == "na…"


def test_wide_characters_take_two_cells() -> None:
    assert fit_segments([Segment("你好")], [Segment("x")], 8).plain == "你好   x"


def test_markup_is_shown_as_text() -> None:
    assert fit_segments([Segment("[red]x[/red]")], [], 20).plain.startswith("[red]x[/red]")
