"""Counts calls of functions, without replacing them."""

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any


@contextmanager
def count_calls(*functions: Callable[..., Any]) -> Iterator[Counter[str]]:
    """Yield the number of calls of each function, by name, in this thread until the context is left."""
    names = {function.__code__: function.__name__ for function in functions}
    counts = Counter[str]()

    def count(frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and frame.f_code in names:
            counts[names[frame.f_code]] += 1

    previous = sys.getprofile()
    sys.setprofile(count)
    try:
        yield counts
    finally:
        sys.setprofile(previous)
