"""The garbage collector, which goes through everything again and again while a program is loaded.

It finds nothing then, since what modules define stays, and takes a fifteenth of the time to the first frame.
"""

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def uncollected(*, stays: Callable[[], bool] = lambda: False) -> Iterator[None]:
    """Collect nothing inside, when that is done otherwise: for an import that is large, or much data.

    When what was made there `stays`, it is never looked at: that would hold every thread up.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            if stays():
                gc.freeze()
            gc.enable()


def put_off_collection() -> None:
    """Collect nothing until `begin_collection`."""
    gc.disable()


def begin_collection() -> None:
    """Collect from now on, but never look at what is there already. Does nothing when it has begun."""
    if not gc.isenabled():
        gc.freeze()
        gc.enable()
