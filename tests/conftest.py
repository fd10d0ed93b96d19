"""Configuration and fixtures of all tests."""

import gc
import os
import subprocess

import pytest
from hypothesis import settings

_RANDOM_EXAMPLE_VARIABLES = {"KIMI_TUI_FUZZ_EXAMPLES", "KIMI_TUI_TRAVELS", "KIMI_TUI_RANDOM_ORDERS"}

settings.register_profile(
    "kimi_tui",
    settings.get_profile("ci"),  # without deadlines, which examples miss on a busy machine
    derandomize=not _RANDOM_EXAMPLE_VARIABLES & os.environ.keys(),  # `make faults` sets these
)
settings.load_profile("kimi_tui")


_SLOW_FIXTURES = {"snap_compare"}
_SLOW_MODULES = ("_snapshots", "test_first_frame", "test_tree_loader")
"""Suffixes of test modules that draw whole screens, measure the start or load long timelines."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option of `make quick`."""
    parser.addoption(
        "--quick", action="store_true", help="leave out slow tests, such as those that draw whole screens"
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect slow tests with `--quick`."""
    if not config.getoption("quick"):
        return
    slow = [item for item in items if _is_slow(item)]
    config.hook.pytest_deselected(items=slow)
    items[:] = [item for item in items if not _is_slow(item)]


def _is_slow(item: pytest.Item) -> bool:
    fixtures = set(getattr(item, "fixturenames", ()))
    return bool(fixtures & _SLOW_FIXTURES) or item.path.stem.endswith(_SLOW_MODULES)


def pytest_collection_finish() -> None:
    """Exclude all imported modules from garbage collection. Scanning them takes a tenth of the time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)


def pytest_unconfigure() -> None:
    """Exclude what is left from garbage collection, since pytest collects five more times at its end."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def dead_pid() -> int:
    """Return the id of a process that has ended."""
    process = subprocess.Popen(["true"])
    process.wait()
    return process.pid
