"""Handlers of signals that end the process."""

import asyncio
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from kimi_tui.base.process_groups import kill_all_groups

STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def stopping_signals(stop: Callable[[int], None], *, max_signals: int = 1) -> Iterator[None]:
    """Call `stop` on the running loop for up to `max_signals` signals; any further one ends the process.

    From the second signal on, the process groups of commands are killed.
    """
    loop = asyncio.get_running_loop()
    seen: list[int] = []

    def handle(number: int) -> None:
        if seen:
            kill_all_groups()
        if len(seen) >= max_signals:
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
