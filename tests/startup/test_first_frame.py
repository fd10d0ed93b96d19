"""Time from the command to a typed character, compared with an empty Textual app in the same run."""

import os
import sys
from pathlib import Path

from tests.startup.terminal import run_until

KIMI_TUI = str(Path(sys.executable).with_name("kimi-tui"))
EMPTY_APP = """
from textual.app import App
from textual.widgets import Static
class Empty(App):
    def compose(self):
        yield Static("ready")
Empty().run()
"""
WELCOME = "What do you want to work on?"
NOT_FOR_THE_SCREEN = {
    b"kimi_tui.tui.approvals.batch_review",
    b"kimi_tui.tui.dialogs.help",
    b"kimi_tui.tui.dialogs.picker",
    b"kimi_tui.tui.dialogs.sessions",
    b"kimi_tui.tui.timeline.labels",
}
"""What is imported when it is opened."""
MAX_SCREEN_MODULES = 220
"""Own modules until the screen is complete, except the engine's. Each takes about 0.2 ms; 216 in November."""


def environment(home: Path) -> dict[str, str]:
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "KIMI_SHARE_DIR": str(home / "share"),
        "TERM": "xterm-256color",
        "LANG": "C.UTF-8",
    }


def test_a_typed_character_is_shown_in_less_than_twice_the_time_of_an_empty_app(tmp_path: Path) -> None:
    env, cwd = environment(tmp_path), str(tmp_path)
    ratios = []
    for _ in range(5):
        empty = run_until([sys.executable, "-c", EMPTY_APP], "ready", env=env, cwd=cwd).cpu_s
        ours = run_until([KIMI_TUI, "--demo"], "\u00df", env=env, cwd=cwd, typing=True).cpu_s
        ratios.append(ours / empty)  # alternating runs: the speed of a processor changes over time
    # The target is 1.6 and an idle machine reaches 1.5. The margin allows for tests that run in parallel.
    assert min(ratios) < 2, ratios


def imported_until(text: str, home: Path) -> set[bytes]:
    """Return the modules that were imported when the app has shown `text`."""
    env = environment(home) | {"OPENAI_API_KEY": "sk-none", "PYTHONPROFILEIMPORTTIME": "1"}
    run = run_until([KIMI_TUI], text, env=env, cwd=str(home))
    return {line.rpartition(b"|")[2].strip() for line in run.written.splitlines() if b"import time:" in line}


def test_no_provider_sdk_is_imported_before_the_first_frame(tmp_path: Path) -> None:
    imported = imported_until("ctrl+p", tmp_path)
    assert b"textual.app" in imported
    assert not imported & {b"openai", b"anthropic", b"fastmcp", b"pydantic", b"kimi_tui.engine.build.engine"}


def test_the_screen_is_completed_without_dialogs(tmp_path: Path) -> None:
    imported = imported_until(WELCOME, tmp_path)
    assert b"kimi_tui.tui.screen.session_view" in imported
    assert not imported & NOT_FOR_THE_SCREEN
    screen = [name for name in imported if name.startswith((b"kimi_tui.frontend.", b"kimi_tui.tui."))]
    assert len(screen) <= MAX_SCREEN_MODULES
