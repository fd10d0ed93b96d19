"""The sessions that a client begins, finds again and ends."""

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

from kimi_tui.acp.mcp_servers import servers_of
from kimi_tui.acp.session import Session
from kimi_tui.acp.sessions import Sessions, SessionWish
from kimi_tui.acp.settings import models_of, modes_of
from kimi_tui.acp.words import NOT_FOUND, invalid
from kimi_tui.base.errors import SessionError
from kimi_tui.base.terminal import plain_line
from kimi_tui.history.session import Session as StoredSession
from kimi_tui.history.session import SessionStore

PAGE = 50
"""How many sessions a list names at once."""


class Lifecycle:
    """Answers those requests. What can't be done is a RequestError, or a KimiTuiError of the store."""

    def __init__(self, *, sessions: Sessions, store: SessionStore) -> None:
        self._sessions = sessions
        self._store = store

    async def new(self, request: NewSessionRequest) -> dict[str, Any]:
        """A session in a folder."""
        session = await self._sessions.open(_wish(request))
        session.begin()
        response = NewSessionResponse(session_id=session.id, **_state_of(session))
        return _with_models(response, session)

    async def load(self, request: LoadSessionRequest) -> dict[str, Any]:
        """An earlier session; what was said in it is told before the answer."""
        session = await self._reopen(request)
        await session.tell_past()
        session.begin()
        return _with_models(LoadSessionResponse(**_state_of(session)), session)

    async def resume(self, request: ResumeSessionRequest) -> dict[str, Any]:
        """An earlier session, for a client that remembers what was said."""
        session = await self._reopen(request)
        session.begin()
        return _with_models(ResumeSessionResponse(**_state_of(session)), session)

    async def fork(self, request: ForkSessionRequest) -> dict[str, Any]:
        """A copy of an earlier session."""
        session = await self._reopen(request, fork=True)
        session.begin()
        response = ForkSessionResponse(session_id=session.id, **_state_of(session))
        return _with_models(response, session)

    async def _reopen(
        self, request: LoadSessionRequest | ResumeSessionRequest | ForkSessionRequest, *, fork: bool = False
    ) -> Session:
        wish = _wish(request, session_id=request.session_id, fork=fork)
        empty = await self._empty(request.session_id)
        if empty is not None:
            work_dir = Path(empty.info.work_dir)
        else:
            work_dir = (await self._found(request.session_id)).work_dir
        if work_dir.resolve() != wish.cwd:
            raise invalid(f"The session works in {work_dir}, not in {wish.cwd}. Open it with that folder.")
        if empty is None:
            return await self._sessions.open(wish)
        return await self._sessions.open(replace(wish, session_id=None, fork=False)) if fork else empty

    async def _empty(self, session_id: str) -> Session | None:
        """An open session in which nothing was said: it isn't on disk yet, and goes on as it is."""
        session = self._sessions.find(session_id)
        if session is None:
            return None
        try:
            await self._found(session_id)
        except RequestError:
            return session
        return None

    async def _found(self, session_id: str) -> StoredSession:
        """The session of exactly that id. Raises RequestError."""
        try:
            found = await asyncio.to_thread(self._store.find, session_id)
        except SessionError as error:
            raise RequestError(NOT_FOUND, str(error)) from error
        if found.id != session_id:
            raise RequestError(NOT_FOUND, f"There is no session “{plain_line(session_id)}”.")
        return found

    async def list(self, request: ListSessionsRequest) -> ListSessionsResponse:
        """The sessions of a folder, or all, last used first; a page of them."""
        cwd = Path(request.cwd).resolve() if request.cwd is not None else None
        known = [one for one in await asyncio.to_thread(self._store.list, cwd) if one.work_dir is not None]
        begin = _cursor(request.cursor)
        listed = [
            SessionInfo(
                session_id=one.id,
                cwd=str(one.work_dir),
                title=one.title or None,
                updated_at=datetime.fromtimestamp(one.updated, UTC).isoformat(),
            )
            for one in known[begin : begin + PAGE]
        ]
        more = str(begin + PAGE) if len(known) > begin + PAGE else None
        return ListSessionsResponse(sessions=listed, next_cursor=more)

    async def close(self, request: CloseSessionRequest) -> CloseSessionResponse:
        """Cancel what runs in a session, and end it."""
        self._sessions.get(request.session_id)
        await self._sessions.close(request.session_id)
        return CloseSessionResponse()

    async def delete(self, request: DeleteSessionRequest) -> DeleteSessionResponse:
        """Delete a session from disk."""
        empty = await self._empty(request.session_id)
        await self._sessions.close(request.session_id)
        if empty is None:
            await asyncio.to_thread(self._store.delete, await self._found(request.session_id))
        return DeleteSessionResponse()


def _wish(
    request: NewSessionRequest | LoadSessionRequest | ResumeSessionRequest | ForkSessionRequest,
    *,
    session_id: str | None = None,
    fork: bool = False,
) -> SessionWish:
    return SessionWish(
        cwd=_folder("cwd", request.cwd),
        additional_dirs=tuple(
            _folder("additionalDirectories", path) for path in request.additional_directories or ()
        ),
        session_id=session_id,
        fork=fork,
        mcp_servers=servers_of(request.mcp_servers),
    )


def _folder(name: str, text: str) -> Path:
    """The folder that a parameter names. Raises RequestError unless it is there."""
    path = Path(text)
    if "\x00" in text or not path.is_absolute():
        raise invalid(f"{name} is an absolute path, not “{plain_line(text)}”.")
    if not path.is_dir():
        raise invalid(f"{name} {plain_line(text)} is no folder that is there.")
    return path.resolve()


def _cursor(text: str | None) -> int:
    """Where a list goes on. Raises RequestError for what no list has said."""
    if text is None:
        return 0
    if not (text.isascii() and text.isdecimal() and len(text) < 10):
        raise invalid(f"There is no cursor “{plain_line(text)}”.")
    return int(text)


def _state_of(session: Session) -> dict[str, Any]:
    return {"modes": modes_of(session.info), "config_options": session.options}


def _with_models(response: BaseModel, session: Session) -> dict[str, Any]:
    told = response.model_dump(mode="json", by_alias=True, exclude_none=True)
    return {**told, "models": models_of(session.info)}
