"""The sessions that this user has open: those of the resident engine, and those of other processes.

What looks for them is imported when it is used: the app creates the service before its first frame.
"""

import asyncio
from collections.abc import AsyncIterator, Collection
from contextlib import suppress
from datetime import date
from pathlib import Path

from kimi_tui.base.errors import KimiTuiError
from kimi_tui.version import __version__
from kimi_tui.wire.codec import encode
from kimi_tui.wire.requests import Answer
from kimi_tui.wire.running_session import RunningSession, RunningSessionList, cost_on

_LOOK_S = 5.0
"""Seconds until the first look for an engine, and between looks while none is running."""


class RunningSessions:
    """Implements `RunningSessionService` for a data directory."""

    def __init__(self, data_dir: Path) -> None:
        self._data_dir = data_dir

    async def list(self) -> RunningSessionList:
        """Return the open sessions, those of the resident engine first. Raises KimiTuiError."""
        from kimi_tui.cli.resident_client import list_hosted_sessions
        from kimi_tui.resident.connection import EngineNotRunning

        is_running = True
        try:
            hosted = await list_hosted_sessions(self._data_dir)
        except EngineNotRunning:
            hosted, is_running = (), False
        others = await asyncio.to_thread(
            _sessions_of_other_processes, self._data_dir, {session.id for session in hosted}
        )
        return RunningSessionList(sessions=(*hosted, *others), is_engine_running=is_running)

    async def watch(self) -> AsyncIterator[tuple[RunningSession, ...]]:
        """Yield the sessions of the engine, now and after each change of a state, forever.

        The engine sends them. If none is running, this looks for its lock from time to time.
        """
        await asyncio.sleep(_LOOK_S)
        from kimi_tui.resident.connection import connect
        from kimi_tui.resident.frames import Hello, InvalidFrame, parse_reply
        from kimi_tui.resident.socket_path import LOCK_NAME

        lock = self._data_dir / LOCK_NAME
        while True:
            if lock.exists():
                with suppress(KimiTuiError, OSError, ValueError, InvalidFrame):
                    async with connect(self._data_dir, Hello(version=__version__, request="watch")) as (
                        (reader, _),
                        reply,
                    ):
                        yield reply.sessions
                        while line := await reader.readline():
                            yield parse_reply(line).sessions
            await asyncio.sleep(_LOOK_S)

    async def answer(self, session_id: str, answer: Answer) -> bool:
        """Answer a request of a resident session. Return whether it was still open. Raises KimiTuiError."""
        from kimi_tui.resident.connection import send_hello
        from kimi_tui.resident.frames import Hello

        hello = Hello(version=__version__, request="answer", session=session_id, answer=encode(answer))
        return (await send_hello(self._data_dir, hello)).is_accepted

    async def stop(self, session_id: str) -> tuple[RunningSession, ...]:
        """Interrupt, save and close a resident session. Return the stopped ones. Raises KimiTuiError."""
        from kimi_tui.resident.connection import send_hello
        from kimi_tui.resident.frames import Hello

        hello = Hello(version=__version__, request="stop", session=session_id)
        return (await send_hello(self._data_dir, hello)).sessions


def _sessions_of_other_processes(data_dir: Path, hosted_ids: Collection[str]) -> list[RunningSession]:
    from kimi_tui.history.open_sessions import find_open_sessions

    today = date.today().isoformat()  # noqa: DTZ011 (the user's day)
    return [
        RunningSession(
            id=session.id,
            title=session.state.title,
            work_dir=session.state.work_dir or "",
            state="open",
            since_s=session.open_s,
            cost_usd=session.state.cost_usd,
            cost_today_usd=cost_on(
                today,
                day=session.state.cost_day,
                day_cost_usd=session.state.cost_day_usd,
                cost_usd=session.state.cost_usd,
            ),
            is_resident=False,
        )
        for session in find_open_sessions(data_dir)
        if session.id not in hosted_ids
    ]
