"""A session of the resident engine: one engine behind its Wire, and the clients that are attached."""

import asyncio
import logging
import time
from dataclasses import replace
from datetime import date
from typing import Any, Protocol

from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.message_text import msg
from kimi_tui.base.redaction import redact
from kimi_tui.resident.editor_link import EditorLink
from kimi_tui.resident.reply_recipients import ReplyReceiver, ReplyRecipients
from kimi_tui.resident.session_snapshot import SessionSnapshot
from kimi_tui.resident.shared_log import LogEntry, SharedLog
from kimi_tui.resident.tool_client import ToolClient
from kimi_tui.wire.channel import Outgoing, Wire, WireClosed
from kimi_tui.wire.commands import Command, Interrupt, Shutdown
from kimi_tui.wire.events import CostUpdate, RequestClosed, SessionInfo
from kimi_tui.wire.requests import (
    Answer,
    HookRequest,
    HookResponse,
    QuestionResponse,
    ToolCallRequest,
    ToolCallResponse,
)
from kimi_tui.wire.running_session import (
    RunningSession,
    RunningState,
    cost_on,
    encode_request,
    state_after,
)

logger = logging.getLogger(__name__)

STOP_TIMEOUT_S = 10.0
"""Seconds to wait for an engine to stop its work and save."""


class SessionOpener(Protocol):
    """Opens the engines of sessions."""

    def find(self, options: dict[str, Any]) -> str | None:
        """Return the id of the existing session that `options` name; None for a new one.

        Blocks. Raises KimiTuiError.
        """
        ...

    async def serve(self, wire: Wire, options: dict[str, Any], editor: EditorLink) -> None:
        """Open an engine behind `wire` and serve it until Shutdown. Raises KimiTuiError.

        Its tools use `editor`, which is that of an attached client, if there is one.
        """
        ...


class SessionClient(ReplyReceiver, Protocol):
    """A client that is attached to a session."""

    @property
    def cursor(self) -> int:
        """Position in the log of the next entry that it gets."""
        ...

    def notify_new(self) -> None:
        """Send the new entries of the log."""
        ...


class SessionWatcher(Protocol):
    """Follows the state of the sessions."""

    def handle_change(self, session: "HostedSession") -> None:
        """Handle new messages of a session, a new client or one less, and its end."""
        ...


class HostedSession:
    """Runs an engine, and passes its messages to all clients in one order.

    The engine runs until it ends, whether or not clients are attached.
    """

    def __init__(self, watcher: SessionWatcher, *, requested_id: str) -> None:
        """`requested_id`: id of the session to open; empty for a new one."""
        self._watcher = watcher
        self._requested_id = requested_id
        self._wire = Wire()
        self._subscription = self._wire.subscribe()
        self._recipients = ReplyRecipients()
        self.tool_client = ToolClient(self._wire)
        self.editor = EditorLink()
        self._running_commands = 0
        self._state: RunningState = "idle"
        self._state_since = time.monotonic()
        self._ended = asyncio.Event()
        self.is_stopping = False
        """Whether the session was told to stop."""
        self.log = SharedLog()
        self.snapshot = SessionSnapshot()
        self.clients: set[SessionClient] = set()
        self.failure: KimiTuiError | None = None
        """The error that ended the engine."""
        self._stop_reason: KimiTuiError | None = None

    @property
    def id(self) -> str:
        """The session's id; empty while a new one is being opened."""
        return self.snapshot.info.session_id if self.snapshot.info is not None else self._requested_id

    @property
    def is_open(self) -> bool:
        """Whether the engine has opened the session."""
        return self.snapshot.info is not None

    @property
    def has_ended(self) -> bool:
        """Whether the engine has ended and all its messages are in the log."""
        return self._ended.is_set()

    @property
    def end_reason(self) -> KimiTuiError | None:
        """Why the session has ended, for clients that didn't end it."""
        return self.failure or self._stop_reason

    @property
    def is_needed(self) -> bool:
        """Whether the session must stay open: it is being opened, a client is attached, or something runs."""
        return bool(not self.is_open or self.clients or self._running_commands or self.snapshot.is_working)

    # the engine

    async def run(self, opener: SessionOpener, options: dict[str, Any]) -> None:
        """Open the engine and run it until it ends. An error is stored in `failure`."""
        try:
            async with asyncio.TaskGroup() as group:
                pump = group.create_task(self._pump())
                try:
                    await opener.serve(self._wire, options, self.editor)
                except KimiTuiError as error:
                    self.failure = error
                except Exception as error:
                    logger.exception("the engine of a session failed")
                    self.failure = _internal_error(error)
                finally:
                    self._wire.close()
                await pump
        finally:
            self.collect()
            self._ended.set()
            self._notify_clients()

    async def _pump(self) -> None:
        while batch := await self._subscription.drain():
            self._add(batch)

    def collect(self) -> None:
        """Add all messages that the engine has sent so far to the log."""
        self._add(self._subscription.pop_pending())

    def _add(self, batch: list[Outgoing]) -> None:
        for message in batch:
            if isinstance(message, SessionInfo):
                message = replace(message, resident=True)
            self.snapshot.add(message)
            if self.clients:
                self.log.append(LogEntry(message, self._recipients_of(message)))
        if batch:
            self._notify_clients()

    def _recipients_of(self, message: Outgoing) -> frozenset[ReplyReceiver] | None:
        if isinstance(message, ToolCallRequest | HookRequest):
            return self.tool_client.recipients_of(message)
        return self._recipients.recipients_of(message)

    def send_to(self, client: ReplyReceiver, message: Outgoing) -> None:
        """Send a message to one client only, after everything that was sent so far."""
        self.collect()
        self.log.append(LogEntry(message, frozenset({client})))
        self._notify_clients()

    async def stop(self, reason: KimiTuiError | None = None) -> None:
        """Interrupt running work, save and end. Can be called repeatedly. Clients get the `reason`."""
        if not self.is_stopping:
            self.is_stopping = True
            self._stop_reason = reason
            self._wire.command(Interrupt())
            self._wire.command(Shutdown())
        try:
            async with asyncio.timeout(STOP_TIMEOUT_S):
                await self._ended.wait()
        except TimeoutError:
            logger.warning("session %s did not close in time", self.id)

    # clients

    def attach(self, client: SessionClient) -> list[Outgoing]:
        """Add a client. Return the messages that bring it to the state at the end of the log."""
        self.collect()
        self.clients.add(client)
        self._watcher.handle_change(self)
        return self.snapshot.messages()

    def detach(self, client: SessionClient) -> None:
        """Remove a client. The session continues."""
        self.clients.discard(client)
        self._recipients.forget(client)
        self.tool_client.release(client)
        self.drop_read_entries()
        self._watcher.handle_change(self)

    def drop_read_entries(self) -> None:
        """Drop the part of the log that all clients have been sent."""
        self.log.drop_before(min((client.cursor for client in self.clients), default=self.log.end))

    async def run_command(self, client: ReplyReceiver, command: Command) -> None:
        """Send a client's command to the engine, and wait until it is done or the session has ended.

        The messages that the command caused are in the log when this returns.
        """
        self._running_commands += 1
        try:
            await self._wire.command_and_wait(self._recipients.record(client, command))
        except WireClosed:
            logger.info("a command arrived after the end of the session")
        finally:
            self._running_commands -= 1
            self.collect()
            self._watcher.handle_change(self)

    def answer(self, answer: Answer) -> bool:
        """Answer a request. Return whether it was still open. It is closed for all clients."""
        if not self._wire.answer(answer):
            return False
        if isinstance(answer, ToolCallResponse):
            self.tool_client.forget(answer.tool_call_id)
        elif isinstance(answer, HookResponse):
            self.tool_client.forget(answer.request_id)
        elif isinstance(
            answer, QuestionResponse
        ):  # the engine itself reports the answers of permission requests
            self.collect()
            self._add([RequestClosed(answer.request_id)])
        return True

    def _notify_clients(self) -> None:
        self._update_state()
        for client in self.clients:
            client.notify_new()
        self._watcher.handle_change(self)

    # state

    def _update_state(self) -> None:
        state = self._compute_state()
        if state != self._state:
            self._state, self._state_since = state, time.monotonic()

    def _compute_state(self) -> RunningState:
        if self.snapshot.requests:
            return "awaiting approval"
        if self.snapshot.is_working:
            return "working"
        if self.failure is not None:
            return "failed"
        outcome = self.snapshot.last_outcome
        return "idle" if outcome is None else state_after(outcome)

    @property
    def progress(self) -> tuple[str, RunningState, tuple[str, ...], int]:
        """Values whose changes are reported to watchers: the state, the open requests and the clients."""
        requests = tuple(request.id for request in self.snapshot.requests)
        return self.id, self._state, requests, len(self.clients)

    def describe(self) -> RunningSession:
        """Return what lists show of the session."""
        info, cost = self.snapshot.info, self.snapshot.cost or CostUpdate()
        today = date.today().isoformat()  # noqa: DTZ011 (the user's day)
        return RunningSession(
            id=self.id,
            title=info.title if info is not None else "",
            work_dir=info.work_dir if info is not None else "",
            state=self._state,
            since_s=time.monotonic() - self._state_since,
            cost_usd=cost.cost_usd,
            cost_today_usd=cost_on(
                today, day=cost.day, day_cost_usd=cost.day_cost_usd, cost_usd=cost.cost_usd
            ),
            last_line=self.snapshot.last_line,
            clients=len(self.clients),
            requests=tuple(map(encode_request, self.snapshot.requests)),
        )


def _internal_error(error: Exception) -> KimiTuiError:
    return KimiTuiError(
        msg(
            "The session ended with an internal error: {error}: {problem}.",
            error=type(error).__name__,
            problem=redact(str(error)),
        ),
        hint="The conversation is saved. Resume it with --continue.",
    )
