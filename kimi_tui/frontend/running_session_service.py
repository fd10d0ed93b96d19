"""Interface to the open sessions of this user in all processes."""

from collections.abc import AsyncIterator
from typing import Protocol

from kimi_tui.wire.requests import Answer
from kimi_tui.wire.running_session import RunningSession, RunningSessionList


class RunningSessionService(Protocol):
    """Lists the open sessions, and answers and stops sessions of the resident engine."""

    async def list(self) -> RunningSessionList:
        """Return the open sessions. Raises KimiTuiError."""
        ...

    def watch(self) -> AsyncIterator[tuple[RunningSession, ...]]:
        """Yield the sessions of the resident engine, now and after each state change. Never ends.

        Nothing is yielded while no engine is running.
        """
        ...

    async def answer(self, session_id: str, answer: Answer) -> bool:
        """Answer a request of a resident session. Return whether it was still open. Raises KimiTuiError."""
        ...

    async def stop(self, session_id: str) -> tuple[RunningSession, ...]:
        """Interrupt, save and close a resident session. Return the stopped sessions. Raises KimiTuiError."""
        ...
