"""Signals that ask the process to end."""

import asyncio
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from kimi_tui.base.child_groups import end_all

STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def stopping_signals(stop: Callable[[int], None]) -> Iterator[None]:
    """Within, a signal calls `stop` on the running loop; a second one ends the process at once."""
    loop = asyncio.get_running_loop()
    seen: list[int] = []

    def handle(number: int) -> None:
        if seen:
            end_all()
            os._exit(128 + number)
        seen.append(number)
        stop(number)

    for number in STOPPING:
        loop.add_signal_handler(number, handle, int(number))
    try:
        yield
    finally:
        for number in STOPPING:
            loop.remove_signal_handler(number)
