"""Gives keys priority over streamed output: while a key is pending, drawing waits."""

import asyncio
from collections.abc import Callable
from time import perf_counter
from typing import Any, Protocol, runtime_checkable

from textual import events
from textual.app import App
from textual.driver import Driver
from textual.message import Message

_MAX_WAIT_S = 0.1
"""Maximum seconds that drawing waits. After that, the key went to a widget that doesn't report keys, or keys
arrive faster than they are handled.
"""


class KeyPriority:
    """Tracks whether a key is pending. The thread that reads the terminal reports keys before they reach
    the app.
    """

    def __init__(self, *, now: Callable[[], float] = perf_counter) -> None:
        self._now = now
        self._pressed_at: float | None = None

    def begin_key(self) -> None:
        """Record a key. Keys that arrive while one is pending don't extend the wait."""
        if not self.is_key_pending:
            self._pressed_at = self._now()

    def finish_key(self) -> None:
        """Record that the result of the key has been drawn."""
        self._pressed_at = None

    @property
    def is_key_pending(self) -> bool:
        """Whether a key is pending."""
        pressed = self._pressed_at
        return pressed is not None and self._now() - pressed < _MAX_WAIT_S


@runtime_checkable
class HasKeyPriority(Protocol):
    """An app that tracks pending keys."""

    key_priority: KeyPriority


def key_priority_of(app: object) -> KeyPriority:
    """Return the key priority of `app`, or an inactive one."""
    return app.key_priority if isinstance(app, HasKeyPriority) else KeyPriority()


def prioritize_keys(driver: Driver, app: App[Any], key_priority: KeyPriority) -> None:
    """Make `driver` post messages to `app` without the task that Textual creates for each of them."""
    loop = asyncio.get_running_loop()

    def send_message(message: Message) -> None:
        if isinstance(message, events.Key):
            key_priority.begin_key()
        loop.call_soon_threadsafe(app.post_message, message)

    driver.send_message = send_message  # type: ignore[method-assign]
