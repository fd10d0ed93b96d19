"""Sends the user's prompts, answers and interrupts to the engine, and restores what couldn't be sent."""

from collections.abc import Callable
from typing import Protocol

from kimi_tui.base.terminal_text import sanitize_line
from kimi_tui.frontend import prompt_queue
from kimi_tui.frontend.drafts import Draft
from kimi_tui.frontend.image_attachments import ImageAttachments
from kimi_tui.frontend.session_state import SessionViewState, without_request
from kimi_tui.i18n.translate import tr, tr_n
from kimi_tui.wire.channel import Wire
from kimi_tui.wire.commands import Command, Prompt, Steer
from kimi_tui.wire.events import ApprovalResponse, TurnEnd
from kimi_tui.wire.requests import Answer, QuestionResponse


class Submission(Protocol):
    """The text to send, and the draft to restore if it can't be sent."""

    text: str
    draft: Draft


class PromptInput(Protocol):
    """The prompt editor."""

    def fill(self, text: str) -> None:
        """Insert `text` before the current content."""
        ...

    def give_back(self, draft: Draft) -> None:
        """Restore a draft that could not be sent."""
        ...

    def remember(self, text: str, draft: Draft) -> None:
        """Add a sent prompt to the history."""
        ...


class StateOwner(Protocol):
    """Holder of the session state."""

    state: SessionViewState


class SessionController:
    """Sends, queues, steers, interrupts and answers, and updates the owner's state."""

    def __init__(
        self,
        *,
        owner: StateOwner,
        wire: Wire,
        prompt: Callable[[], PromptInput],
        show_error: Callable[[str], None],
        clock: Callable[[], float],
        image_attachments: Callable[[], ImageAttachments],
    ) -> None:
        self._owner = owner
        self._wire = wire
        self._prompt = prompt
        self._show_error = show_error
        self._clock = clock
        self._image_attachments = image_attachments
        self._last_prompt = ""
        """The last prompt that was sent to start a turn."""

    def submit(self, submission: Submission) -> bool:
        """Send a submission, or queue it while a turn is running. Return whether that was possible."""
        if not self._can_submit(submission):
            return False
        self._owner.state, command = prompt_queue.submit(self._owner.state, submission.text)
        self._send_command(command)
        self._prompt().remember(submission.text, submission.draft)
        return True

    def steer(self, submission: Submission) -> None:
        """Send a submission to the running turn."""
        if self._can_submit(submission):
            self._owner.state, command = prompt_queue.steer(self._owner.state, submission.text)
            self._send_command(command)
            self._prompt().remember(submission.text, submission.draft)

    def interrupt(self) -> None:
        """Stop the running turn."""
        self._owner.state, command = prompt_queue.interrupt(self._owner.state)
        self._send_command(command)

    def answer(self, answer: Answer) -> None:
        """Answer an open request."""
        self._wire.answer(answer)
        if isinstance(answer, ApprovalResponse | QuestionResponse):
            self._owner.state = without_request(self._owner.state, answer.request_id, now=self._clock())

    def edit_last_queued(self) -> None:
        """Edit the prompt that was queued last."""
        self._owner.state, text = prompt_queue.pop_queued(self._owner.state)
        self._prompt().fill(text)

    def handle_turn_end(self, end: TurnEnd) -> None:
        """Send the next queued prompt or return the queue to the editor. Restore a prompt that was not
        recorded.
        """
        if end.failure is not None and end.failure.kind == "JournalWriteError" and end.steps == 0:
            self._prompt().fill(self._last_prompt)
        self._owner.state, command, returned = prompt_queue.advance_queue(self._owner.state)
        self._send_command(command)
        if returned:
            self._prompt().fill(returned)

    def abandon(self) -> None:
        """Restore the prompts that the failed engine never received."""
        self._owner.state, unsaved = prompt_queue.abandon(self._owner.state)
        if unsaved:
            self._prompt().fill(unsaved)

    def _send_command(self, command: Command | None) -> None:
        match command:
            case None:
                pass
            case Prompt(user_input=str(text)):
                self._last_prompt = text
                self._wire.command(Prompt(self._image_attachments().expand(text)))
            case Steer(user_input=str(text)):
                self._wire.command(Steer(self._image_attachments().expand(text)))
            case _:
                self._wire.command(command)

    def _can_submit(self, submission: Submission) -> bool:
        if self._owner.state.has_failed or self._wire.is_closed:
            return self._reject(submission, tr("The session has ended. Messages can't be sent."))
        session = self._owner.state.session
        image_count = len(self._image_attachments().find_named(submission.text))
        if image_count and session is not None and "image_in" not in session.capabilities:
            model = sanitize_line(session.model) or tr("The model")
            what = tr_n("the image", "the {count} images", image_count)
            return self._reject(
                submission,
                tr(
                    "{model} doesn't support images. Remove {what} or use a model that supports images.",
                    model=model,
                    what=what,
                ),
            )
        return True

    def _reject(self, submission: Submission, reason: str) -> bool:
        self._prompt().give_back(submission.draft)
        self._show_error(reason)
        return False
