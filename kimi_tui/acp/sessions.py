"""The sessions that are open for the client."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from acp import RequestError

from kimi_tui.acp.client import Client
from kimi_tui.acp.editor import ClientEditor
from kimi_tui.acp.session import Session
from kimi_tui.acp.terminals import ClientTerminals
from kimi_tui.acp.words import NOT_FOUND
from kimi_tui.base.terminal import plain_line
from kimi_tui.tools.file.editor import NO_EDITOR, Editor
from kimi_tui.tools.mcp.server_config import ServerConfig
from kimi_tui.tools.shell.terminals import NO_TERMINALS, Terminals
from kimi_tui.wire.channel import Wire


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionWish:
    """The session that a client asks for."""

    cwd: Path
    """Absolute, links resolved; a folder that is there."""
    additional_dirs: tuple[Path, ...] = ()
    session_id: str | None = None
    """One to resume."""
    fork: bool = False
    """Whether to go on in a copy of it."""
    mcp_servers: tuple[ServerConfig, ...] = ()
    """Those that the client brings along."""
    editor: Editor = NO_EDITOR
    terminals: Terminals = NO_TERMINALS
    """Where the user has files open, and where commands are watched: both the client's."""


Serve = Callable[[Wire, SessionWish], Awaitable[None]]
"""Opens an engine behind a Wire and serves it until Shutdown. Raises KimiTuiError."""


class Sessions:
    """By their ids. Several run at once."""

    def __init__(self, *, client: Client, serve: Serve, tasks: asyncio.TaskGroup) -> None:
        self._client = client
        self._serve = serve
        self._tasks = tasks
        self._open: dict[str, Session] = {}
        self._opening: set[Session] = set()

    async def open(self, wish: SessionWish) -> Session:
        """A session that is open but not yet told of. One that was open before is opened anew.

        Raises RequestError.
        """
        if wish.session_id is not None and not wish.fork:
            await self.close(wish.session_id)
        wire = Wire()
        session = Session(client=self._client, wire=wire, tasks=self._tasks)
        wish = replace(
            wish,
            editor=ClientEditor(self._client, lambda: session.id),
            terminals=ClientTerminals(self._client, lambda: session.id, attach=session.attach_terminal),
        )
        self._opening.add(session)
        try:
            await session.open(partial(self._serve, wire, wish))
        except BaseException:
            await session.close()
            raise
        finally:
            self._opening.discard(session)
        self._open[session.id] = session
        return session

    def find(self, session_id: str) -> Session | None:
        """The open session of that id, if there is one."""
        return self._open.get(session_id)

    def get(self, session_id: str) -> Session:
        """The open session of that id. Raises RequestError."""
        session = self.find(session_id)
        if session is None:
            raise RequestError(
                NOT_FOUND, f"No session “{plain_line(session_id)}” is open here. Load it first."
            )
        return session

    def cancel(self, session_id: str) -> None:
        """Cancel the turn of the session of that id, if it is open and one runs."""
        session = self.find(session_id)
        if session is not None:
            session.cancel()

    async def close(self, session_id: str) -> None:
        """End the session of that id, if it is open."""
        session = self._open.pop(session_id, None)
        if session is not None:
            await session.close()

    async def close_all(self) -> None:
        """End every session."""
        ending = [*self._open.values(), *self._opening]
        self._open.clear()
        await asyncio.gather(*(session.close() for session in ending))
