"""The client: what it can do, and what it is sent and asked."""

from typing import Any, TypeVar, cast

from acp import RequestError
from acp.connection import Connection
from acp.meta import CLIENT_METHODS
from acp.schema import (
    ClientCapabilities,
    CreateTerminalRequest,
    CreateTerminalResponse,
    EnvVariable,
    KillTerminalRequest,
    PermissionOption,
    ReadTextFileRequest,
    ReadTextFileResponse,
    ReleaseTerminalRequest,
    RequestPermissionRequest,
    RequestPermissionResponse,
    SessionNotification,
    TerminalOutputRequest,
    TerminalOutputResponse,
    ToolCallUpdate,
    WaitForTerminalExitRequest,
    WaitForTerminalExitResponse,
    WriteTextFileRequest,
)
from acp.utils import notify_model, request_model, serialize_params
from pydantic import BaseModel, ValidationError

A = TypeVar("A", bound=BaseModel)


class ClientRefused(Exception):
    """The client answered a request with an error or nonsense, or has gone."""


class Client:
    """One client. What asks it raises ClientRefused."""

    def __init__(self) -> None:
        self.capabilities = ClientCapabilities()
        """What it said in `initialize`; little without one."""
        self._connection: Connection | None = None

    def connect(self, connection: Connection) -> None:
        """Talk over `connection`, which needs whoever answers the client before it is there."""
        self._connection = connection

    @property
    def takes_forms(self) -> bool:
        """Whether the user can be asked questions by a form."""
        elicitation = self.capabilities.elicitation
        return elicitation is not None and elicitation.form is not None

    @property
    def takes_switches(self) -> bool:
        """Whether an option of a session may be on or off; otherwise it is a choice of both."""
        session = self.capabilities.session
        options = session.config_options if session is not None else None
        return options is not None and options.boolean is not None

    @property
    def reads_files(self) -> bool:
        """Whether it reads files for us, as its editor has them."""
        return bool(self.capabilities.fs and self.capabilities.fs.read_text_file)

    @property
    def writes_files(self) -> bool:
        """Whether it writes files for us."""
        return bool(self.capabilities.fs and self.capabilities.fs.write_text_file)

    @property
    def has_terminals(self) -> bool:
        """Whether commands can run in terminals of its own."""
        return bool(self.capabilities.terminal)

    async def update(self, session_id: str, update: BaseModel) -> None:
        """Tell of a change in a session; waits while the client doesn't read. Nothing when it has gone."""
        notification = SessionNotification(session_id=session_id, update=cast("Any", update))
        try:
            await notify_model(self._line, CLIENT_METHODS["session_update"], notification)
        except ConnectionError:
            return

    async def ask_permission(
        self, session_id: str, call: ToolCallUpdate, options: list[PermissionOption]
    ) -> RequestPermissionResponse:
        """Which of `options` the user chooses."""
        request = RequestPermissionRequest(session_id=session_id, tool_call=call, options=options)
        return await self._ask("session_request_permission", request, RequestPermissionResponse)

    async def ask_form(self, request: BaseModel) -> dict[str, Any]:
        """What the user answers to a form, as it came: `action`, and perhaps `content`."""
        try:
            answer = await self._line.send_request(
                CLIENT_METHODS["elicitation_create"], serialize_params(request)
            )
        except (RequestError, ConnectionError) as error:
            raise ClientRefused(str(error)) from error
        return answer if isinstance(answer, dict) else {}

    async def read_file(self, session_id: str, path: str) -> str:
        """The text of a file, with what is not saved yet."""
        request = ReadTextFileRequest(session_id=session_id, path=path)
        return (await self._ask("fs_read_text_file", request, ReadTextFileResponse)).content

    async def write_file(self, session_id: str, path: str, text: str) -> None:
        """Write a file."""
        await self._tell(
            "fs_write_text_file", WriteTextFileRequest(session_id=session_id, path=path, content=text)
        )

    async def create_terminal(
        self,
        session_id: str,
        *,
        command: str,
        args: list[str],
        env: dict[str, str],
        cwd: str,
        output_byte_limit: int,
    ) -> str:
        """Start a command in a new terminal; returns the terminal's id."""
        request = CreateTerminalRequest(
            session_id=session_id,
            command=command,
            args=args,
            env=[EnvVariable(name=name, value=value) for name, value in env.items()],
            cwd=cwd,
            output_byte_limit=output_byte_limit,
        )
        return (await self._ask("terminal_create", request, CreateTerminalResponse)).terminal_id

    async def terminal_output(self, session_id: str, terminal_id: str) -> TerminalOutputResponse:
        """What the terminal's command has printed so far."""
        request = TerminalOutputRequest(session_id=session_id, terminal_id=terminal_id)
        return await self._ask("terminal_output", request, TerminalOutputResponse)

    async def wait_for_exit(self, session_id: str, terminal_id: str) -> WaitForTerminalExitResponse:
        """How the terminal's command ended, once it has."""
        request = WaitForTerminalExitRequest(session_id=session_id, terminal_id=terminal_id)
        return await self._ask("terminal_wait_for_exit", request, WaitForTerminalExitResponse)

    async def kill_terminal(self, session_id: str, terminal_id: str) -> None:
        """End the terminal's command; the terminal stays."""
        await self._tell("terminal_kill", KillTerminalRequest(session_id=session_id, terminal_id=terminal_id))

    async def release_terminal(self, session_id: str, terminal_id: str) -> None:
        """The terminal is not needed any more; the client goes on showing it."""
        request = ReleaseTerminalRequest(session_id=session_id, terminal_id=terminal_id)
        await self._tell("terminal_release", request)

    @property
    def _line(self) -> Connection:
        if self._connection is None:
            raise ConnectionError("the client is not connected yet")
        return self._connection

    async def _ask(self, method: str, request: BaseModel, answer: type[A]) -> A:
        try:
            return await request_model(self._line, CLIENT_METHODS[method], request, answer)
        except (RequestError, ConnectionError, ValidationError) as error:
            raise ClientRefused(str(error)) from error

    async def _tell(self, method: str, request: BaseModel) -> None:
        try:
            await self._line.send_request(CLIENT_METHODS[method], serialize_params(request))
        except (RequestError, ConnectionError) as error:
            raise ClientRefused(str(error)) from error
