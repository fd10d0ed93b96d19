"""Handlers of the requests that create, load, list and end sessions."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from acp import RequestError
from acp.schema import (
    CloseSessionRequest,
    CloseSessionResponse,
    DeleteSessionRequest,
    DeleteSessionResponse,
    ForkSessionRequest,
    ForkSessionResponse,
    ListSessionsRequest,
    ListSessionsResponse,
    LoadSessionRequest,
    LoadSessionResponse,
    NewSessionRequest,
    NewSessionResponse,
    ResumeSessionRequest,
    ResumeSessionResponse,
    SessionInfo,
)
from pydantic import BaseModel

from kimi_tui.acp.errors import NOT_FOUND, invalid_request
from kimi_tui.acp.mcp_servers import to_server_configs
from kimi_tui.acp.session import AcpSession
from kimi_tui.acp.session_registry import AcpSessionOptions, SessionRegistry
from kimi_tui.acp.session_settings import session_models, session_modes
from kimi_tui.base.errors import SessionError
from kimi_tui.base.terminal_text import sanitize_line
from kimi_tui.history.session import Session as StoredSession
from kimi_tui.history.session import SessionStore

PAGE_SIZE = 50
"""Sessions per page of a list."""


class SessionLifecycle:
    """Handles session requests.

    Raises: RequestError for invalid requests. KimiTuiError for errors of the session store.
    """

    def __init__(self, *, sessions: SessionRegistry, store: SessionStore) -> None:
        self._sessions = sessions
        self._store = store

    async def new(self, request: NewSessionRequest) -> dict[str, Any]:
        """Create a session in a directory."""
        session = await self._sessions.open(_session_options(request))
        session.start_forwarding()
        response = NewSessionResponse(session_id=session.id, **_session_state(session))
        return _add_models(response, session)

    async def load(self, request: LoadSessionRequest) -> dict[str, Any]:
        """Resume a session and send its history before the response."""
        session = await self._reopen(request)
        await session.send_replay()
        session.start_forwarding()
        return _add_models(LoadSessionResponse(**_session_state(session)), session)

    async def resume(self, request: ResumeSessionRequest) -> dict[str, Any]:
        """Resume a session without sending its history."""
        session = await self._reopen(request)
        session.start_forwarding()
        return _add_models(ResumeSessionResponse(**_session_state(session)), session)

    async def fork(self, request: ForkSessionRequest) -> dict[str, Any]:
        """Fork a session."""
        session = await self._reopen(request, fork=True)
        session.start_forwarding()
        response = ForkSessionResponse(session_id=session.id, **_session_state(session))
        return _add_models(response, session)

    async def _reopen(
        self, request: LoadSessionRequest | ResumeSessionRequest | ForkSessionRequest, *, fork: bool = False
    ) -> AcpSession:
        options = _session_options(request, session_id=request.session_id, fork=fork)
        empty = await self._find_empty_session(request.session_id)
        if empty is not None:
            work_dir = Path(empty.info.work_dir)
        else:
            work_dir = (await self._find_stored_session(request.session_id)).work_dir
        if work_dir.resolve() != options.cwd:
            raise invalid_request(
                f"The session's working directory is {work_dir}, not {options.cwd}."
                " Load it with its own working directory."
            )
        if empty is None:
            return await self._sessions.open(options)
        return await self._sessions.open(replace(options, session_id=None, fork=False)) if fork else empty

    async def _find_empty_session(self, session_id: str) -> AcpSession | None:
        """Return the open session if it has no messages, otherwise None.

        A session without messages isn't on disk yet, so it can't be opened again.
        """
        session = self._sessions.find(session_id)
        if session is None:
            return None
        try:
            await self._find_stored_session(session_id)
        except RequestError:
            return session
        return None

    async def _find_stored_session(self, session_id: str) -> StoredSession:
        """Return the stored session with exactly this id. Raises RequestError."""
        try:
            session = await asyncio.to_thread(self._store.find, session_id)
        except SessionError as error:
            raise RequestError(NOT_FOUND, str(error)) from error
        if session.id != session_id:
            raise RequestError(NOT_FOUND, f"Session “{sanitize_line(session_id)}” doesn't exist.")
        return session

    async def list(self, request: ListSessionsRequest) -> ListSessionsResponse:
        """Return a page of the sessions of a directory, or of all sessions, most recently used first."""
        cwd = Path(request.cwd).resolve() if request.cwd is not None else None
        stored = [
            session
            for session in await asyncio.to_thread(self._store.list, cwd)
            if session.work_dir is not None
        ]
        start = _parse_cursor(request.cursor)
        page = [
            SessionInfo(
                session_id=session.id,
                cwd=str(session.work_dir),
                title=session.title or None,
                updated_at=datetime.fromtimestamp(session.updated, UTC).isoformat(),
            )
            for session in stored[start : start + PAGE_SIZE]
        ]
        next_cursor = str(start + PAGE_SIZE) if len(stored) > start + PAGE_SIZE else None
        return ListSessionsResponse(sessions=page, next_cursor=next_cursor)

    async def close(self, request: CloseSessionRequest) -> CloseSessionResponse:
        """Cancel running work in a session and close it."""
        self._sessions.get(request.session_id)
        await self._sessions.close(request.session_id, cancels_work=True)
        return CloseSessionResponse()

    async def delete(self, request: DeleteSessionRequest) -> DeleteSessionResponse:
        """Delete a session from disk."""
        empty = await self._find_empty_session(request.session_id)
        await self._sessions.stop(request.session_id)
        if empty is None:
            await asyncio.to_thread(self._store.delete, await self._find_stored_session(request.session_id))
        return DeleteSessionResponse()


def _session_options(
    request: NewSessionRequest | LoadSessionRequest | ResumeSessionRequest | ForkSessionRequest,
    *,
    session_id: str | None = None,
    fork: bool = False,
) -> AcpSessionOptions:
    return AcpSessionOptions(
        cwd=_parse_directory("cwd", request.cwd),
        additional_dirs=tuple(
            _parse_directory("additionalDirectories", path) for path in request.additional_directories or ()
        ),
        session_id=session_id,
        fork=fork,
        mcp_servers=to_server_configs(request.mcp_servers),
    )


def _parse_directory(name: str, text: str) -> Path:
    """Return the directory in parameter `name`. Raises RequestError if the directory doesn't exist."""
    path = Path(text)
    if "\x00" in text or not path.is_absolute():
        raise invalid_request(f"{name} must be an absolute path: “{sanitize_line(text)}” isn't.")
    if not path.is_dir():
        raise invalid_request(f"{name} {sanitize_line(text)} isn't an existing directory.")
    return path.resolve()


def _parse_cursor(text: str | None) -> int:
    """Return the index of the first session on a page. Raises RequestError if the cursor is invalid."""
    if text is None:
        return 0
    if not (text.isascii() and text.isdecimal() and len(text) < 10):
        raise invalid_request(f"Invalid cursor “{sanitize_line(text)}”.")
    return int(text)


def _session_state(session: AcpSession) -> dict[str, Any]:
    return {"modes": session_modes(session.info), "config_options": session.options}


def _add_models(response: BaseModel, session: AcpSession) -> dict[str, Any]:
    fields = response.model_dump(mode="json", by_alias=True, exclude_none=True)
    return {**fields, "models": session_models(session.info)}
