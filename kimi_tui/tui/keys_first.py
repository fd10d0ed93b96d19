"""Keys first: while a key is on its way to what it does, what streams in waits to be drawn."""

import asyncio
from collections.abc import Callable
from time import perf_counter
from typing import Any, Protocol, runtime_checkable

from textual import events
from textual.app import App
from textual.driver import Driver
from textual.message import Message

_PATIENCE_S = 0.1
"""Then the key went where nobody answers it, or keys come faster than they can be answered."""


class KeysFirst:
    """Whether a key is on its way. The thread that reads the terminal says so, before anything else does."""

    def __init__(self, *, now: Callable[[], float] = perf_counter) -> None:
        self._now = now
        self._pressed: float | None = None

    def pressed(self) -> None:
        """A key has come. Others that wait already keep nobody waiting for longer."""
        if not self.has_waiting:
            self._pressed = self._now()

    def answered(self) -> None:
        """What it did is to be seen."""
        self._pressed = None

    @property
    def has_waiting(self) -> bool:
        """Whether a key waits to be answered."""
        pressed = self._pressed
        return pressed is not None and self._now() - pressed < _PATIENCE_S


@runtime_checkable
class Courteous(Protocol):
    """An app that knows of keys on their way."""

    keys_first: KeysFirst


def keys_of(app: object) -> KeysFirst:
    """What knows of the keys on their way to `app`."""
    return app.keys_first if isinstance(app, Courteous) else KeysFirst()


def hasten(driver: Driver, app: App[Any], keys: KeysFirst) -> None:
    """Have `driver` hand keys to `app` without the task that Textual makes for each of them."""
    loop = asyncio.get_running_loop()

    def send_message(message: Message) -> None:
        if isinstance(message, events.Key):
            keys.pressed()
        loop.call_soon_threadsafe(app.post_message, message)

    driver.send_message = send_message  # type: ignore[method-assign]
