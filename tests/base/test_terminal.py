"""Untrusted text before it reaches a terminal."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kimi_tui.base.terminal import plain, plain_line


@pytest.mark.parametrize(
    ("dirty", "clean"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07text", "text"),
        ("\x1b]52;c;ZXZpbA==\x1b\\text", "text"),
        ("\x1b]8;;http://evil\x07link\x1b]8;;\x07", "link"),
        ("\x9b31mred", "red"),
        ("a\x1bPdcs\x1b\\b", "ab"),
        ("unfinished \x1b]0;title", "unfinished "),
        ("bell\x07 back\x08space nul\x00", "bell backspace nul"),
        ("10%\r50%\r100%\ndone", "100%\ndone"),
        ("dos\r\nlines\r\n", "dos\nlines\n"),
        ("user\u202egnp.exe", "usergnp.exe"),
        ("ls \u200d; rm", "ls ; rm"),
        (
            "a family 👩\u200d👩\u200d👧 and a heart ❤\ufe0f stay",
            "a family 👩\u200d👩\u200d👧 and a heart ❤\ufe0f stay",
        ),
        ("tab\tand 中文 stay", "tab\tand 中文 stay"),
        ("half \ud800 pair", "half \ufffd pair"),
    ],
)
def test_only_text_is_left(dirty: str, clean: str) -> None:
    assert plain(dirty) == clean


@given(st.text())
def test_no_control_character_but_tab_and_newline_ever_gets_through(text: str) -> None:
    assert not [
        char for char in plain(text) if (ord(char) < 0x20 and char not in "\t\n") or 0x7F <= ord(char) < 0xA0
    ]


def test_a_line_is_one_line() -> None:
    assert plain_line("  a\n\tb\x1b[2J  ") == "a b"
