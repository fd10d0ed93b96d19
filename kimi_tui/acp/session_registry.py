"""Registry of the client's open sessions."""

import asyncio
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Protocol

from acp import RequestError

from kimi_tui.acp.client import AcpClient
from kimi_tui.acp.client_editor import ClientEditor
from kimi_tui.acp.client_terminals import ClientTerminals
from kimi_tui.acp.errors import NOT_FOUND
from kimi_tui.acp.session import AcpSession
from kimi_tui.base.terminal_text import sanitize_line
from kimi_tui.mcp.server_config import ServerConfig
from kimi_tui.tools.file.client_editor import NO_EDITOR, Editor
from kimi_tui.tools.shell.client_terminals import NO_TERMINALS, Terminals
from kimi_tui.wire.channel import Wire


@dataclass(frozen=True, slots=True, kw_only=True)
class AcpSessionOptions:
    """Options of a session that the client opens."""

    cwd: Path
    """An existing directory; absolute, symlinks resolved."""
    additional_dirs: tuple[Path, ...] = ()
    session_id: str | None = None
    """Id of the session to resume or fork; None for a new session."""
    fork: bool = False
    """Whether to fork the session instead of resuming it."""
    mcp_servers: tuple[ServerConfig, ...] = ()
    """Servers configured by the client."""
    editor: Editor = NO_EDITOR
    terminals: Terminals = NO_TERMINALS
    """Terminals of the client."""


class AcpEngines(Protocol):
    """Runs the engines of the client's sessions."""

    def has_model(self) -> bool:
        """Return whether a model is configured for new sessions."""
        ...

    async def serve(self, wire: Wire, session_options: AcpSessionOptions) -> None:
        """Open an engine for `wire` and run the engine until Shutdown. Raises KimiTuiError."""
        ...

    async def stop(self, session_id: str) -> None:
        """Close a session that continues without this client, unless it is closed. Raises KimiTuiError."""
        ...


class SessionRegistry:
    """Open sessions by id. Several can run at the same time."""

    def __init__(self, *, client: AcpClient, engines: AcpEngines, tasks: asyncio.TaskGroup) -> None:
        self._client = client
        self._engines = engines
        self._tasks = tasks
        self._open: dict[str, AcpSession] = {}
        self._opening: set[AcpSession] = set()

    async def open(self, session_options: AcpSessionOptions) -> AcpSession:
        """Open a session, without forwarding its events yet. If the session is already open, close it first.

        Raises RequestError.
        """
        if session_options.session_id is not None and not session_options.fork:
            await self.close(session_options.session_id)
        wire = Wire()
        session = AcpSession(client=self._client, wire=wire, tasks=self._tasks)
        session_options = replace(
            session_options,
            editor=ClientEditor(self._client, session),
            terminals=ClientTerminals(self._client, session),
        )
        self._opening.add(session)
        try:
            await session.open(partial(self._engines.serve, wire, session_options))
        except BaseException:
            await session.close()
            raise
        finally:
            self._opening.discard(session)
        self._open[session.id] = session
        return session

    def find(self, session_id: str) -> AcpSession | None:
        """Return the open session with this id; None if it isn't open."""
        return self._open.get(session_id)

    def get(self, session_id: str) -> AcpSession:
        """Return the open session with this id. Raises RequestError if it isn't open."""
        session = self.find(session_id)
        if session is None:
            raise RequestError(NOT_FOUND, f"Session “{sanitize_line(session_id)}” isn't open. Load it first.")
        return session

    def cancel(self, session_id: str) -> None:
        """Cancel the running turn of a session, if any."""
        session = self.find(session_id)
        if session is not None:
            session.cancel()

    async def close(self, session_id: str, *, cancels_work: bool = False) -> None:
        """Close the session with this id, if it is open.

        `cancels_work`: whether to cancel running work even if the session continues in the resident engine.
        """
        session = self._open.pop(session_id, None)
        if session is not None:
            await session.close(cancels_work=cancels_work)

    async def stop(self, session_id: str) -> None:
        """Close the session with this id for all clients. Raises KimiTuiError."""
        await self.close(session_id, cancels_work=True)
        await self._engines.stop(session_id)

    async def close_all(self) -> None:
        """Close all sessions."""
        ending = [*self._open.values(), *self._opening]
        self._open.clear()
        await asyncio.gather(*(session.close() for session in ending))
