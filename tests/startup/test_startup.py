"""Start-up is a feature: CPU time as a ratio to a baseline of the same run."""

import sys
from pathlib import Path

from tests.startup.measure import python, ratio

KIMI_TUI = str(Path(sys.executable).with_name("kimi-tui"))


def test_importing_the_package_costs_next_to_nothing() -> None:
    assert ratio(python("import kimi_tui"), python("pass")) < 1.3


def test_the_version_comes_almost_as_fast_as_typer_is_imported() -> None:
    assert ratio([KIMI_TUI, "--version"], python("import typer")) < 1.6
