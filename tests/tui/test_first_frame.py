"""The first frame comes before most of the program is imported."""

import json
import subprocess
import sys
from pathlib import Path

from tests.startup.measure import python, ratio

EMPTY = """
import os
from textual.app import App
class Empty(App):
    def on_mount(self):
        self.call_after_refresh(os._exit, 0)
Empty().run(headless=True)
"""
OURS = """
import asyncio, json, os, sys
from pathlib import Path
from kimi_tui.tui.app import KimiTuiApp
from kimi_tui.tui.options import TuiOptions
from kimi_tui.wire.channel import Wire
class Ours(KimiTuiApp):
    def on_mount(self):
        self.call_after_refresh(self.shown)
    def shown(self):
        os.write(1, json.dumps(sorted(sys.modules)).encode())
        os._exit(0)
options = TuiOptions(work_dir=Path("SHARE"), share_dir=Path("SHARE"))
Ours(wire=Wire(), start=asyncio.Event().wait, options=options).run(headless=True)
"""
LATER = (
    "anthropic",
    "fastmcp",
    "httpx",
    "kimi_tui.tui.approvals",
    "kimi_tui.tui.furniture",
    "kimi_tui.tui.timeline",
    "kimi_tui.tui.transcript.transcript",
    "kimi_tui.tui.workbench",
    "markdown_it",
    "openai",
    "PIL",
    "pydantic",
    "pygments",
    "pyperclip",
    "textual.widgets._markdown",
    "trafilatura",
    "yaml",
)


def test_what_the_first_frame_does_not_need_is_imported_after_it(tmp_path: Path) -> None:
    source = OURS.replace("SHARE", str(tmp_path))
    result = subprocess.run([sys.executable, "-c", source], capture_output=True, check=True)
    loaded = set(json.loads(result.stdout))
    assert "kimi_tui.tui.prompt.prompt" in loaded
    assert loaded.isdisjoint(LATER)


def test_the_first_frame_costs_little_more_than_an_empty_apps(tmp_path: Path) -> None:
    # Aimed at 1.6, and 1.5 on a quiet machine; the rest is for noise.
    assert ratio(python(OURS.replace("SHARE", str(tmp_path))), python(EMPTY)) < 2.2
