"""From one look to another in few bytes."""

import pyte
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kimi_tui.tui.sgr import change, on_blanks

INK = "38;2;217;222;232"
PAPER = "48;2;14;17;23"


def test_nothing_is_said_where_nothing_changes() -> None:
    assert change(f"1;{INK}", f"1;{INK}") == ""


@pytest.mark.parametrize(
    ("old", "new", "said"),
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
def test_only_what_changes_is_said(old: str | None, new: str, said: str) -> None:
    assert change(old, new) == said


LOOKS = st.builds(
    lambda *parts: ";".join(part for part in parts if part),
    *(st.sampled_from(["", code]) for code in "13479"),
    st.sampled_from(["", INK, "38;5;75", "31", "97"]),
    st.sampled_from(["", PAPER, "48;5;16", "41"]),
)


@given(st.lists(LOOKS, min_size=1, max_size=6))
def test_any_way_through_looks_ends_as_the_last_one_alone_would(looks: list[str]) -> None:
    gone, direct = pyte.Screen(1, 1), pyte.Screen(1, 1)
    now: str | None = None
    for look in looks:
        pyte.Stream(gone).feed(change(now, look))
        now = look
    pyte.Stream(direct).feed(f"\x1b[0;{looks[-1]}m")
    assert gone.cursor.attrs == direct.cursor.attrs


@pytest.mark.parametrize(
    ("old", "new", "drawn"),
    [
        (f"1;{INK};{PAPER}", PAPER, f"1;{INK};{PAPER}"),
        (f"1;{INK};{PAPER}", "44", f"1;{INK};44"),
        (f"4;{INK};{PAPER}", PAPER, f"{INK};{PAPER}"),
        (INK, "", INK),
        (INK, f"4;31;{PAPER}", f"4;31;{PAPER}"),
        (None, PAPER, PAPER),
    ],
)
def test_a_blank_shows_its_background_and_its_lines_only(old: str | None, new: str, drawn: str) -> None:
    assert on_blanks(old, new) == drawn


@given(LOOKS, LOOKS)
def test_a_blank_looks_the_same_whatever_letters_were_before_it(old: str, new: str) -> None:
    drawn = pyte.Screen(1, 1)
    pyte.Stream(drawn).feed(change(None, old) + change(old, on_blanks(old, new)))
    direct = pyte.Screen(1, 1)
    pyte.Stream(direct).feed(f"\x1b[0;{new}m")
    one, other = drawn.cursor.attrs, direct.cursor.attrs
    assert one.bg == other.bg
    assert (one.underscore, one.reverse, one.strikethrough) == (
        other.underscore,
        other.reverse,
        other.strikethrough,
    )
