"""Control of the garbage collector during startup and large allocations.

While modules are loaded, the collector scans all objects repeatedly and finds nothing, which takes a
fifteenth of the time to the first frame.
"""

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def gc_paused(*, should_freeze: Callable[[], bool] = lambda: False) -> Iterator[None]:
    """Pause garbage collection during an expensive import or a large allocation.

    If `should_freeze` returns True at the end, all existing objects are excluded from later collections,
    because scanning them would block every thread. Does nothing if collection is already paused.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            if should_freeze():
                gc.freeze()
            gc.enable()


def pause_gc() -> None:
    """Pause garbage collection until `resume_gc` is called."""
    gc.disable()


def resume_gc() -> None:
    """Resume garbage collection, excluding all objects that exist now. Does nothing if it isn't paused."""
    if not gc.isenabled():
        gc.freeze()
        gc.enable()
