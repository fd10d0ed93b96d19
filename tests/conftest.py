"""Configuration and fixtures of all tests."""

import gc
import os
import subprocess

import pytest
from hypothesis import settings

_RANDOM_EXAMPLE_VARIABLES = {"KIMI_TUI_FUZZ_EXAMPLES", "KIMI_TUI_TRAVELS"}

settings.register_profile(
    "kimi_tui",
    settings.get_profile("ci"),  # without deadlines, which examples miss on a busy machine
    derandomize=not _RANDOM_EXAMPLE_VARIABLES & os.environ.keys(),  # `make faults` sets these
)
settings.load_profile("kimi_tui")


def pytest_collection_finish() -> None:
    """Exclude all imported modules from garbage collection. Scanning them takes a tenth of the time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)


@pytest.fixture
def dead_pid() -> int:
    """Return the id of a process that has ended."""
    process = subprocess.Popen(["true"])
    process.wait()
    return process.pid
