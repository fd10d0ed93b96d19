"""A turn in another program's hands: followed event by event, or awaited for its result."""

import asyncio
from collections.abc import AsyncIterator, Callable, Generator
from typing import Any

from kimi_tui.api.result import Account, TurnResult
from kimi_tui.base.content import UserInput
from kimi_tui.wire.channel import Outgoing, Subscription
from kimi_tui.wire.events import TurnEnd


class Turn:
    """Runs from the moment when it was asked for, whether it is followed or not.

    `async for event in turn` gives its events, fragments that have come meanwhile as one; from another task,
    or after the loop, `await turn` gives its TurnResult. Both raise what an `approve` or `answer` of yours
    raised, and KimiTuiError when the session ended under the turn. That the model failed is no exception: it
    is in the result.
    """

    def __init__(self, user_input: UserInput, *, interrupt: Callable[[], None]) -> None:
        self.user_input = user_input
        self._interrupt = interrupt
        self._account = Account()
        self._events = Subscription(lambda _: None)
        self._over = asyncio.Event()
        self._error: BaseException | None = None

    @property
    def is_over(self) -> bool:
        """Whether it has ended."""
        return self._over.is_set()

    def interrupt(self) -> None:
        """Cancel it. What it has done and said so far stays; its outcome is `cancelled`."""
        if not self.is_over:
            self._interrupt()

    async def __aiter__(self) -> AsyncIterator[Outgoing]:
        async for event in self._events:
            yield event
        if self._error is not None:
            raise self._error

    def __await__(self) -> Generator[Any, None, TurnResult]:
        return self._ended().__await__()

    async def _ended(self) -> TurnResult:
        await self._over.wait()
        if self._error is not None:
            raise self._error
        return self._account.result

    # for the session

    def take(self, event: Outgoing) -> None:
        """`event` belongs to this turn."""
        self._account.count(event)
        self._events.put(event)
        if isinstance(event, TurnEnd):
            self._end()

    def fail(self, error: BaseException) -> None:
        """Raise `error` to whoever follows, once the turn is over. The first one counts."""
        self._error = self._error or error

    def lose(self, error: BaseException) -> None:
        """The session has ended before the turn did."""
        if not self.is_over:
            self.fail(error)
            self._end()

    def _end(self) -> None:
        self._over.set()
        self._events.close()
