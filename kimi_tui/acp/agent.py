"""ACP agent: dispatches the client's requests and notifications to their handlers."""

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

from kimi_tui.acp.client import AcpClient
from kimi_tui.acp.errors import invalid_params, request_error
from kimi_tui.acp.model_login import ModelLogin
from kimi_tui.acp.session_lifecycle import SessionLifecycle
from kimi_tui.acp.session_registry import SessionRegistry
from kimi_tui.acp.session_settings import MODE, MODEL
from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.terminal_text import sanitize_line

logger = logging.getLogger(__name__)

HandlerResult = BaseModel | dict[str, Any] | None
M = TypeVar("M", bound=BaseModel)
Handler = Callable[[Any], Awaitable[HandlerResult]]


class SetModelRequest(BaseModel):
    """`session/set_model`, for older clients that don't set the model as a session option."""

    model_config = ConfigDict(populate_by_name=True)

    session_id: str = Field(alias="sessionId")
    model_id: str = Field(alias="modelId")


class AcpAgent:
    """Answers the requests of one client.

    Invalid requests raise RequestError. A failed turn is reported in its session.
    """

    def __init__(
        self,
        *,
        client: AcpClient,
        sessions: SessionRegistry,
        lifecycle: SessionLifecycle,
        login: ModelLogin,
        version: str,
    ) -> None:
        self._client = client
        self._sessions = sessions
        self._login = login
        self._version = version
        methods = AGENT_METHODS
        self._requests: Mapping[str, tuple[type[BaseModel], Handler]] = {
            methods["initialize"]: (InitializeRequest, self._initialize),
            methods["authenticate"]: (AuthenticateRequest, self._authenticate),
            methods["session_new"]: (NewSessionRequest, lifecycle.new),
            methods["session_load"]: (LoadSessionRequest, lifecycle.load),
            methods["session_resume"]: (ResumeSessionRequest, lifecycle.resume),
            methods["session_fork"]: (ForkSessionRequest, lifecycle.fork),
            methods["session_list"]: (ListSessionsRequest, lifecycle.list),
            methods["session_close"]: (CloseSessionRequest, lifecycle.close),
            methods["session_delete"]: (DeleteSessionRequest, lifecycle.delete),
            methods["session_prompt"]: (PromptRequest, self._prompt),
            methods["session_set_mode"]: (SetSessionModeRequest, self._set_mode),
            methods["session_set_config_option"]: (SetSessionConfigOptionSelectRequest, self._set_option),
            "session/set_model": (SetModelRequest, self._set_model),
        }

    async def handle(self, method: str, params: Any, is_notification: bool) -> HandlerResult:
        """Answer a request or handle a notification. Raises RequestError."""
        if is_notification:
            if method == AGENT_METHODS["session_cancel"]:
                self._sessions.cancel(_parse_params(method, CancelNotification, params).session_id)
            else:
                logger.info("ignored an unknown notification: %s", sanitize_line(method))
            return None
        if method not in self._requests:
            raise RequestError.method_not_found(sanitize_line(method))
        model, handler = self._requests[method]
        if method == AGENT_METHODS["session_set_config_option"] and _is_boolean_option(params):
            model = SetSessionConfigOptionBooleanRequest
        try:
            return await handler(_parse_params(method, model, params))
        except KimiTuiError as error:
            raise request_error(error) from error

    def cancel_request(self, method: str, params: dict[str, Any]) -> None:
        """Cancel a request for the client. Only prompts are canceled; all other requests are short."""
        session_id = params.get("sessionId")
        if method == AGENT_METHODS["session_prompt"] and isinstance(session_id, str):
            self._sessions.cancel(session_id)

    # handshake and sign-in

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


_DEFAULT_PARAMS: Mapping[str, Any] = {"mcpServers": []}
"""Required parameters that some clients omit."""


def _is_boolean_option(params: Any) -> bool:
    return isinstance(params, dict) and params.get("type") == "boolean"


def _parse_params(method: str, model: type[M], params: Any) -> M:
    """Return the parameters of a request as `model`. Raises RequestError if they are invalid."""
    try:
        return model.model_validate({**_DEFAULT_PARAMS, **params} if isinstance(params, dict) else params)
    except ValidationError as error:
        raise invalid_params(method, error) from error
