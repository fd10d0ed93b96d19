"""Transitions between styles."""

import pyte
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kimi_tui.tui.terminal.sgr import codes_for_blanks, transition_sequence

INK = "38;2;217;222;232"
PAPER = "48;2;14;17;23"


def test_equal_styles_need_no_sequence() -> None:
    assert transition_sequence(f"1;{INK}", f"1;{INK}") == ""


@pytest.mark.parametrize(
    ("old", "new", "sequence"),
    [
        (f"{INK};{PAPER}", f"1;{INK};{PAPER}", "\x1b[1m"),
        (f"1;{INK};{PAPER}", f"{INK};{PAPER}", "\x1b[22m"),
        (f"{INK};{PAPER}", f"38;5;75;{PAPER}", "\x1b[38;5;75m"),
        (f"{INK};{PAPER}", f"{INK};44", "\x1b[44m"),
        (f"1;2;{INK}", f"2;{INK}", "\x1b[22;2m"),
        (f"1;3;4;{INK};{PAPER}", "", "\x1b[m"),
        ("31", "32;44", "\x1b[32;44m"),
        (None, "31", "\x1b[0;31m"),
    ],
)
def test_only_changed_codes_are_sent(old: str | None, new: str, sequence: str) -> None:
    assert transition_sequence(old, new) == sequence


STYLES = st.builds(
    lambda *parts: ";".join(part for part in parts if part),
    *(st.sampled_from(["", code]) for code in "13479"),
    st.sampled_from(["", INK, "38;5;75", "31", "97"]),
    st.sampled_from(["", PAPER, "48;5;16", "41"]),
)


@given(st.lists(STYLES, min_size=1, max_size=6))
def test_any_sequence_of_styles_ends_with_the_last_one(styles: list[str]) -> None:
    screen, expected = pyte.Screen(1, 1), pyte.Screen(1, 1)
    current: str | None = None
    for style in styles:
        pyte.Stream(screen).feed(transition_sequence(current, style))
        current = style
    pyte.Stream(expected).feed(f"\x1b[0;{styles[-1]}m")
    assert screen.cursor.attrs == expected.cursor.attrs


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (f"1;{INK};{PAPER}", PAPER, f"1;{INK};{PAPER}"),
        (f"1;{INK};{PAPER}", "44", f"1;{INK};44"),
        (f"4;{INK};{PAPER}", PAPER, f"{INK};{PAPER}"),
        (INK, "", INK),
        (INK, f"4;31;{PAPER}", f"4;31;{PAPER}"),
        (None, PAPER, PAPER),
    ],
)
def test_only_visible_codes_change_on_blanks(old: str | None, new: str, expected: str) -> None:
    assert codes_for_blanks(old, new) == expected


@given(STYLES, STYLES)
def test_a_blank_looks_the_same_after_any_style(old: str, new: str) -> None:
    screen = pyte.Screen(1, 1)
    pyte.Stream(screen).feed(
        transition_sequence(None, old) + transition_sequence(old, codes_for_blanks(old, new))
    )
    expected_screen = pyte.Screen(1, 1)
    pyte.Stream(expected_screen).feed(f"\x1b[0;{new}m")
    attrs, expected = screen.cursor.attrs, expected_screen.cursor.attrs
    assert attrs.bg == expected.bg
    assert (attrs.underscore, attrs.reverse, attrs.strikethrough) == (
        expected.underscore,
        expected.reverse,
        expected.strikethrough,
    )
