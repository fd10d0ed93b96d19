"""What holds for every test."""

import gc
import os

from hypothesis import settings

LOOKS_FURTHER = {"KIMI_TUI_FUZZ_EXAMPLES", "KIMI_TUI_TRAVELS"}

settings.register_profile(
    "by_itself",
    settings.get_profile("ci"),  # no example has a deadline, which others on the machine make it miss
    derandomize=not LOOKS_FURTHER & os.environ.keys(),  # what chance finds, `make faults` looks for
)
settings.load_profile("by_itself")


def pytest_collection_finish() -> None:
    """Look for garbage only in what the tests make: going through the modules again costs a tenth."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)
