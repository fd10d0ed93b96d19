"""CPU time at startup as a ratio to a baseline in the same run."""

import sys
from pathlib import Path

from tests.startup.measure import python, ratio

KIMI_TUI = str(Path(sys.executable).with_name("kimi-tui"))


def test_importing_the_package_is_cheap() -> None:
    assert ratio(python("import kimi_tui"), python("pass")) < 1.3


def test_showing_the_version_takes_little_longer_than_importing_typer() -> None:
    assert ratio([KIMI_TUI, "--version"], python("import typer")) < 1.6
