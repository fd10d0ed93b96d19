"""The agent: what a client may ask of it, method by method."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

from acp import PROTOCOL_VERSION, RequestError
from acp.meta import AGENT_METHODS
from acp.schema import (
    AgentCapabilities,
    AuthenticateRequest,
    AuthenticateResponse,
    CancelNotification,
    CloseSessionRequest,
    CloseSessionResponse,
    DeleteSessionRequest,
    DeleteSessionResponse,
    ForkSessionRequest,
    ForkSessionResponse,
    Implementation,
    InitializeRequest,
    InitializeResponse,
    ListSessionsRequest,
    ListSessionsResponse,
    LoadSessionRequest,
    LoadSessionResponse,
    McpCapabilities,
    NewSessionRequest,
    NewSessionResponse,
    PromptCapabilities,
    PromptRequest,
    PromptResponse,
    ResumeSessionRequest,
    ResumeSessionResponse,
    SessionAdditionalDirectoriesCapabilities,
    SessionCapabilities,
    SessionCloseCapabilities,
    SessionDeleteCapabilities,
    SessionForkCapabilities,
    SessionInfo,
    SessionListCapabilities,
    SessionResumeCapabilities,
    SetSessionConfigOptionBooleanRequest,
    SetSessionConfigOptionResponse,
    SetSessionConfigOptionSelectRequest,
    SetSessionModeRequest,
    SetSessionModeResponse,
)
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from kimi_tui.acp.client import Client
from kimi_tui.acp.login import Login
from kimi_tui.acp.mcp_servers import servers_of
from kimi_tui.acp.session import Session
from kimi_tui.acp.sessions import Sessions, SessionWish
from kimi_tui.acp.settings import MODE, MODEL, models_of, modes_of
from kimi_tui.acp.words import NOT_FOUND, invalid, request_error, unfit
from kimi_tui.base.errors import KimiTuiError, SessionError
from kimi_tui.base.terminal import plain_line
from kimi_tui.history.session import Session as StoredSession
from kimi_tui.history.session import SessionStore

logger = logging.getLogger(__name__)

PAGE = 50
"""How many sessions a list names at once."""

Answer = BaseModel | dict[str, Any] | None
M = TypeVar("M", bound=BaseModel)
Handler = Callable[[Any], Awaitable[Answer]]


class SetModelRequest(BaseModel):
    """`session/set_model`, which clients knew before a model was an option of a session."""

    model_config = ConfigDict(populate_by_name=True)

    session_id: str = Field(alias="sessionId")
    model_id: str = Field(alias="modelId")


class Agent:
    """Answers one client: what can't be done by a RequestError, a turn that fails in its session."""

    def __init__(
        self, *, client: Client, sessions: Sessions, store: SessionStore, login: Login, version: str
    ) -> None:
        self._client = client
        self._sessions = sessions
        self._store = store
        self._login = login
        self._version = version
        names = AGENT_METHODS
        self._requests: Mapping[str, tuple[type[BaseModel], Handler]] = {
            names["initialize"]: (InitializeRequest, self._initialize),
            names["authenticate"]: (AuthenticateRequest, self._authenticate),
            names["session_new"]: (NewSessionRequest, self._new),
            names["session_load"]: (LoadSessionRequest, self._load),
            names["session_resume"]: (ResumeSessionRequest, self._resume),
            names["session_fork"]: (ForkSessionRequest, self._fork),
            names["session_list"]: (ListSessionsRequest, self._list),
            names["session_close"]: (CloseSessionRequest, self._close),
            names["session_delete"]: (DeleteSessionRequest, self._delete),
            names["session_prompt"]: (PromptRequest, self._prompt),
            names["session_set_mode"]: (SetSessionModeRequest, self._set_mode),
            names["session_set_config_option"]: (SetSessionConfigOptionSelectRequest, self._set_option),
            "session/set_model": (SetModelRequest, self._set_model),
        }

    async def handle(self, method: str, params: Any, is_notification: bool) -> Answer:
        """Answer a request, or follow a notification. Raises RequestError."""
        if is_notification:
            if method == AGENT_METHODS["session_cancel"]:
                self._cancel(_read(method, CancelNotification, params))
            else:
                logger.info("a notification that means nothing here: %s", plain_line(method))
            return None
        if method not in self._requests:
            raise RequestError.method_not_found(plain_line(method))
        model, handler = self._requests[method]
        if method == AGENT_METHODS["session_set_config_option"] and _is_switch(params):
            model = SetSessionConfigOptionBooleanRequest
        try:
            return await handler(_read(method, model, params))
        except KimiTuiError as error:
            raise request_error(error) from error

    def cancel_request(self, method: str, params: dict[str, Any]) -> None:
        """The client has lost interest in a request. A prompt's turn is cancelled; the others are short."""
        session_id = params.get("sessionId")
        if method == AGENT_METHODS["session_prompt"] and isinstance(session_id, str):
            self._cancel(CancelNotification(session_id=session_id))

    # who they are

    async def _initialize(self, request: InitializeRequest) -> InitializeResponse:
        if request.client_capabilities is not None:
            self._client.capabilities = request.client_capabilities
        return InitializeResponse(
            protocol_version=PROTOCOL_VERSION,
            agent_info=Implementation(name="kimi-tui", title="kimi-tui", version=self._version),
            agent_capabilities=_CAPABILITIES,
            auth_methods=self._login.methods(self._client.capabilities),
        )

    async def _authenticate(self, request: AuthenticateRequest) -> AuthenticateResponse:
        self._login.check(request.method_id)
        return AuthenticateResponse()

    # sessions

    async def _new(self, request: NewSessionRequest) -> Answer:
        session = await self._sessions.open(_wish(request))
        session.begin()
        response = NewSessionResponse(session_id=session.id, **_state_of(session))
        return _with_models(response, session)

    async def _load(self, request: LoadSessionRequest) -> Answer:
        session = await self._reopen(request)
        await session.tell_past()
        session.begin()
        return _with_models(LoadSessionResponse(**_state_of(session)), session)

    async def _resume(self, request: ResumeSessionRequest) -> Answer:
        session = await self._reopen(request)
        session.begin()
        return _with_models(ResumeSessionResponse(**_state_of(session)), session)

    async def _fork(self, request: ForkSessionRequest) -> Answer:
        session = await self._reopen(request, fork=True)
        session.begin()
        response = ForkSessionResponse(session_id=session.id, **_state_of(session))
        return _with_models(response, session)

    async def _reopen(
        self, request: LoadSessionRequest | ResumeSessionRequest | ForkSessionRequest, *, fork: bool = False
    ) -> Session:
        wish = _wish(request, session_id=request.session_id, fork=fork)
        work_dir = (await self._found(request.session_id)).work_dir
        if work_dir.resolve() != wish.cwd:
            raise invalid(f"The session works in {work_dir}, not in {wish.cwd}. Open it with that folder.")
        return await self._sessions.open(wish)

    async def _found(self, session_id: str) -> StoredSession:
        """The session of exactly that id. Raises RequestError."""
        try:
            found = await asyncio.to_thread(self._store.find, session_id)
        except SessionError as error:
            raise RequestError(NOT_FOUND, str(error)) from error
        if found.id != session_id:
            raise RequestError(NOT_FOUND, f"There is no session “{plain_line(session_id)}”.")
        return found

    async def _list(self, request: ListSessionsRequest) -> ListSessionsResponse:
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

    async def _close(self, request: CloseSessionRequest) -> CloseSessionResponse:
        self._sessions.get(request.session_id)
        await self._sessions.close(request.session_id)
        return CloseSessionResponse()

    async def _delete(self, request: DeleteSessionRequest) -> DeleteSessionResponse:
        await self._sessions.close(request.session_id)
        await asyncio.to_thread(self._store.delete, await self._found(request.session_id))
        return DeleteSessionResponse()

    # turns and settings

    async def _prompt(self, request: PromptRequest) -> PromptResponse:
        return await self._sessions.get(request.session_id).prompt(request.prompt)

    def _cancel(self, notification: CancelNotification) -> None:
        self._sessions.get(notification.session_id).cancel()

    async def _set_mode(self, request: SetSessionModeRequest) -> SetSessionModeResponse:
        await self._sessions.get(request.session_id).set_option(MODE, request.mode_id)
        return SetSessionModeResponse()

    async def _set_model(self, request: SetModelRequest) -> dict[str, Any]:
        await self._sessions.get(request.session_id).set_option(MODEL, request.model_id)
        return {}

    async def _set_option(
        self, request: SetSessionConfigOptionBooleanRequest | SetSessionConfigOptionSelectRequest
    ) -> SetSessionConfigOptionResponse:
        session = self._sessions.get(request.session_id)
        await session.set_option(request.config_id, request.value)
        return SetSessionConfigOptionResponse(config_options=session.options)


_CAPABILITIES = AgentCapabilities(
    load_session=True,
    prompt_capabilities=PromptCapabilities(image=True, audio=False, embedded_context=True),
    mcp_capabilities=McpCapabilities(http=True, sse=True),
    session_capabilities=SessionCapabilities(
        list=SessionListCapabilities(),
        delete=SessionDeleteCapabilities(),
        fork=SessionForkCapabilities(),
        resume=SessionResumeCapabilities(),
        close=SessionCloseCapabilities(),
        additional_directories=SessionAdditionalDirectoriesCapabilities(),
    ),
)


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


def _is_switch(params: Any) -> bool:
    return isinstance(params, dict) and params.get("type") == "boolean"


def _read(method: str, model: type[M], params: Any) -> M:
    """The parameters of a request. Raises RequestError when they don't fit."""
    try:
        return model.model_validate({} if params is None else params)
    except ValidationError as error:
        raise unfit(method, error) from error
