"""CPU time at startup as a ratio to a baseline in the same run, and what is imported at startup."""

import os
import subprocess
import sys
from pathlib import Path

from tests.startup.measure import python, ratio

KIMI_TUI = str(Path(sys.executable).with_name("kimi-tui"))
NOT_FOR_A_PROMPT = {
    "anthropic",
    "fastmcp",
    "httpx",
    "kimi_tui.engine.goal.check_guard",
    "kimi_tui.engine.read_only_engine",
    "kimi_tui.resident.serve",
    "kimi_tui.session_search.session_searcher",
    "markdown_it",
    "openai",
    "PIL",
    "pygments",
    "rich",
    "sqlite3",
    "textual",
    "tomlkit",
    "typer",
}
"""What print mode doesn't import for a prompt without tool calls."""
MAX_OWN_MODULES = 690
"""For such a prompt. Each takes about 0.2 ms, so they must not grow unnoticed; 683 in November 2026."""


def test_importing_the_package_is_cheap() -> None:
    assert ratio(python("import kimi_tui"), python("pass")) < 1.3


def test_showing_the_version_takes_little_longer_than_importing_typer() -> None:
    assert ratio([KIMI_TUI, "--version"], python("import typer")) < 1.6


def test_print_mode_imports_only_what_a_prompt_needs(tmp_path: Path) -> None:
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "KIMI_SHARE_DIR": str(tmp_path / "share")}
    done = subprocess.run(
        [sys.executable, "-X", "importtime", KIMI_TUI, "--print", "--demo", "-p", "hi"],
        env=env | {"LANG": "C.UTF-8"},
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=True,
    )
    imported = {
        line.rpartition("|")[2].strip() for line in done.stderr.splitlines() if "import time:" in line
    }
    assert "kimi_tui.engine.engine" in imported
    assert not imported & NOT_FOR_A_PROMPT
    assert len([name for name in imported if name.startswith("kimi_tui.")]) <= MAX_OWN_MODULES
