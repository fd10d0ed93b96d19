"""Turn of a session: an async iterable of events and an awaitable of its result."""

import asyncio
from collections.abc import AsyncIterator, Generator
from typing import Any, Protocol

from kimi_tui.api.turn_result import TurnRecorder, TurnResult
from kimi_tui.base.content_parts import UserInput
from kimi_tui.wire.channel import Outgoing, Subscription
from kimi_tui.wire.events import TurnEnd


class TurnOwner(Protocol):
    """The session that a turn belongs to."""

    def interrupt_turn(self, turn: "Turn", /) -> None:
        """Interrupt a turn that isn't over: now, or as soon as it begins."""
        ...


class Turn:
    """A turn. It runs even if you don't read its events.

    `async for event in turn` yields its events; queued text fragments are merged. `await turn` returns its
    TurnResult, also from another task or after the loop. Both raise the exceptions of your `approve` and
    `answer` functions, and KimiTuiError if the session ends during the turn. If the model fails, no exception
    is raised; the result contains the error.
    """

    def __init__(self, user_input: UserInput, *, owner: TurnOwner) -> None:
        self.user_input = user_input
        self._owner = owner
        self._recorder = TurnRecorder()
        self._events = Subscription()
        self._finished = asyncio.Event()
        self._error: BaseException | None = None

    @property
    def is_over(self) -> bool:
        """Whether the turn has ended."""
        return self._finished.is_set()

    def interrupt(self) -> None:
        """Interrupt the turn. Its messages and file changes stay; its outcome is `cancelled`."""
        if not self.is_over:
            self._owner.interrupt_turn(self)

    async def __aiter__(self) -> AsyncIterator[Outgoing]:
        async for event in self._events:
            yield event
        if self._error is not None:
            raise self._error

    def __await__(self) -> Generator[Any, None, TurnResult]:
        return self._wait_for_result().__await__()

    async def _wait_for_result(self) -> TurnResult:
        await self._finished.wait()
        if self._error is not None:
            raise self._error
        return self._recorder.result

    # called by EventRouter

    def add_event(self, event: Outgoing) -> None:
        """Add an event of this turn."""
        self._recorder.record(event)
        self._events.put(event)
        if isinstance(event, TurnEnd):
            self._finish()

    def fail(self, error: BaseException) -> None:
        """Raise `error` to the caller once the turn is over. Only the first error counts."""
        self._error = self._error or error

    def abort(self, error: BaseException) -> None:
        """End the turn with `error`, because the session has ended."""
        if not self.is_over:
            self.fail(error)
            self._finish()

    def _finish(self) -> None:
        self._finished.set()
        self._events.close()
