"""An MCP server of a session. Reconnects after a lost connection."""

import asyncio
import logging
import time
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from dataclasses import field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar

from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.frozen import frozen
from kimi_tui.base.logging import log_event
from kimi_tui.base.redaction import register_secrets, secret_values
from kimi_tui.base.shielding import run_shielded
from kimi_tui.mcp.client_handler import ElicitationRequest, ElicitationResult, SamplingRequest, SamplingResult
from kimi_tui.mcp.errors import McpServerError
from kimi_tui.mcp.pending_call import CallProgress, PendingCall
from kimi_tui.mcp.process_reaper import ProcessReaper
from kimi_tui.mcp.result import McpResult
from kimi_tui.mcp.server_config import RemoteServer, ServerConfig
from kimi_tui.mcp.server_features import ServerFeatures
from kimi_tui.mcp.server_log import ServerLog
from kimi_tui.mcp.token_store import TokenStore, token_path
from kimi_tui.tools.tool import CallContext

if TYPE_CHECKING:
    from kimi_tui.mcp.connection import McpConnection

logger = logging.getLogger(__name__)

T = TypeVar("T")

ConnectionState = Literal["pending", "connecting", "connected", "failed", "unauthorized"]

RETRY_DELAYS_S = (1.0, 3.0, 10.0, 30.0, 60.0)
"""Delays between connection attempts. After the last attempt, the server is connected only on request."""
_EXPIRED_GRACE_S = 5.0
"""Maximum wait for the responses to open requests of an expired session."""
_REFRESH_DELAY_S = 0.2
"""Minimum delay between two fetches of a server's features, if they change often."""


async def preload_connection() -> None:
    """Import the connection module in a thread, because the import takes 1.4 s of CPU time."""
    await asyncio.to_thread(import_module, "kimi_tui.mcp.connection")


class ServerRequestHandler(Protocol):
    """Handles requests that servers send during a call."""

    async def elicit(self, server: str, call: CallContext, request: ElicitationRequest) -> ElicitationResult:
        """Ask the user."""
        ...

    async def sample(self, server: str, call: CallContext, request: SamplingRequest) -> SamplingResult:
        """Ask the model, if the user allows it. Raises KimiTuiError."""
        ...


class ServerObserver(Protocol):
    """Is notified of changes of servers."""

    def handle_server_change(self) -> None:
        """The state or the features of a server have changed."""
        ...


@frozen(kw_only=True)
class ServerContext:
    """The environment of a session's servers."""

    work_dir: Path
    data_dir: Path
    request_handler: ServerRequestHandler
    roots: tuple[Path, ...] = ()
    """Directories that are announced to servers as roots."""
    retry_delays_s: Sequence[float] = RETRY_DELAYS_S
    reaper: ProcessReaper = field(default_factory=ProcessReaper)


class McpServer:
    """An MCP server. `run` keeps it connected. Calls wait for a running connection attempt.

    Implements ClientHandler.
    """

    def __init__(self, config: ServerConfig, context: ServerContext, observer: ServerObserver) -> None:
        self.config = config
        register_secrets(secret_values(config.named_values))
        self.state: ConnectionState = "pending"
        self.features = ServerFeatures()
        """Features of the server. Empty until the first connection; kept while reconnecting."""
        self.error: McpServerError | None = None
        """Why the server isn't connected; None without an error."""
        self.settled = asyncio.Event()
        """Set when the first connection attempt has succeeded or failed."""
        self._context = context
        self._observer = observer
        self._connection: McpConnection | None = None
        self._ready = asyncio.Event()
        """Set while no connection attempt is running."""
        self._wake = asyncio.Event()
        self._loss: McpServerError | None = None
        self._features_stale = False
        self._reconnect_requested = False
        self._pending_calls: list[PendingCall] = []
        self._sent_count = 0
        """Number of requests that await a response."""
        self._all_answered = asyncio.Event()

    @property
    def name(self) -> str:
        """Name in the config."""
        return self.config.name

    async def run(self) -> None:
        """Connect, and reconnect after each loss, until canceled."""
        failures = 0
        try:
            while True:
                started_at, was_connected = time.monotonic(), False
                try:
                    await self._connect()
                    was_connected = True
                    await self._run_until_lost()
                    self._loss = self._loss or McpServerError("The server is being reconnected.")
                    raise self._loss
                except McpServerError as error:
                    if was_connected and error.is_session_expired:
                        log_event(logger, logging.INFO, "mcp_session_expired", server=self.name)
                        await self._wait_for_responses()
                        await self._disconnect()
                        continue
                    was_stable = time.monotonic() - started_at > max(self._context.retry_delays_s, default=0)
                    failures = 0 if was_stable and was_connected else failures
                    await self._disconnect()
                    await self._wait_before_retry(self._original_error(error), failures)
                    failures = 0 if self._reconnect_requested else failures + 1
        finally:
            self.settled.set()
            self._ready.set()
            await self._disconnect()

    def reconnect(self) -> None:
        """Reconnect, in any state."""
        self._reconnect_requested = True
        self._wake.set()

    async def call_tool(
        self, name: str, arguments: dict[str, Any], call: CallContext, progress: CallProgress
    ) -> McpResult:
        """Call a tool for `call`. Raises McpServerError."""
        pending_call = PendingCall(call, progress, silence_s=self.config.timeouts.silence_s)
        self._pending_calls.append(pending_call)
        started_at = time.monotonic()
        try:
            async with pending_call.silence_timeout():
                return await self._request(lambda it: it.call_tool(name, arguments, pending_call))
        finally:
            seconds = time.monotonic() - started_at
            log_event(logger, logging.DEBUG, "mcp_call", server=self.name, tool=name, seconds=seconds)
            self._pending_calls.remove(pending_call)

    async def get_prompt(self, name: str, arguments: dict[str, str]) -> McpResult:
        """Return the messages of a prompt. Raises McpServerError."""
        return await self._request(lambda it: it.get_prompt(name, arguments))

    async def complete_argument(
        self, prompt: str, argument: str, text: str, known_arguments: dict[str, str]
    ) -> tuple[str, ...]:
        """Return completions of `text` for a prompt's argument. Raises McpServerError."""
        return await self._request(lambda it: it.complete_argument(prompt, argument, text, known_arguments))

    async def read_resource(self, uri: str) -> McpResult:
        """Return the content of a resource. Raises McpServerError."""
        return await self._request(lambda it: it.read_resource(uri))

    # ClientHandler

    def on_connection_lost(self, error: McpServerError) -> None:
        """Handle the loss of the connection."""
        if self._loss is None:
            self._loss = error
            self._ready.clear()
            self._wake.set()
            if self.state == "connected":
                self._set_state("connecting")

    def on_features_changed(self) -> None:
        """Handle a change of the server's features."""
        self._features_stale = True
        self._wake.set()

    async def elicit(self, request: ElicitationRequest) -> ElicitationResult:
        """Ask the user on behalf of the latest running call. Without a running call, cancel the request."""
        if not self._pending_calls:
            return ElicitationResult("cancel")
        last = self._pending_calls[-1]
        result = await last.run_user_request(
            self._context.request_handler.elicit(self.name, last.call, request)
        )
        return result or ElicitationResult("cancel")

    async def sample(self, request: SamplingRequest) -> SamplingResult:
        """Ask the model on behalf of the latest running call. Raises KimiTuiError."""
        if not self._pending_calls:
            raise KimiTuiError("Sampling is only available during a tool call.")
        last = self._pending_calls[-1]
        result = await last.run_user_request(
            self._context.request_handler.sample(self.name, last.call, request)
        )
        if result is None:
            raise KimiTuiError("The tool call has ended.")
        return result

    # Connection

    async def _connect(self) -> None:
        self._ready.clear()
        self._loss, self._features_stale, self._reconnect_requested = None, False, False
        self._set_state("connecting")
        started_at = time.monotonic()
        tokens = self._find_tokens()
        if isinstance(self.config, RemoteServer) and self.config.oauth and not (tokens and tokens.has_tokens):
            raise McpServerError(
                "Not signed in.",
                hint=f"Run `kimi-tui mcp auth {self.name}` or /mcp auth {self.name}.",
                persistence="unauthorized",
            )
        await preload_connection()
        from kimi_tui.mcp.connection import McpConnection
        from kimi_tui.mcp.oauth import McpOAuth

        log = ServerLog(self.name, secrets=self.config.secrets)
        try:
            self._connection = await McpConnection.connect(
                self.config,
                handler=self,
                log=log,
                reaper=self._context.reaper,
                work_dir=self._context.work_dir,
                roots=self._context.roots,
                sign_in=(
                    McpOAuth(self.config.url, tokens, scopes=self.config.scopes)
                    if tokens is not None and isinstance(self.config, RemoteServer)
                    else None
                ),
            )
            self.features = await self._connection.fetch_features()
        except McpServerError as error:
            raise self._original_error(error) from None
        self.error = None
        log_event(
            logger,
            logging.INFO,
            "mcp_connected",
            server=self.name,
            seconds=time.monotonic() - started_at,
            tools=len(self.features.tools),
        )
        self._set_state("connected")
        self.settled.set()
        self._ready.set()

    async def _run_until_lost(self) -> None:
        """Keep the features up to date until the connection is lost or a reconnect is requested."""
        while True:
            await self._wake.wait()
            self._wake.clear()
            if self._loss is not None or self._reconnect_requested:
                return
            if self._features_stale and self._connection is not None:
                self._features_stale = False
                self.features = await self._connection.fetch_features()
                self._observer.handle_server_change()
                await asyncio.sleep(_REFRESH_DELAY_S)

    async def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            # Shielded in a separate task: fastmcp swallows a cancellation that reaches it here.
            await run_shielded(connection.close())

    async def _wait_before_retry(self, error: McpServerError, failures: int) -> None:
        """Report `error`, then wait until the next attempt is due or a reconnect is requested."""
        if self._reconnect_requested:
            return
        log_event(
            logger,
            logging.WARNING,
            "mcp_disconnected",
            server=self.name,
            failures=failures,
            persistence=error.persistence,
            reason=error,
        )
        delays_s = self._context.retry_delays_s
        will_retry = error.persistence == "transient" and failures < len(delays_s)
        self.error = error
        self._wake.clear()
        self._set_state("unauthorized" if error.persistence == "unauthorized" else "failed")
        self.settled.set()
        if not will_retry:
            self._stop_retrying()
        with suppress(TimeoutError):
            async with asyncio.timeout(delays_s[failures] if will_retry else None):
                while not self._reconnect_requested:
                    await self._wake.wait()
                    self._wake.clear()

    def _stop_retrying(self) -> None:
        self.features = ServerFeatures()
        self._ready.set()
        self._observer.handle_server_change()

    def _find_tokens(self) -> TokenStore | None:
        """Return the store of the server's tokens; None if the server neither requires nor has tokens."""
        if not isinstance(self.config, RemoteServer):
            return None
        tokens = TokenStore(token_path(self._context.data_dir, self.config.url))
        return tokens if self.config.oauth or tokens.has_tokens else None

    def _set_state(self, state: ConnectionState) -> None:
        self.state = state
        self._observer.handle_server_change()

    # Requests

    async def _wait_for_connection(self) -> "McpConnection":
        """Wait for a running connection attempt and return the connection.

        Raises McpServerError if the server isn't connected.
        """
        if self._connection is None or self._loss is not None:
            with suppress(TimeoutError):
                async with asyncio.timeout(self.config.timeouts.connect_s):
                    await self._ready.wait()
        if self._connection is None or self.state != "connected":
            reason = f" {self.error.what}" if self.error is not None else ""
            raise McpServerError(
                f"The MCP server {self.name} is not connected.{reason}",
                hint="Continue without it. The user can reconnect it with /mcp.",
            )
        return self._connection

    async def _request(self, send: "Callable[[McpConnection], Coroutine[Any, Any, T]]") -> T:
        """Return the response to a request. Raises McpServerError.

        An error that closes the connection triggers a reconnect. If the session has expired, the request is
        sent again in a new session, as the specification requires.
        """
        try:
            return await self._send_once(send)
        except McpServerError as error:
            if not error.is_session_expired:
                raise
        return await self._send_once(send)

    async def _send_once(self, send: "Callable[[McpConnection], Coroutine[Any, Any, T]]") -> T:
        connection = await self._wait_for_connection()
        self._sent_count += 1
        try:
            return await send(connection)
        except McpServerError as error:
            if error.closes_connection and connection is self._connection:
                self.on_connection_lost(error)
            raise self._original_error(error) from None
        finally:
            self._sent_count -= 1
            if not self._sent_count:
                self._all_answered.set()

    async def _wait_for_responses(self) -> None:
        """Wait until the other requests of the expired session have failed."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_EXPIRED_GRACE_S):
                while self._sent_count:
                    self._all_answered.clear()
                    await self._all_answered.wait()

    def _original_error(self, error: McpServerError) -> McpServerError:
        """Return the error of the process exit, if any. It is more specific than a closed connection."""
        return self._loss if error.closes_connection and self._loss is not None else error
