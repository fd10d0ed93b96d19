"""Themes, and detection of the terminal's background for `auto`."""

import os
import pty
import select
import subprocess
import sys
from typing import Any

import pytest

from kimi_tui.tui.dialogs.themes import ThemePicker
from kimi_tui.tui.terminal.background import TerminalBackground, parse_background, parse_luminance
from kimi_tui.tui.themes import THEMES, resolve_theme
from tests.timeouts import TEST_TIMEOUT_S


@pytest.mark.parametrize("choice", ["dark", "light", "high-contrast"])
def test_a_named_theme_is_used(choice: str) -> None:
    assert resolve_theme(choice, luminance=1.0, environ={}) == choice  # type: ignore[arg-type]


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
    assert resolve_theme("auto", luminance=luminance, environ=environ) == theme


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
def test_the_terminals_reply_is_parsed(reply: bytes, luminance: float | None) -> None:
    assert parse_luminance(reply) == luminance


@pytest.mark.parametrize("end", [b"\x07", b"\x1b\\"])
def test_text_typed_around_the_reply_is_separated_from_it(end: bytes) -> None:
    reply = b"fix \x1b]11;rgb:ffff/ffff/ffff" + end + "错误".encode() + b"\x1b[?62c\x1b[A"
    assert parse_background(reply) == TerminalBackground(1.0, "fix 错误\x1b[A")


async def test_the_picker_previews_themes_and_escape_restores_the_theme(open_app: Any) -> None:
    async with open_app(size=(80, 24)) as harness:
        await harness.type_text("/theme")
        await harness.driver.press("enter")
        await harness.wait_until(lambda: isinstance(harness.app.screen, ThemePicker))
        await harness.type_text("nord")
        await harness.wait_until(lambda: harness.app.theme == "nord")
        await harness.driver.press("escape")
        await harness.wait_until(lambda: harness.app.theme == "dark")


async def test_a_theme_is_chosen_with_the_mouse(open_app: Any) -> None:
    async with open_app(size=(80, 24)) as harness:
        await harness.type_text("/theme")
        await harness.driver.press("enter")
        await harness.wait_until(lambda: isinstance(harness.app.screen, ThemePicker))
        await harness.driver.click("ChoiceList", offset=(3, 1))
        await harness.wait_until(lambda: not isinstance(harness.app.screen, ThemePicker))
        assert harness.app.theme == "light"


def test_the_themes_of_other_programs_are_offered() -> None:
    names = {theme.name for theme in THEMES}
    assert {"catppuccin-mocha", "dracula", "gruvbox", "nord", "solarized-dark", "tokyo-night"} <= names


def test_theme_names_are_unique() -> None:
    assert len({theme.name for theme in THEMES}) == len(THEMES)


QUERY_SCRIPT = """
from kimi_tui.tui.terminal.background import query_background
print("luminance", query_background(timeout_s=TIMEOUT).luminance)
"""


def query_in_subprocess(reply: bytes, *, timeout_s: float = 20.0, typed: bytes = b"") -> str:
    """Return the luminance found by a process on a pseudo-terminal that sends `reply`."""
    controller, terminal = pty.openpty()
    os.write(controller, typed)
    process = subprocess.Popen(
        [sys.executable, "-c", QUERY_SCRIPT.replace("TIMEOUT", str(timeout_s))],
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
    )
    os.close(terminal)
    output = b""
    while b"luminance" not in output or not output.endswith(b"\n"):
        if not select.select([controller], [], [], TEST_TIMEOUT_S)[0]:
            break
        output += os.read(controller, 1000)
        if b"\x1b[c" in output and reply:
            os.write(controller, reply)
            reply = b""
    process.wait()
    os.close(controller)
    return output.decode().partition("luminance ")[2].strip()


def test_a_replying_terminal_reports_its_luminance() -> None:
    assert query_in_subprocess(b"\x1b]11;rgb:ffff/ffff/ffff\x1b\\\x1b[?62c") == "1.0"


def test_a_terminal_without_color_replies_does_not_delay_the_start() -> None:
    assert query_in_subprocess(b"\x1b[?62c") == "None"


def test_a_silent_terminal_is_not_waited_for() -> None:
    assert query_in_subprocess(b"", timeout_s=0.05) == "None"


def test_the_terminal_is_not_queried_while_input_is_pending() -> None:
    assert query_in_subprocess(b"\x1b]11;rgb:ffff/ffff/ffff\x1b\\\x1b[?62c", typed=b"hello") == "None"
