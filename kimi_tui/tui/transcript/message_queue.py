"""Message queue with a time budget, so that a burst of messages doesn't block key presses."""

from collections import deque
from collections.abc import Callable, Iterable
from time import perf_counter
from typing import Protocol

from kimi_tui.base.content_parts import TextPart, ThinkPart
from kimi_tui.frontend.message_batch import TranscriptMessage

BUDGET_S = 0.008
"""Seconds spent on messages per iteration of the event loop."""
_MAX_TEXT_CHARS = 16_384
"""Maximum number of characters to handle at a time. Longer texts are handled in chunks."""


class MessageHandler(Protocol):
    """Receives the messages in order."""

    def handle(self, message: TranscriptMessage) -> None:
        """Handle one message."""
        ...


class BudgetedQueue:
    """Queue of messages that are handled within a time budget."""

    def __init__(self, handler: MessageHandler, *, now: Callable[[], float] = perf_counter) -> None:
        self._handler = handler
        self._now = now
        self._pending: deque[TranscriptMessage] = deque()

    def __bool__(self) -> bool:
        """Return whether messages are queued."""
        return bool(self._pending)

    def put(self, messages: Iterable[TranscriptMessage]) -> None:
        """Add `messages` to the queue."""
        self._pending.extend(messages)

    def process(self, budget_s: float = BUDGET_S) -> None:
        """Handle at least one queued message, and more until the budget is spent."""
        deadline = self._now() + budget_s
        while self._pending:
            self._handler.handle(self._pop_next())
            if self._now() > deadline:
                return

    def clear(self) -> None:
        """Drop all queued messages."""
        self._pending.clear()

    def _pop_next(self) -> TranscriptMessage:
        message = self._pending.popleft()
        if isinstance(message, TextPart) and len(message.text) > _MAX_TEXT_CHARS:
            self._pending.appendleft(TextPart(message.text[_MAX_TEXT_CHARS:]))
            return TextPart(message.text[:_MAX_TEXT_CHARS])
        if isinstance(message, ThinkPart) and len(message.think) > _MAX_TEXT_CHARS:
            self._pending.appendleft(ThinkPart(message.think[_MAX_TEXT_CHARS:], message.encrypted))
            return ThinkPart(message.think[:_MAX_TEXT_CHARS])
        return message
