"""Session controller: applies messages and user input to the state of a session. Draws nothing."""

import asyncio
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Literal, Protocol

from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.terminal_text import sanitize_line
from kimi_tui.frontend.drafts import Draft
from kimi_tui.frontend.image_attachments import ImageAttachments
from kimi_tui.frontend.message_batch import MessageBatch
from kimi_tui.frontend.parsed_command import ParsedCommand, parse_command
from kimi_tui.frontend.replay_state import apply_batch
from kimi_tui.frontend.session_state import SessionViewState, without_request
from kimi_tui.frontend.shell_line import ShellLine
from kimi_tui.frontend.terminal_notifier import TerminalNotifier
from kimi_tui.i18n.translate import tr, tr_n, translate_error
from kimi_tui.wire.channel import Outgoing, Wire
from kimi_tui.wire.commands import (
    Command,
    Interrupt,
    Prompt,
    RunSlash,
    SetAcceptEdits,
    SetPlanMode,
    Shutdown,
    Steer,
    StopShell,
)
from kimi_tui.wire.events import ApprovalResponse, TurnEnd
from kimi_tui.wire.requests import Answer, QuestionResponse

CommandResult = Literal["done", "send", "edit"]
"""Whether a command was run, is sent to the agent as a prompt, or stays in the prompt for editing."""


class Submission(Protocol):
    """Submitted text: a prompt, a slash command or a command for the user's shell."""

    @property
    def text(self) -> str:
        """The text that the user typed."""
        ...

    @property
    def draft(self) -> Draft:
        """The prompt's content, to restore if it can't be sent."""
        ...

    @property
    def shell_line(self) -> ShellLine | None:
        """The command for the user's shell. None for a prompt or a slash command."""
        ...


class StateOwner(Protocol):
    """Holder of the session state."""

    @property
    def state(self) -> SessionViewState:
        """Current state of the session."""
        ...


class EngineSession(StateOwner, Protocol):
    """The session's state, and the engine that runs it."""

    def command(self, command: Command) -> None:
        """Send a command to the engine."""
        ...


class PromptImageSource(Protocol):
    """Where the images of prompts come from."""

    @property
    def images(self) -> ImageAttachments:
        """The images that prompts can refer to."""
        ...

    async def add_image_tokens(self, text: str) -> str:
        """Return `text` with tokens for the images that it mentions. Raises KimiTuiError."""
        ...


class PromptInput(Protocol):
    """Where the user writes prompts."""

    def fill(self, text: str) -> None:
        """Insert `text` before the current content."""
        ...

    def give_back(self, draft: Draft) -> None:
        """Restore a draft that could not be sent."""
        ...

    def remember(self, text: str, draft: Draft) -> None:
        """Add `text` to the history after `draft` was sent."""
        ...


class SessionFrontEnd(Protocol):
    """Interface of the front end that a session controller uses."""

    def show_state(self, state: SessionViewState) -> None:
        """Show the new state."""
        ...

    def show_batch(self, batch: MessageBatch) -> None:
        """Show new messages. The state already contains them."""
        ...

    def show_error(self, message: str) -> None:
        """Show an error."""
        ...

    async def run_command(self, command: ParsedCommand) -> CommandResult:
        """Run a slash command."""
        ...

    async def run_in_shell(self, line: ShellLine) -> None:
        """Run a command in the user's shell."""
        ...

    async def offer_writing(self) -> None:
        """Tell the user how to continue this read-only session."""
        ...


_LATE_ANSWER_S = 5.0
"""Seconds after an answer in which a single letter isn't sent as a prompt while the agent works."""


class SessionController:
    """Applies the engine's messages to the state, and sends the user's prompts, commands and answers.

    `state` changes only here; the front end is notified of each change.
    """

    def __init__(
        self,
        *,
        wire: Wire,
        front_end: SessionFrontEnd,
        prompt: PromptInput,
        attachments: PromptImageSource,
        notifier: TerminalNotifier,
        clock: Callable[[], float],
    ) -> None:
        self._wire = wire
        self._front_end = front_end
        self._prompt = prompt
        self._attachments = attachments
        self._notifier = notifier
        self._clock = clock
        self._sending = asyncio.Lock()
        self._last_answer_at = -math.inf
        """Time of the user's last answer to a request, in seconds of the monotonic clock."""
        self._running_commands = 0
        """Number of commands that `command_and_wait` is waiting for."""
        self.last_prompt = ""
        """The last prompt that was sent to start a turn."""
        self.state = SessionViewState()

    # from the engine

    def show_batch(self, batch: Sequence[Outgoing]) -> None:
        """Apply messages to the state and show them. After a turn, send the next queued prompt."""
        messages = MessageBatch(batch)
        old, self.state = self.state, apply_batch(self.state, messages.session, now=self._clock())
        try:
            self._front_end.show_batch(messages)  # first, so that it's drawn before the rest of the screen
        finally:
            if self.state is not old:
                self._front_end.show_state(self.state)
        turn_ends = messages.of_type(TurnEnd)
        if turn_ends and not self.state.is_replaying:
            self._handle_turn_end(turn_ends[-1])
        self._notifier.observe(self.state, messages)

    def _handle_turn_end(self, end: TurnEnd) -> None:
        """Send the next queued prompt; after a failure or an interrupt, move the queue to the input.

        A prompt that could not be recorded is restored in the input.
        """
        if end.failure is not None and end.failure.kind == "JournalWriteError" and end.steps == 0:
            self._prompt.fill(self.last_prompt)
        queue = self.state.queue
        if not queue or self.state.is_busy:
            return
        if self.state.last_outcome == "finished":
            self._set_state(replace(self.state, queue=queue[1:]))
            self._start_turn(queue[0])
        else:  # the queued prompts may no longer apply
            self._set_state(replace(self.state, queue=()))
            self._prompt.fill("\n\n".join(queue))

    # prompts

    async def submit(self, submission: Submission) -> bool:
        """Run a command, or send or queue a prompt. Return whether the agent gets a prompt.

        Text that can't be sent is restored in the input. Prompts are sent in the order of submission.
        """
        if (line := submission.shell_line) is not None:
            self._prompt.remember(line.history_entry, submission.draft)
            await self._front_end.run_in_shell(line)
        elif (command := parse_command(submission.text)) is not None:
            match await self._front_end.run_command(command):
                case "done":
                    self._prompt.remember(command.history_entry(submission.text), submission.draft)
                case "edit":
                    self._prompt.give_back(submission.draft)
                case "send":
                    return await self._submit_prompt(submission)
        elif self.state.read_only:
            self._prompt.give_back(submission.draft)
            await self._front_end.offer_writing()
        else:
            return await self._submit_prompt(submission)
        return False

    async def _submit_prompt(self, submission: Submission) -> bool:
        async with self._sending:
            try:
                text = await self._attachments.add_image_tokens(submission.text)
            except KimiTuiError as error:
                return self._reject(submission.draft, translate_error(error))
            if not self._can_send(text, submission.draft):
                return False
            if self.state.is_busy:
                self._set_state(replace(self.state, queue=(*self.state.queue, text)))
            else:
                self._start_turn(text)
            self._prompt.remember(text, submission.draft)
            return True

    def steer(self, text: str, draft: Draft) -> None:
        """Send a message to the running turn. If no turn is running, start one."""
        if not self._can_send(text, draft):
            return
        state = self.state
        if state.is_closing:
            self._set_state(replace(state, queue=(*state.queue, text)))
        elif state.turn is not None:
            self._set_state(replace(state, unacknowledged_steers=(*state.unacknowledged_steers, text)))
            self._wire.command(Steer(self._attachments.images.expand(text)))
        else:
            self._start_turn(text)
        self._prompt.remember(text, draft)

    def edit_last_queued(self) -> None:
        """Move the prompt that was queued last to the input for editing."""
        if queue := self.state.queue:
            self._set_state(replace(self.state, queue=queue[:-1]))
            self._prompt.fill(queue[-1])

    def _start_turn(self, text: str) -> None:
        state = self.state
        self._set_state(
            replace(state, sent_count=state.sent_count + 1, unacknowledged=(*state.unacknowledged, text))
        )
        self.last_prompt = text
        self._wire.command(Prompt(self._attachments.images.expand(text)))

    def _can_send(self, text: str, draft: Draft) -> bool:
        if self._is_late_answer(text):
            self._front_end.show_error(
                tr("“{text}” was not sent to the agent. Answer the open request.", text=text)
                if self.state.requests
                else tr("“{text}” was not sent to the agent. No request is open now.", text=text)
            )
            return False
        if self.state.has_failed or self._wire.is_closed:
            return self._reject(draft, tr("The session has ended. Messages can't be sent."))
        session = self.state.session
        image_count = len(self._attachments.images.find_named(text))
        if image_count and session is not None and "image_in" not in session.capabilities:
            model = sanitize_line(session.model_label) or tr("The model")
            what = tr_n("the image", "the {count} images", image_count)
            return self._reject(
                draft,
                tr(
                    "{model} doesn't support images. Remove {what} or use a model that supports images.",
                    model=model,
                    what=what,
                ),
            )
        return True

    def _is_late_answer(self, text: str) -> bool:
        """Return whether `text` is probably the key of an answer, pressed while the prompt had the focus."""
        is_letter = len(text) == 1 and text.isalpha() and text.isascii()
        answered_recently = self._clock() - self._last_answer_at < _LATE_ANSWER_S
        return is_letter and self.state.is_busy and (bool(self.state.requests) or answered_recently)

    def _reject(self, draft: Draft, reason: str) -> bool:
        self._prompt.give_back(draft)
        self._front_end.show_error(reason)
        return False

    # other commands

    def command(self, command: Command) -> None:
        """Send a command to the engine.

        A new permission mode is shown immediately, so that the next key press starts from it.
        """
        session = self.state.session
        if session is not None:
            match command:
                case SetAcceptEdits(enabled=enabled):
                    session = replace(session, accept_edits=enabled)
                case SetPlanMode(enabled=enabled):
                    session = replace(session, plan_mode=enabled)
                case _:
                    pass
            if session is not self.state.session:
                self._set_state(replace(self.state, session=session))
        self._wire.command(command)

    async def command_and_wait(self, command: Command) -> None:
        """Send a command and wait until the engine is done with it. Raises WireClosed."""
        session = self.state.session
        if isinstance(command, RunSlash) and session is not None:
            info = session.find_command(command.line.split(" ")[0])
            if info is not None and info.takes_turn:
                self._set_state(replace(self.state, sent_count=self.state.sent_count + 1))
        self._running_commands += 1
        try:
            await self._wire.command_and_wait(command)
        finally:
            self._running_commands -= 1

    @property
    def is_running_command(self) -> bool:
        """Whether `command_and_wait` is waiting for a command."""
        return self._running_commands > 0

    def answer(self, answer: Answer) -> bool:
        """Answer an open request. Return whether it was still open."""
        is_accepted = self._wire.answer(answer)
        self._last_answer_at = self._clock()
        if isinstance(answer, ApprovalResponse | QuestionResponse):
            self._set_state(without_request(self.state, answer, now=self._clock()))
        return is_accepted

    def interrupt(self, *, shell_first: bool = False) -> bool:
        """Stop the running turn, else the user's shell commands, else a command that is still scanning files.

        With `shell_first`, stop shell commands before the turn. Return whether anything was running.
        """
        state = self.state
        if state.shell_ids and (shell_first or state.turn is None):
            self._wire.command(StopShell())
        elif state.turn is not None:
            self._set_state(replace(state, turn=replace(state.turn, is_interrupted=True)))
            self._wire.command(Interrupt())
        elif state.snapshot_progress is not None or self.is_running_command:
            self._wire.command(Interrupt())
        else:
            return False
        return True

    # the end of the session

    def shut_down(self) -> None:
        """Tell the engine to save and stop. Prompts submitted later are kept in the queue."""
        self._set_state(replace(self.state, is_closing=True))
        self._wire.command(Shutdown())

    def acknowledge_all(self) -> None:
        """Mark all sent prompts as recorded, because the engine has shut down cleanly."""
        self._set_state(replace(self.state, unacknowledged=(), unacknowledged_steers=()))

    def abandon(self) -> None:
        """Mark the session as failed, and restore the prompts that the engine never recorded."""
        unsaved = self.state.unsaved_prompts
        self._set_state(
            replace(
                self.state,
                turn=None,
                sent_count=0,
                queue=(),
                unacknowledged=(),
                unacknowledged_steers=(),
                has_failed=True,
            )
        )
        if unsaved:
            self._prompt.fill("\n\n".join(unsaved))

    def _set_state(self, state: SessionViewState) -> None:
        if state is not self.state:
            self.state = state
            self._front_end.show_state(state)
