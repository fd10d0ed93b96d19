"""Themes, and detection of the terminal's background for `auto`."""

import os
import pty
import re
import select
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from textual.color import Color
from textual.theme import BUILTIN_THEMES, Theme

from kimi_tui.base.errors import ConfigError
from kimi_tui.config.theme_names import builtin_theme_names
from kimi_tui.tui.dialogs.themes import ThemePicker
from kimi_tui.tui.legible_theme import MIN_CONTRAST, contrast_ratio, make_legible
from kimi_tui.tui.terminal.background import TerminalBackground, parse_background, parse_luminance
from kimi_tui.tui.themes import OWN_THEMES, resolve_theme
from kimi_tui.tui.user_themes import load_user_theme
from tests.timeouts import TEST_TIMEOUT_S

OCEAN = """\
background = "#0b1d2a"
foreground = "#d8e6ef"
primary = "#5ec4ff"
"""


@pytest.mark.parametrize("choice", ["dark", "light", "high-contrast"])
def test_a_named_theme_is_used(choice: str) -> None:
    assert resolve_theme(choice, luminance=1.0, environ={}) == choice


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


async def test_the_picker_shows_its_keys_below_the_problem_of_a_theme(open_app: Any, tmp_path: Path) -> None:
    async with open_app(size=(80, 24)) as harness:
        write_theme(tmp_path / "share", "broken", "dark = true\n" + OCEAN)
        await harness.type_text("/theme")
        await harness.driver.press("enter")
        await harness.wait_until(lambda: isinstance(harness.app.screen, ThemePicker))
        await harness.driver.press("up")
        await harness.wait_until(lambda: "unknown key “dark”" in harness.screen_text())
        assert "enter choose" in harness.screen_text()


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


async def test_a_theme_of_the_user_is_previewed_and_saved(open_app: Any, tmp_path: Path) -> None:
    write_theme(tmp_path / "data", "ocean", OCEAN)
    async with open_app(size=(80, 24), data_dir=tmp_path / "data") as harness:
        await harness.type_text("/theme")
        await harness.driver.press("enter")
        await harness.wait_until(lambda: isinstance(harness.app.screen, ThemePicker))
        await harness.type_text("ocean")
        await harness.wait_until(lambda: harness.app.theme == "ocean")
        await harness.driver.press("enter")
        await harness.wait_until(lambda: not isinstance(harness.app.screen, ThemePicker))
        assert harness.app.current_theme.primary == "#5EC4FF"


async def test_an_unknown_theme_is_reported_and_the_theme_kept(open_app: Any) -> None:
    async with open_app(size=(100, 30)) as harness:
        await harness.type_text("/theme pink")
        await harness.driver.press("enter")
        await harness.wait_until(lambda: "Unknown theme “pink”" in harness.unwrapped_text())
        assert harness.app.theme == "dark"


async def test_an_invalid_theme_file_is_named_in_the_picker(open_app: Any, tmp_path: Path) -> None:
    write_theme(tmp_path / "data", "ocean", OCEAN.replace("#5ec4ff", "bluu"))
    async with open_app(size=(80, 24), data_dir=tmp_path / "data") as harness:
        await harness.type_text("/theme")
        await harness.driver.press("enter")
        await harness.wait_until(lambda: isinstance(harness.app.screen, ThemePicker))
        await harness.type_text("ocean")
        await harness.wait_until(
            lambda: "“primary”isn'tacolor:bluu." in re.sub(r"[│\s]", "", harness.screen_text())
        )
        assert harness.app.theme != "ocean"


async def test_a_missing_theme_is_reported_at_the_start(open_app: Any) -> None:
    async with open_app(size=(100, 30), theme="oceann") as harness:
        await harness.wait_until(lambda: "Unknown theme “oceann”" in harness.unwrapped_text())
        assert harness.app.theme in ("dark", "light")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("primary = ", "ocean.toml isn't valid TOML"),
        ('primary = "#fff"', "ocean.toml: “background” is missing"),
        (OCEAN + 'tint = "#fff"', "ocean.toml: unknown key “tint”"),
        (OCEAN + "accent = 3", "ocean.toml: “accent” isn't a color: 3"),
        (OCEAN + 'accent = "#fff8"', "ocean.toml: “accent” isn't a color"),
    ],
)
def test_an_invalid_theme_file_is_an_error_that_names_it(tmp_path: Path, text: str, problem: str) -> None:
    write_theme(tmp_path, "ocean", text)
    with pytest.raises(ConfigError, match=re.escape(problem)):
        load_user_theme("ocean", tmp_path)


def test_an_illegible_theme_of_the_user_is_adjusted(tmp_path: Path) -> None:
    write_theme(tmp_path, "fog", 'background = "#808080"\nforeground = "#909090"\nprimary = "#7f7f90"\n')
    assert least_contrasts(load_user_theme("fog", tmp_path)) == {}


@pytest.mark.parametrize("name", [name for name in builtin_theme_names() if name != "auto"])
def test_text_is_legible_in_every_theme(name: str) -> None:
    theme = next((it for it in OWN_THEMES if it.name == name), None)
    assert least_contrasts(theme or make_legible(BUILTIN_THEMES[name])) == {}


def least_contrasts(theme: Theme) -> dict[str, float]:
    """Return the text colors that are below the minimum contrast, with their contrast."""
    colors = {**theme.to_color_system().generate(), **theme.variables}
    names = ("foreground", "primary", "secondary", "accent", "success", "warning", "error", "text-muted")
    pairs = [(name, paper) for name in names for paper in ("background", "surface")]
    pairs += [(f"text-{name}", "surface") for name in ("warning", "error", "success", "primary", "accent")]
    pairs += [("foreground", "panel"), ("block-cursor-foreground", "block-cursor-background")]
    contrasts = {
        f"{text} on {paper}": contrast_ratio(Color.parse(colors[text]), Color.parse(colors[paper]))
        for text, paper in pairs
    }
    return {pair: contrast for pair, contrast in contrasts.items() if contrast < MIN_CONTRAST}


def write_theme(data_dir: Path, name: str, text: str) -> None:
    (data_dir / "themes").mkdir(parents=True, exist_ok=True)
    (data_dir / "themes" / f"{name}.toml").write_text(text)


QUERY_SCRIPT = """
import select, termios
from kimi_tui.tui.terminal.background import BackgroundQuery
before = termios.tcgetattr(0)
with BackgroundQuery(timeout_s=TIMEOUT) as query:
    WORK
    reply = query.read_reply()
assert termios.tcgetattr(0) == before
print("luminance", reply.luminance, reply.typed_text)
"""
WAIT_FOR_INPUT = "select.select([0], [], [])"


def query_in_subprocess(
    reply: bytes, *, timeout_s: float = 20.0, typed: bytes = b"", work: str = "pass"
) -> str:
    """Return the luminance and the typed text that a process reads after `work`.

    Its pseudo-terminal sends `reply`.
    """
    controller, terminal = pty.openpty()
    os.write(controller, typed)
    process = subprocess.Popen(
        [sys.executable, "-c", QUERY_SCRIPT.replace("TIMEOUT", str(timeout_s)).replace("WORK", work)],
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


def test_a_reply_during_long_work_is_read() -> None:
    reply = b"\x1b]11;rgb:ffff/ffff/ffff\x1b\\\x1b[?62c"
    assert query_in_subprocess(reply, timeout_s=0, work=WAIT_FOR_INPUT) == "1.0"


def test_a_silent_terminal_is_not_waited_for() -> None:
    assert query_in_subprocess(b"", timeout_s=0.05) == "None"


def test_input_typed_before_the_query_is_kept_and_not_mixed_with_a_reply() -> None:
    reply = b"\x1b]11;rgb:ffff/ffff/ffff\x1b\\\x1b[?62c"
    assert query_in_subprocess(reply, typed=b"hello") == "None hello"
