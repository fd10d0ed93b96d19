"""The inbox: messages that wait to be taken in, so that a burst never keeps a key waiting."""

from collections import deque
from collections.abc import Callable, Iterable
from time import perf_counter

from kimi_tui.base.content import TextPart, ThinkPart
from kimi_tui.wire.channel import Outgoing

BUDGET_S = 0.008
"""How long the messages of one turn of the event loop may take."""
_BITE = 16_384
"""Characters of text that are taken in at once."""


class Inbox:
    """Queues messages and hands them on within a budget of time."""

    def __init__(self, take: Callable[[Outgoing], None], *, now: Callable[[], float] = perf_counter) -> None:
        self._take = take
        self._now = now
        self._waiting: deque[Outgoing] = deque()

    def __bool__(self) -> bool:
        """Whether something waits."""
        return bool(self._waiting)

    def put(self, messages: Iterable[Outgoing]) -> None:
        """Queue `messages`."""
        self._waiting.extend(messages)

    def work(self, budget_s: float = BUDGET_S) -> None:
        """Take in what waits until the budget is spent, at least one message."""
        deadline = self._now() + budget_s
        while self._waiting:
            self._take(self._next())
            if self._now() > deadline:
                return

    def clear(self) -> None:
        """Forget what waits."""
        self._waiting.clear()

    def _next(self) -> Outgoing:
        message = self._waiting.popleft()
        if isinstance(message, TextPart) and len(message.text) > _BITE:
            self._waiting.appendleft(TextPart(message.text[_BITE:]))
            return TextPart(message.text[:_BITE])
        if isinstance(message, ThinkPart) and len(message.think) > _BITE:
            self._waiting.appendleft(ThinkPart(message.think[_BITE:], message.encrypted))
            return ThinkPart(message.think[:_BITE])
        return message
