"""A tool call that a server is at work on, and what the server asks meanwhile."""

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager, suppress
from typing import Any, TypeVar

from kimi_tui.tools.mcp.problem import McpProblem
from kimi_tui.tools.tool import RunningCall

T = TypeVar("T")


class InFlight:
    """Ends when the server was silent for too long; not while somebody is asked on its behalf."""

    def __init__(self, call: RunningCall, *, silence_s: float) -> None:
        self.call = call
        self._silence_s = silence_s
        self._limit: asyncio.Timeout | None = None
        self._questions: set[asyncio.Future[Any]] = set()

    @asynccontextmanager
    async def limited(self) -> AsyncIterator[None]:
        """Around the call. Raises McpProblem when the server was silent; what it asked is then closed."""
        try:
            async with asyncio.timeout(self._silence_s) as self._limit:
                yield
        except TimeoutError:
            raise McpProblem(
                f"It gave no result and no sign of life for {self._silence_s:g} s.",
                hint="Ask for less, or go on without it.",
            ) from None
        finally:
            self._limit = None
            for question in self._questions:
                question.cancel()

    def heard(self) -> None:
        """The server said something."""
        if self._limit is not None and not self._questions:
            self._wait_until(asyncio.get_running_loop().time() + self._silence_s)

    async def ask(self, work: Coroutine[Any, Any, T]) -> T | None:
        """The outcome of `work`, which asks somebody; None when the call ended meanwhile."""
        question = asyncio.ensure_future(work)
        self._questions.add(question)
        self._wait_until(None)
        try:
            return await question
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise
            return None
        finally:
            self._questions.discard(question)
            self.heard()

    def _wait_until(self, when: float | None) -> None:
        with suppress(RuntimeError):  # it has ended by now
            if self._limit is not None:
                self._limit.reschedule(when)
