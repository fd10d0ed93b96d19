"""The ACP client: its capabilities, and the updates and requests sent to it."""

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


class ClientRequestError(Exception):
    """Raised if the client answers a request with an error or an invalid result, or has disconnected."""


class ClientDisconnected(ClientRequestError):
    """Raised if the client has disconnected."""


class AcpClient:
    """One connected client. Methods that send a request raise ClientRequestError."""

    def __init__(self) -> None:
        self.capabilities = ClientCapabilities()
        """Capabilities from `initialize`; defaults until the client sends them."""
        self._connection: Connection | None = None

    def connect(self, connection: Connection) -> None:
        """Set the connection to use.

        This isn't a constructor argument because of a cycle: the connection needs the agent, and the agent
        needs this client.
        """
        self._connection = connection

    @property
    def supports_forms(self) -> bool:
        """Whether the client can show forms with questions."""
        elicitation = self.capabilities.elicitation
        return elicitation is not None and elicitation.form is not None

    @property
    def supports_boolean_options(self) -> bool:
        """Whether session options can be boolean. Otherwise, they are selections of "on" and "off"."""
        session = self.capabilities.session
        options = session.config_options if session is not None else None
        return options is not None and options.boolean is not None

    @property
    def can_read_files(self) -> bool:
        """Whether the client can read files, including unsaved changes in its editor."""
        return bool(self.capabilities.fs and self.capabilities.fs.read_text_file)

    @property
    def can_write_files(self) -> bool:
        """Whether the client can write files."""
        return bool(self.capabilities.fs and self.capabilities.fs.write_text_file)

    @property
    def has_terminals(self) -> bool:
        """Whether the client can run commands in its terminals."""
        return bool(self.capabilities.terminal)

    async def send_update(self, session_id: str, update: BaseModel) -> None:
        """Send a session update. Waits while the client reads nothing. No effect after a disconnection."""
        notification = SessionNotification(session_id=session_id, update=cast("Any", update))
        try:
            await notify_model(self._active_connection, CLIENT_METHODS["session_update"], notification)
        except ConnectionError:
            return

    async def ask_permission(
        self, session_id: str, call: ToolCallUpdate, options: list[PermissionOption]
    ) -> RequestPermissionResponse:
        """Ask the user to choose one of `options`."""
        request = RequestPermissionRequest(session_id=session_id, tool_call=call, options=options)
        return await self._request("session_request_permission", request, RequestPermissionResponse)

    async def ask_form(self, request: BaseModel) -> dict[str, Any]:
        """Show the user a form. Return the client's unvalidated result: `action` and optionally `content`."""
        try:
            answer = await self._active_connection.send_request(
                CLIENT_METHODS["elicitation_create"], serialize_params(request)
            )
        except ConnectionError as error:
            raise ClientDisconnected(str(error)) from error
        except RequestError as error:
            raise ClientRequestError(str(error)) from error
        return answer if isinstance(answer, dict) else {}

    async def read_file(self, session_id: str, path: str) -> str:
        """Return the text of a file, including unsaved changes."""
        request = ReadTextFileRequest(session_id=session_id, path=path)
        return (await self._request("fs_read_text_file", request, ReadTextFileResponse)).content

    async def write_file(self, session_id: str, path: str, text: str) -> None:
        """Write a file."""
        await self._notify(
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
        """Start a command in a new terminal. Return the terminal's id."""
        request = CreateTerminalRequest(
            session_id=session_id,
            command=command,
            args=args,
            env=[EnvVariable(name=name, value=value) for name, value in env.items()],
            cwd=cwd,
            output_byte_limit=output_byte_limit,
        )
        return (await self._request("terminal_create", request, CreateTerminalResponse)).terminal_id

    async def terminal_output(self, session_id: str, terminal_id: str) -> TerminalOutputResponse:
        """Return the output of the terminal's command so far."""
        request = TerminalOutputRequest(session_id=session_id, terminal_id=terminal_id)
        return await self._request("terminal_output", request, TerminalOutputResponse)

    async def wait_for_exit(self, session_id: str, terminal_id: str) -> WaitForTerminalExitResponse:
        """Wait until the terminal's command exits. Return its exit status."""
        request = WaitForTerminalExitRequest(session_id=session_id, terminal_id=terminal_id)
        return await self._request("terminal_wait_for_exit", request, WaitForTerminalExitResponse)

    async def kill_terminal(self, session_id: str, terminal_id: str) -> None:
        """Kill the terminal's command but keep the terminal."""
        await self._notify(
            "terminal_kill", KillTerminalRequest(session_id=session_id, terminal_id=terminal_id)
        )

    async def release_terminal(self, session_id: str, terminal_id: str) -> None:
        """Release the terminal. The client continues to show its output."""
        request = ReleaseTerminalRequest(session_id=session_id, terminal_id=terminal_id)
        await self._notify("terminal_release", request)

    @property
    def _active_connection(self) -> Connection:
        if self._connection is None:
            raise ConnectionError("the client is not connected yet")
        return self._connection

    async def _request(self, method: str, request: BaseModel, response_type: type[A]) -> A:
        try:
            return await request_model(
                self._active_connection, CLIENT_METHODS[method], request, response_type
            )
        except ConnectionError as error:
            raise ClientDisconnected(str(error)) from error
        except (RequestError, ValidationError) as error:
            raise ClientRequestError(str(error)) from error

    async def _notify(self, method: str, request: BaseModel) -> None:
        try:
            await self._active_connection.send_request(CLIENT_METHODS[method], serialize_params(request))
        except (RequestError, ConnectionError) as error:
            raise ClientRequestError(str(error)) from error
