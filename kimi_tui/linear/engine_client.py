"""Connection to the engine: sends commands and prints events."""

import asyncio
import contextlib
from collections import deque
from collections.abc import Callable
from dataclasses import replace

from kimi_tui.base.content_parts import UserInput
from kimi_tui.base.terminal_text import sanitize_line
from kimi_tui.frontend.message_batch import MessageBatch, is_session_message
from kimi_tui.frontend.prompt_queue import acknowledge_all
from kimi_tui.frontend.session_state import SessionViewState, reduce, without_request
from kimi_tui.frontend.terminal_notifier import TerminalNotifier
from kimi_tui.i18n.translate import tr
from kimi_tui.linear.event_printer import EventPrinter, is_printed
from kimi_tui.linear.messages import user_text
from kimi_tui.linear.output import LineOutput
from kimi_tui.linear.replay import HistoryReplay
from kimi_tui.wire.channel import Outgoing, Subscription, Wire
from kimi_tui.wire.commands import Command, Interrupt, Prompt, RunSlash, Shutdown, StopShell
from kimi_tui.wire.events import (
    Notification,
    ReplayBegin,
    ReplayEnd,
    RequestClosed,
    SessionInfo,
    SnapshotProgress,
    TurnBegin,
)
from kimi_tui.wire.requests import Answer, ApprovalRequest, QuestionRequest

_REPLY_TIMEOUT_S = 10.0


class EngineClient:
    """Tracks the session's state, prints events and lets callers wait for changes.

    `is_prompting` returns whether the user is writing a prompt. `on_change` is called when the state changed.
    """

    def __init__(
        self,
        *,
        wire: Wire,
        output: LineOutput,
        notifier: TerminalNotifier,
        clock: Callable[[], float],
        version: str,
        is_prompting: Callable[[], bool],
        on_change: Callable[[], None],
    ) -> None:
        self._wire = wire
        self._output = output
        self._notifier = notifier
        self._clock = clock
        self._version = version
        self._is_prompting = is_prompting
        self._on_change = on_change
        self._subscription: Subscription | None = None
        self._sent_prompts: deque[str] = deque()
        """Prompts that were typed, whose turns have not begun."""
        self._changed = asyncio.Event()
        self._is_printing = False
        self._has_failed = False
        """Whether an error was reported since the last command, or the user interrupted it."""
        self._running_commands = 0
        """Number of commands that the engine is running."""
        self.printer = EventPrinter(output, clock=clock)
        self.replay = HistoryReplay(output)
        self.state = SessionViewState()
        self.is_closed = False
        """Whether the session is over."""

    # from the engine

    def subscribe(self) -> None:
        """Subscribe to the wire."""
        self._subscription = self._wire.subscribe()

    async def listen(self) -> None:
        """Print events until the engine exits. Call `subscribe` first."""
        while self._subscription is not None and (batch := await self._subscription.drain()):
            self._is_printing = True
            for message in batch:
                self._handle(message)
            self._notifier.observe(self.state, MessageBatch(batch))
            self._is_printing = False
            self._on_change()
            self._changed.set()
        self.close()

    def _handle(self, message: Outgoing) -> None:
        first = self.state.session is None
        was_replaying, was_scanning = self.state.is_replaying, self.state.snapshot_progress is not None
        if is_session_message(message):
            self.state = reduce(self.state, message, now=self._clock())
        match message:
            case SessionInfo() if first:
                self._print_greeting(message)
            case ReplayBegin():
                self.replay.clear()
            case ReplayEnd():
                self.replay.print_last_turn()
            case _ if was_replaying:
                if is_printed(message):
                    self.replay.add(message)
            case TurnBegin(user_input=user_input):
                self.printer.print_event(message)
                text = user_text(user_input)
                if self._sent_prompts and self._sent_prompts[0] == text:
                    self._sent_prompts.popleft()
                else:
                    self._output.write_line(tr("You: {text}", text=text))
                self._output.write_line(tr("Working. Press ctrl+c to interrupt."))
            case SnapshotProgress():
                if self._running_commands and self.state.snapshot_progress is not None and not was_scanning:
                    self._output.write_line(tr("Scanning files. Press ctrl+c to cancel."))
            case RequestClosed(request_id=request_id):
                if any(request.id == request_id for request in self.state.requests):
                    self._output.write_line(tr("The request no longer needs an answer."))
            case _:
                self._has_failed |= isinstance(message, Notification) and message.severity == "error"
                if is_printed(message):
                    self.printer.print_event(message)
                if isinstance(message, ApprovalRequest | QuestionRequest) and self._is_prompting():
                    self._output.write_line(tr("A request is awaiting your answer. Press enter to read it."))

    def _print_greeting(self, session: SessionInfo) -> None:
        folder, model = sanitize_line(session.work_dir), sanitize_line(session.model)
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

    async def wait_for_change(self) -> None:
        """Wait until events arrive or the session closes."""
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
        while self._is_printing or (self._subscription is not None and self._subscription.has_pending):
            await self.wait_for_change()

    # to the engine

    def send(self, text: str, user_input: UserInput) -> None:
        """Start a turn with `user_input`, which the user typed as `text`. Raises WireClosed."""
        self._sent_prompts.append(user_text(user_input))
        self.state = replace(
            self.state,
            sent_count=self.state.sent_count + 1,
            unacknowledged=(*self.state.unacknowledged, text),
        )
        self._wire.command(Prompt(user_input))

    async def command_and_wait(self, command: Command) -> bool:
        """Send `command`, wait for it and print its results. Return False if it reported an error.

        Raises WireClosed.
        """
        self._has_failed = False
        session = self.state.session
        if isinstance(command, RunSlash) and session is not None:
            info = session.find_command(command.line.split(" ")[0])
            if info is not None and info.takes_turn:
                self.state = replace(self.state, sent_count=self.state.sent_count + 1)
        self._running_commands += 1
        try:
            await self._wire.command_and_wait(command)
        finally:
            self._running_commands -= 1
        await self.wait_until_printed()
        return not self._has_failed

    def answer(self, answer: Answer, *, request_id: str) -> None:
        """Answer an open request."""
        if not self._wire.answer(answer):
            self._output.write_line(tr("The request no longer needs an answer."))
        self.state = without_request(self.state, request_id, now=self._clock())

    def interrupt(self) -> bool:
        """Stop running work. Return False if nothing is running."""
        if self.state.shell_ids:
            self._wire.command(StopShell())
        elif self.state.turn is not None or self._running_commands:
            self._has_failed = True
            self._wire.command(Interrupt())
        else:
            return False
        return True

    def shut_down(self) -> None:
        """Tell the engine to save and exit."""
        self._wire.command(Shutdown())

    def close(self) -> None:
        """Mark the session as over."""
        self.is_closed = True
        self._changed.set()

    def acknowledge_all(self) -> None:
        """Mark all prompts as recorded by the engine."""
        self.state = acknowledge_all(self.state)
