"""A running tool call, with its silence timeout and the server's requests to the user."""

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager, suppress
from typing import Any, Protocol, TypeVar

from kimi_tui.mcp.errors import McpServerError
from kimi_tui.tools.tool import CallContext

T = TypeVar("T")


class CallProgress(Protocol):
    """Receives the progress of a call."""

    def report(self, progress: float | None, total: float | None, message: str) -> None:
        """Report the progress and the total, both None if unknown, and the server's message."""
        ...


class PendingCall:
    """Call that times out after `silence_s` seconds without a message. User requests suspend the timeout."""

    def __init__(self, call: CallContext, progress: CallProgress, *, silence_s: float) -> None:
        self.call = call
        self._progress = progress
        self._silence_s = silence_s
        self._timeout: asyncio.Timeout | None = None
        self._user_requests: set[asyncio.Future[Any]] = set()

    @asynccontextmanager
    async def silence_timeout(self) -> AsyncIterator[None]:
        """Run the call with the timeout. On exit, cancel open user requests.

        Raises McpServerError on a timeout.
        """
        try:
            async with asyncio.timeout(self._silence_s) as self._timeout:
                yield
        except TimeoutError:
            raise McpServerError(
                f"The server sent no result and no progress for {self._silence_s:g} s.",
                hint="Request less, or continue without it.",
            ) from None
        finally:
            self._timeout = None
            for request in self._user_requests:
                request.cancel()

    def report_progress(self, progress: float | None, total: float | None, message: str) -> None:
        """Restart the timeout and report the server's progress, as in `CallProgress.report`."""
        self.reset_timeout()
        self._progress.report(progress, total, message)

    def reset_timeout(self) -> None:
        """Restart the timeout. Call this for each message from the server."""
        if self._timeout is not None and not self._user_requests:
            self._reschedule(asyncio.get_running_loop().time() + self._silence_s)

    async def run_user_request(self, work: Coroutine[Any, Any, T]) -> T | None:
        """Return the result of `work`, a request to the user or the model; None if the call ends first."""
        request = asyncio.ensure_future(work)
        self._user_requests.add(request)
        self._reschedule(None)
        try:
            return await request
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise
            return None
        finally:
            self._user_requests.discard(request)
            self.reset_timeout()

    def _reschedule(self, when: float | None) -> None:
        with suppress(RuntimeError):  # the timeout has already ended
            if self._timeout is not None:
                self._timeout.reschedule(when)
