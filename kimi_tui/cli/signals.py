"""Signals that ask the process to end."""

import asyncio
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from kimi_tui.base.child_groups import end_all

STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def stopping_signals(stop: Callable[[int], None], *, patience: int = 1) -> Iterator[None]:
    """Within, a signal calls `stop` on the running loop; after `patience` of them one ends the process.

    From the second on the process's commands are killed.
    """
    loop = asyncio.get_running_loop()
    seen: list[int] = []

    def handle(number: int) -> None:
        if seen:
            end_all()
        if len(seen) >= patience:
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
