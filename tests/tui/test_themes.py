"""Themes, and what `auto` means."""

import os
import pty
import select
import subprocess
import sys

import pytest

from kimi_tui.tui.terminal_background import Background, background_in, luminance_in
from kimi_tui.tui.themes import THEMES, resolved_theme
from tests.patience import PATIENCE_S


@pytest.mark.parametrize("choice", ["dark", "light", "high-contrast"])
def test_a_theme_that_was_named_is_used(choice: str) -> None:
    assert resolved_theme(choice, luminance=1.0, environ={}) == choice  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("luminance", "environ", "theme"),
    [
        (0.95, {}, "light"),
        (0.1, {"COLORFGBG": "0;15"}, "dark"),
        (None, {"COLORFGBG": "0;15"}, "light"),
        (None, {"COLORFGBG": "15;0"}, "dark"),
        (None, {}, "dark"),
    ],
)
def test_auto_follows_the_terminal(luminance: float | None, environ: dict[str, str], theme: str) -> None:
    assert resolved_theme("auto", luminance=luminance, environ=environ) == theme


@pytest.mark.parametrize(
    ("reply", "luminance"),
    [
        (b"\x1b]11;rgb:ffff/ffff/ffff\x1b\\\x1b[?62c", 1.0),
        (b"\x1b]11;rgb:00/00/00\x07", 0.0),
        (b"\x1b]11;rgba:0000/ffff/0000/ffff\x1b\\", 0.7152),
        (b"\x1b[?62;22c", None),
        (b"", None),
    ],
)
def test_the_answer_of_the_terminal_is_read(reply: bytes, luminance: float | None) -> None:
    assert luminance_in(reply) == luminance


@pytest.mark.parametrize("end", [b"\x07", b"\x1b\\"])
def test_what_is_typed_around_the_answer_is_no_part_of_it(end: bytes) -> None:
    reply = b"fix \x1b]11;rgb:ffff/ffff/ffff" + end + "错误".encode() + b"\x1b[?62c\x1b[A"
    assert background_in(reply) == Background(1.0, "fix 错误\x1b[A")


def test_every_theme_can_be_told_from_the_others_by_name() -> None:
    assert len({theme.name for theme in THEMES}) == len(THEMES)


ASK = """
from kimi_tui.tui.terminal_background import asked_background
from tests.patience import PATIENCE_S
print("said", asked_background(timeout_s=TIMEOUT).luminance)
"""


def asked(reply: bytes, *, timeout_s: float = 20.0, typed: bytes = b"") -> str:
    """What a process on a pseudo-terminal that gives this reply finds out."""
    here, there = pty.openpty()
    os.write(here, typed)
    process = subprocess.Popen(
        [sys.executable, "-c", ASK.replace("TIMEOUT", str(timeout_s))],
        stdin=there,
        stdout=there,
        stderr=there,
    )
    os.close(there)
    output = b""
    while b"said" not in output or not output.endswith(b"\n"):
        if not select.select([here], [], [], PATIENCE_S)[0]:
            break
        output += os.read(here, 1000)
        if b"\x1b[c" in output and reply:
            os.write(here, reply)
            reply = b""
    process.wait()
    os.close(here)
    return output.decode().partition("said ")[2].strip()


def test_a_terminal_that_answers_is_understood() -> None:
    assert asked(b"\x1b]11;rgb:ffff/ffff/ffff\x1b\\\x1b[?62c") == "1.0"


def test_a_terminal_that_knows_no_colours_does_not_hold_anything_up() -> None:
    assert asked(b"\x1b[?62c") == "None"


def test_a_terminal_that_says_nothing_is_not_waited_for() -> None:
    assert asked(b"", timeout_s=0.05) == "None"


def test_with_keys_typed_already_nothing_is_asked() -> None:
    assert asked(b"\x1b]11;rgb:ffff/ffff/ffff\x1b\\\x1b[?62c", typed=b"hello") == "None"
