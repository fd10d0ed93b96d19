"""What holds for every test."""

import gc


def pytest_collection_finish() -> None:
    """Look for garbage only in what the tests make: going through the modules again costs a tenth."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)
