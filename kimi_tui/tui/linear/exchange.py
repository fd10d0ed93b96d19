"""The exchange with the engine: what the user wants goes out, and what comes of it is said."""

import asyncio
import contextlib
from collections import deque
from collections.abc import Callable
from dataclasses import replace

from kimi_tui.base.content import UserInput
from kimi_tui.base.terminal import plain_line
from kimi_tui.language.saying import say
from kimi_tui.tui.attention import Attention
from kimi_tui.tui.linear.past import Past
from kimi_tui.tui.linear.teller import Teller
from kimi_tui.tui.linear.voice import Voice
from kimi_tui.tui.linear.words import said
from kimi_tui.tui.outbox import all_heard
from kimi_tui.tui.state import ScreenState, apply, closed
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

_ANSWER_S = 10.0


class Exchange:
    """Knows how the session stands, says what is new, and lets others wait for it.

    `is_prompting` tells whether the user is writing a prompt; `heard` is called when the state has changed.
    """

    def __init__(
        self,
        *,
        wire: Wire,
        voice: Voice,
        attention: Attention,
        clock: Callable[[], float],
        version: str,
        is_prompting: Callable[[], bool],
        heard: Callable[[], None],
    ) -> None:
        self._wire = wire
        self._voice = voice
        self._attention = attention
        self._clock = clock
        self._version = version
        self._is_prompting = is_prompting
        self._heard = heard
        self._subscription: Subscription | None = None
        self._expected: deque[str] = deque()
        """Prompts that were typed, whose turns have not begun."""
        self._changed = asyncio.Event()
        self._is_telling = False
        self._has_failed = False
        """Whether an error was told since the last command, or the user gave it up."""
        self._carrying_out = 0
        """How many commands the engine is asked to carry out just now."""
        self.teller = Teller(voice, clock=clock)
        self.past = Past(voice)
        self.state = ScreenState()
        self.is_over = False
        """Whether there is nothing more to say, on either side."""

    # from the engine

    def subscribe(self) -> None:
        """Miss nothing from now on."""
        self._subscription = self._wire.subscribe()

    async def listen(self) -> None:
        """Say what comes, until the engine has gone. `subscribe` first."""
        while self._subscription is not None and (batch := await self._subscription.drain()):
            self._is_telling = True
            for message in batch:
                self._take(message)
            self._attention.follow(self.state, batch)
            self._is_telling = False
            self._heard()
            self._changed.set()
        self.end()

    def _take(self, message: Outgoing) -> None:
        first = self.state.session is None
        was_replaying, was_looking = self.state.replaying, self.state.scan is not None
        self.state = apply(self.state, message, now=self._clock())
        match message:
            case SessionInfo() if first:
                self._greet(message)
            case ReplayBegin():
                self.past.forget()
            case ReplayEnd():
                self.past.tell_end()
            case _ if was_replaying:
                self.past.add(message)
            case TurnBegin(user_input=user_input):
                self.teller.tell(message)
                words = said(user_input)
                if self._expected and self._expected[0] == words:
                    self._expected.popleft()
                else:
                    self._voice.line(say("You: {text}", text=words))
                self._voice.line(say("Working. ctrl+c interrupts."))
            case SnapshotProgress():
                if self._carrying_out and self.state.scan is not None and not was_looking:
                    self._voice.line(say("Looking at the files. ctrl+c gives it up."))
            case RequestClosed(request_id=request_id):
                if any(request.id == request_id for request in self.state.requests):
                    self._voice.line(say("What was asked needs no answer any more."))
            case _:
                self._has_failed |= isinstance(message, Notification) and message.severity == "error"
                self.teller.tell(message)
                if isinstance(message, ApprovalRequest | QuestionRequest) and self._is_prompting():
                    self._voice.line(say("Something waits for your answer. Press enter to hear it."))

    def _greet(self, session: SessionInfo) -> None:
        folder, model = plain_line(session.work_dir), plain_line(session.model)
        self._voice.line(
            say(
                "kimi-tui {version}, in {folder}, with {model}.",
                version=self._version,
                folder=folder,
                model=model,
            )
            if model
            else say(
                "kimi-tui {version}, in {folder}, without a model.", version=self._version, folder=folder
            )
        )
        if session.read_only:
            self._voice.line(
                say("This session is read only: another process writes it.")
                if session.in_use
                else say("This session is read only.")
            )
        self._voice.line(say("Type what you want done. /help says what else; ctrl+d leaves."))

    # waiting for it

    async def change(self) -> None:
        """Wait until something was told, or the session is over."""
        self._changed.clear()
        await self._changed.wait()

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait until the engine has told what is waited for, but not for ever."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_ANSWER_S):
                while not condition() and not self.is_over:
                    await self.change()

    async def all_told(self) -> None:
        """Wait until all is said that has come so far."""
        while self._is_telling or (self._subscription is not None and self._subscription.has_pending):
            await self.change()

    # to the engine

    def send(self, text: str, user_input: UserInput) -> None:
        """Begin a turn with `user_input`, which the user wrote as `text`. Raises WireClosed."""
        self._expected.append(said(user_input))
        self.state = replace(self.state, sent=self.state.sent + 1, unheard=(*self.state.unheard, text))
        self._wire.command(Prompt(user_input))

    async def carry_out(self, command: Command) -> bool:
        """Have the engine do something, and say what came of it; False for an error. Raises WireClosed."""
        self._has_failed = False
        session = self.state.session
        if isinstance(command, RunSlash) and session is not None:
            theirs = session.command(command.line.split(" ")[0])
            if theirs is not None and theirs.takes_turn:
                self.state = replace(self.state, sent=self.state.sent + 1)
        self._carrying_out += 1
        try:
            await self._wire.carry_out(command)
        finally:
            self._carrying_out -= 1
        await self.all_told()
        return not self._has_failed

    def answer(self, answer: Answer, *, request_id: str) -> None:
        """Answer what is open."""
        if not self._wire.answer(answer):
            self._voice.line(say("It needed no answer any more."))
        self.state = closed(self.state, request_id, now=self._clock())

    def interrupt(self) -> bool:
        """Stop what runs; whether anything does."""
        if self.state.shells:
            self._wire.command(StopShell())
        elif self.state.turn is not None or self._carrying_out:
            self._has_failed = True
            self._wire.command(Interrupt())
        else:
            return False
        return True

    def shut_down(self) -> None:
        """Have the engine save and end."""
        self._wire.command(Shutdown())

    def end(self) -> None:
        """Nothing more is said."""
        self.is_over = True
        self._changed.set()

    def engine_ended(self) -> None:
        """The engine has written down all that it was given."""
        self.state = all_heard(self.state)
