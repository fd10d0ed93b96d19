"""Connection to the engine: sends commands and prints events."""

import asyncio
import contextlib
from collections.abc import Callable

from kimi_tui.base.terminal_text import sanitize_line
from kimi_tui.frontend.message_batch import MessageBatch
from kimi_tui.frontend.session_controller import SessionController
from kimi_tui.i18n.translate import tr
from kimi_tui.linear.draft import UnsentInput
from kimi_tui.linear.event_printer import EventPrinter, is_printed
from kimi_tui.linear.messages import user_text
from kimi_tui.linear.output import LineOutput
from kimi_tui.linear.replay import HistoryReplay
from kimi_tui.wire.channel import Outgoing, Subscription, Wire
from kimi_tui.wire.commands import Command
from kimi_tui.wire.events import (
    Notification,
    ReplayBegin,
    ReplayEnd,
    SessionInfo,
    SnapshotProgress,
    TurnBegin,
)
from kimi_tui.wire.permissions import PermissionList
from kimi_tui.wire.requests import Answer, ApprovalRequest, QuestionRequest

_REPLY_TIMEOUT_S = 10.0
_ANNOUNCE_AFTER_S = 1.0
"""Seconds after which a running call is announced. A call that ends or makes a request sooner is announced
at that time.
"""


class EngineClient:
    """Receives the engine's messages, prints them and lets callers wait for them."""

    def __init__(
        self,
        *,
        wire: Wire,
        session: SessionController,
        unsent: UnsentInput,
        output: LineOutput,
        printer: EventPrinter,
        version: str,
    ) -> None:
        self._wire = wire
        self._session = session
        self._unsent = unsent
        self._output = output
        self._version = version
        self._subscription: Subscription | None = None
        self._changed = asyncio.Event()
        self._has_greeted = False
        self._is_replaying = False
        self._is_scanning = False
        """Whether the user has been notified that a command is scanning files."""
        self._has_failed = False
        """Whether an error was reported or the user interrupted since the last command."""
        self._announcement: asyncio.TimerHandle | None = None
        self.printer = printer
        self.replay = HistoryReplay(output)
        self.is_closed = False
        """Whether the session is over."""
        self.is_leaving = False
        """Whether the program is exiting. Its last line names the tasks that are stopped."""

    # from the engine

    def subscribe(self) -> None:
        """Subscribe to the wire."""
        self._subscription = self._wire.subscribe()

    async def listen(self) -> None:
        """Pass messages to the session until the engine exits. Call `subscribe` first."""
        while self._subscription is not None and (batch := await self._subscription.drain()):
            self._session.show_batch(batch)
            self._changed.set()
        self.close()

    def print_batch(self, batch: MessageBatch) -> None:
        """Print messages."""
        for message in batch.all:
            self._print(message)
        self._is_scanning = self._session.state.snapshot_progress is not None
        if self._announcement is None and self.printer.has_silent_calls:
            loop = asyncio.get_running_loop()
            self._announcement = loop.call_later(_ANNOUNCE_AFTER_S, self._announce_calls)

    def _announce_calls(self) -> None:
        self._announcement = None
        self.printer.announce_complete_calls()

    def _print(self, message: Outgoing) -> None:
        match message:
            case SessionInfo() if not self._has_greeted:
                self._has_greeted = True
                self._print_greeting(message)
            case ReplayBegin():
                self._is_replaying = True
                self.replay.clear()
            case ReplayEnd():
                self._is_replaying = False
                self.replay.print_last_turn()
            case PermissionList(rules=rules, is_question=True):
                names = ", ".join(sanitize_line(rule.rule) for rule in rules)
                self._output.write_line(
                    tr("You allowed in an earlier run of this session: {rules}.", rules=names)
                )
                self._output.write_line(
                    tr("Type /permissions confirm to allow them again, or /permissions forget.")
                )
            case _ if self._is_replaying:
                if is_printed(message):
                    self.replay.add(message)
            case Notification(type="task.stopped") if self.is_leaving:
                pass
            case TurnBegin(user_input=user_input):
                self.printer.print_event(message)
                text = user_text(user_input)
                if text != user_text(self._unsent.images.expand(self._session.last_prompt)):
                    self._output.write_line(tr("You: {text}", text=text))
                self._output.write_line(tr("Working. Press ctrl+c to interrupt."))
            case SnapshotProgress(done=done, total=total):
                is_scanning = total is None or done < total
                if is_scanning and self._session.is_running_command and not self._is_scanning:
                    self._is_scanning = True
                    self._output.write_line(tr("Scanning files. Press ctrl+c to cancel."))
            case _:
                self._has_failed |= isinstance(message, Notification) and message.severity == "error"
                if is_printed(message):
                    self.printer.print_event(message)
                if isinstance(message, ApprovalRequest | QuestionRequest) and self._unsent.is_prompting:
                    self._output.write_line(tr("A request is awaiting your answer. Press enter to read it."))

    def _print_greeting(self, session: SessionInfo) -> None:
        folder, model = sanitize_line(session.work_dir), sanitize_line(session.model_label)
        self._output.write_line(
            tr(
                "kimi-tui {version} in {folder}, model: {model}",
                version=self._version,
                folder=folder,
                model=model,
            )
            if model
            else tr("kimi-tui {version} in {folder}, no model", version=self._version, folder=folder)
        )
        if session.read_only:
            self._output.write_line(
                tr("This session is read-only: another process is using it.")
                if session.in_use
                else tr("This session is read-only.")
            )
        self._output.write_line(tr("Type a prompt. /help lists commands, ctrl+d quits."))

    # waiting

    def wake(self) -> None:
        """End `wait_for_change`."""
        self._changed.set()

    async def wait_for_change(self) -> None:
        """Wait until events arrive, the session closes or `wake` is called."""
        self._changed.clear()
        await self._changed.wait()

    async def wait_until(self, condition: Callable[[], bool]) -> None:
        """Wait until `condition` holds, the session closes or a timeout expires."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_REPLY_TIMEOUT_S):
                while not condition() and not self.is_closed:
                    await self.wait_for_change()

    async def wait_until_printed(self) -> None:
        """Wait until all events that have arrived are printed."""
        while self._subscription is not None and self._subscription.has_pending:
            await self.wait_for_change()

    # to the engine

    def command(self, command: Command) -> None:
        """Send `command` without waiting for it."""
        self._session.command(command)

    async def command_and_wait(self, command: Command) -> bool:
        """Send `command`, wait for it and print its results. Return False if it reported an error.

        Raises WireClosed.
        """
        self._has_failed = False
        await self._session.command_and_wait(command)
        await self.wait_until_printed()
        return not self._has_failed

    def answer(self, answer: Answer) -> None:
        """Answer an open request."""
        if not self._session.answer(answer):
            self._output.write_line(tr("The request no longer needs an answer."))

    def interrupt(self) -> bool:
        """Stop running work. Return False if nothing is running."""
        self._has_failed = self._session.interrupt(shell_first=True)
        return self._has_failed

    def close(self) -> None:
        """Mark the session as over."""
        if self._announcement is not None:
            self._announcement.cancel()
        self.is_closed = True
        self._changed.set()
