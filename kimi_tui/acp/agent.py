"""The agent: what a client may ask of it, method by method."""

import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeVar

from acp import PROTOCOL_VERSION, RequestError
from acp.meta import AGENT_METHODS
from acp.schema import (
    AgentCapabilities,
    AuthenticateRequest,
    AuthenticateResponse,
    CancelNotification,
    CloseSessionRequest,
    DeleteSessionRequest,
    ForkSessionRequest,
    Implementation,
    InitializeRequest,
    InitializeResponse,
    ListSessionsRequest,
    LoadSessionRequest,
    McpCapabilities,
    NewSessionRequest,
    PromptCapabilities,
    PromptRequest,
    PromptResponse,
    ResumeSessionRequest,
    SessionAdditionalDirectoriesCapabilities,
    SessionCapabilities,
    SessionCloseCapabilities,
    SessionDeleteCapabilities,
    SessionForkCapabilities,
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
from kimi_tui.acp.lifecycle import Lifecycle
from kimi_tui.acp.login import Login
from kimi_tui.acp.sessions import Sessions
from kimi_tui.acp.settings import MODE, MODEL
from kimi_tui.acp.words import request_error, unfit
from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.terminal import plain_line

logger = logging.getLogger(__name__)

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
        self, *, client: Client, sessions: Sessions, lifecycle: Lifecycle, login: Login, version: str
    ) -> None:
        self._client = client
        self._sessions = sessions
        self._login = login
        self._version = version
        names = AGENT_METHODS
        self._requests: Mapping[str, tuple[type[BaseModel], Handler]] = {
            names["initialize"]: (InitializeRequest, self._initialize),
            names["authenticate"]: (AuthenticateRequest, self._authenticate),
            names["session_new"]: (NewSessionRequest, lifecycle.new),
            names["session_load"]: (LoadSessionRequest, lifecycle.load),
            names["session_resume"]: (ResumeSessionRequest, lifecycle.resume),
            names["session_fork"]: (ForkSessionRequest, lifecycle.fork),
            names["session_list"]: (ListSessionsRequest, lifecycle.list),
            names["session_close"]: (CloseSessionRequest, lifecycle.close),
            names["session_delete"]: (DeleteSessionRequest, lifecycle.delete),
            names["session_prompt"]: (PromptRequest, self._prompt),
            names["session_set_mode"]: (SetSessionModeRequest, self._set_mode),
            names["session_set_config_option"]: (SetSessionConfigOptionSelectRequest, self._set_option),
            "session/set_model": (SetModelRequest, self._set_model),
        }

    async def handle(self, method: str, params: Any, is_notification: bool) -> Answer:
        """Answer a request, or follow a notification. Raises RequestError."""
        if is_notification:
            if method == AGENT_METHODS["session_cancel"]:
                self._sessions.cancel(_read(method, CancelNotification, params).session_id)
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
            self._sessions.cancel(session_id)

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

    # turns and settings

    async def _prompt(self, request: PromptRequest) -> PromptResponse:
        return await self._sessions.get(request.session_id).prompt(request.prompt)

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


_LEFT_OUT: Mapping[str, Any] = {"mcpServers": []}
"""What some clients don't send, though they should."""


def _is_switch(params: Any) -> bool:
    return isinstance(params, dict) and params.get("type") == "boolean"


def _read(method: str, model: type[M], params: Any) -> M:
    """The parameters of a request. Raises RequestError when they don't fit."""
    try:
        return model.model_validate({**_LEFT_OUT, **params} if isinstance(params, dict) else params)
    except ValidationError as error:
        raise unfit(method, error) from error
