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


def test_no_provider_sdk_is_imported_before_the_first_frame(tmp_path: Path) -> None:
    env = environment(tmp_path) | {"OPENAI_API_KEY": "sk-none", "PYTHONPROFILEIMPORTTIME": "1"}
    run = run_until([KIMI_TUI], "ctrl+p", env=env, cwd=str(tmp_path))

    imported = {
        line.rpartition(b"|")[2].strip() for line in run.written.splitlines() if b"import time:" in line
    }
    assert b"textual.app" in imported
    assert not imported & {b"openai", b"anthropic", b"fastmcp", b"pydantic", b"kimi_tui.engine.build.engine"}
