"""The talk with the engine: what the user says goes out, and what becomes of it comes back."""

from collections.abc import Callable
from typing import Protocol

from kimi_tui.base.terminal import plain_line
from kimi_tui.language.saying import say, say_many
from kimi_tui.tui import outbox
from kimi_tui.tui.images.album import Album
from kimi_tui.tui.prompt.drafts import Draft
from kimi_tui.tui.state import ScreenState, closed
from kimi_tui.wire.channel import Wire
from kimi_tui.wire.commands import Command, Prompt, Steer
from kimi_tui.wire.events import ApprovalResponse, TurnEnd
from kimi_tui.wire.requests import Answer, QuestionResponse


class Said(Protocol):
    """What the user wants to say: the text, and the draft to give back when it can't be said."""

    text: str
    draft: Draft


class Prompting(Protocol):
    """Where the user says it."""

    def fill(self, text: str) -> None:
        """Put `text` before what stands there."""
        ...

    def give_back(self, draft: Draft) -> None:
        """It could not be sent."""
        ...

    def remember(self, text: str, draft: Draft) -> None:
        """It was sent."""
        ...


class Owner(Protocol):
    """Whose state it is."""

    state: ScreenState


class Talk:
    """Sends, queues, steers, interrupts and answers; keeps the owner's state in step."""

    def __init__(
        self,
        *,
        owner: Owner,
        wire: Wire,
        prompt: Callable[[], Prompting],
        complain: Callable[[str], None],
        clock: Callable[[], float],
        album: Callable[[], Album],
    ) -> None:
        self._owner = owner
        self._wire = wire
        self._prompt = prompt
        self._complain = complain
        self._clock = clock
        self._album = album
        self._said = ""
        """What was given to the engine last, to begin a turn."""

    def submit(self, said: Said) -> bool:
        """Send it, or queue it while a turn runs; whether that was possible."""
        if not self._may_speak(said):
            return False
        self._owner.state, command = outbox.submit(self._owner.state, said.text)
        self._give(command)
        self._prompt().remember(said.text, said.draft)
        return True

    def steer(self, said: Said) -> None:
        """Say it to the running turn."""
        if self._may_speak(said):
            self._owner.state, command = outbox.steer(self._owner.state, said.text)
            self._give(command)
            self._prompt().remember(said.text, said.draft)

    def interrupt(self) -> None:
        """Stop the running turn."""
        self._owner.state, command = outbox.interrupt(self._owner.state)
        self._give(command)

    def answer(self, answer: Answer) -> None:
        """Answer an open request."""
        self._wire.answer(answer)
        if isinstance(answer, ApprovalResponse | QuestionResponse):
            self._owner.state = closed(self._owner.state, answer.request_id, now=self._clock())

    def take_back(self) -> None:
        """Edit the prompt that was queued last."""
        self._owner.state, text = outbox.take_back(self._owner.state)
        self._prompt().fill(text)

    def turn_ended(self, end: TurnEnd) -> None:
        """Go on with the queue, or give it back; and what could not be written down."""
        if end.failure is not None and end.failure.kind == "JournalWriteError" and end.steps == 0:
            self._prompt().fill(self._said)
        self._owner.state, command, returned = outbox.after_turn(self._owner.state)
        self._give(command)
        if returned:
            self._prompt().fill(returned)

    def break_off(self) -> None:
        """The engine has failed: what it never heard is given back."""
        self._owner.state, unheard = outbox.break_off(self._owner.state)
        if unheard:
            self._prompt().fill(unheard)

    def _give(self, command: Command | None) -> None:
        match command:
            case None:
                pass
            case Prompt(user_input=str(text)):
                self._said = text
                self._wire.command(Prompt(self._album().unfold(text)))
            case Steer(user_input=str(text)):
                self._wire.command(Steer(self._album().unfold(text)))
            case _:
                self._wire.command(command)

    def _may_speak(self, said: Said) -> bool:
        if self._owner.state.failed or self._wire.closed:
            return self._refuse(said, say("The session is over; nothing can be sent any more."))
        session = self._owner.state.session
        pictures = len(self._album().named_in(said.text))
        if pictures and session is not None and "image_in" not in session.capabilities:
            model = plain_line(session.model) or say("The model")
            what = say_many("the picture", "the {count} pictures", pictures)
            return self._refuse(
                said,
                say(
                    "{model} takes no pictures. Remove {what}, or choose a model that does.",
                    model=model,
                    what=what,
                ),
            )
        return True

    def _refuse(self, said: Said, why: str) -> bool:
        self._prompt().give_back(said.draft)
        self._complain(why)
        return False
