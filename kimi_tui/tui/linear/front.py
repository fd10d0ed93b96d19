"""The linear front: one line after another on the ordinary screen, the agent and the user by turns.

Nothing is drawn, moved or coloured, and nothing that was said changes: a screen reader, a braille line or a
dumb terminal gets every word once, in order. What the user types is edited by readline, which they all know.
"""

import asyncio
import base64
import contextlib
import os
import time
from collections import deque
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from kimi_tui.base.errors import KimiTuiError, SessionInUse
from kimi_tui.base.identity import new_id
from kimi_tui.base.terminal import plain, plain_line
from kimi_tui.config.appearance import Notify
from kimi_tui.language.saying import retell, say
from kimi_tui.tui.attention import Attention, way_for
from kimi_tui.tui.clipboard import SystemClipboard, copied
from kimi_tui.tui.external_editor import edited_within
from kimi_tui.tui.linear.asking import Asking, chosen
from kimi_tui.tui.linear.commands import completions, run_command
from kimi_tui.tui.linear.desk import SessionChange
from kimi_tui.tui.linear.line_input import LineInput
from kimi_tui.tui.linear.past import Past
from kimi_tui.tui.linear.pictures import Pictures
from kimi_tui.tui.linear.teller import Teller, Voice
from kimi_tui.tui.linear.words import said
from kimi_tui.tui.prompt.history import InputHistory
from kimi_tui.tui.prompt.shell_line import shell_line
from kimi_tui.tui.state import ScreenState, apply, closed
from kimi_tui.wire.channel import Outgoing, Subscription, Wire, WireClosed
from kimi_tui.wire.commands import Command, Interrupt, Prompt, RunShell, RunSlash, Shutdown, StopShell
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

_AGAIN_S = 3.0
_FAREWELL_S = 5.0
_ANSWER_S = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class LinearOptions:
    """What the front is opened with."""

    work_dir: Path
    share_dir: Path
    version: str
    config_file: Path | None = None
    initial_prompt: str = ""
    notify: Notify = "auto"
    clock: Callable[[], float] = time.monotonic


class LinearFront:
    """One session, from its opening to its end. It is the `Desk` of the commands."""

    def __init__(self, *, wire: Wire, options: LinearOptions, lines: LineInput | None = None) -> None:
        self.work_dir = options.work_dir
        self.config_file = options.config_file
        self._wire = wire
        self._options = options
        self._lines = lines or LineInput(lambda begun: completions(self, begun))
        self._voice = Voice(self._lines.write)
        self._teller = Teller(self._voice, clock=options.clock)
        self._attention = Attention(
            way=way_for(options.notify),
            send=self._lines.signal,
            clock=options.clock,
            in_tmux="TMUX" in os.environ,
            asks_for_focus=False,
        )
        self._asking = Asking(ask=self.ask, tell=self.tell, edit=self.edit)
        self._history = InputHistory(share_dir=options.share_dir, work_dir=options.work_dir)
        self._ahead: deque[str] = deque([options.initial_prompt] if options.initial_prompt else [])
        self._expected: deque[str] = deque()
        """Prompts that were typed, whose turns have not begun."""
        self._past = Past(self._voice)
        self._pictures = Pictures(options.work_dir)
        self._subscription: Subscription | None = None
        self._changed = asyncio.Event()
        self._is_telling = False
        self._has_failed = False
        """Whether an error was told since the last command, or the user gave it up."""
        self._carrying_out = 0
        """How many commands the engine is asked to carry out just now."""
        self._asked_to_leave_at = -1e9
        self._is_prompting = False
        self._is_over = False
        self._change: SessionChange | None = None
        self.state = ScreenState()

    async def run(self, start: Callable[[], Coroutine[Any, Any, None]]) -> SessionChange | None:
        """Hold the session; which one the user wants then, None to end. Raises KimiTuiError."""
        self._history.load()
        self._lines.open(self._history.entries)
        self._subscription = self._wire.subscribe()
        engine = asyncio.ensure_future(start())
        pump = asyncio.ensure_future(self._pump(self._subscription))
        talk = asyncio.ensure_future(self._talk())
        try:
            await asyncio.wait([engine, talk], return_when=asyncio.FIRST_COMPLETED)
            if engine.done() and (error := engine.exception()) is not None:
                if not isinstance(error, SessionInUse):
                    raise error
                talk.cancel()
                return await self._offer(error)
            self._wire.command(Shutdown())
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_FAREWELL_S):
                    await asyncio.wait([engine])
            return self._change
        finally:
            for task in (talk, engine, pump):
                task.cancel()
            await asyncio.gather(talk, engine, pump, return_exceptions=True)
            self._lines.close()

    # from the engine

    async def _pump(self, subscription: Subscription) -> None:
        while batch := await subscription.drain():
            self._is_telling = True
            for message in batch:
                self._take(message)
            self._attention.follow(self.state, batch)
            self._is_telling = False
            self._changed.set()
        self._is_over = True
        self._changed.set()

    def _take(self, message: Outgoing) -> None:
        first = self.state.session is None
        was_replaying, was_looking = self.state.replaying, self.state.scan is not None
        self.state = apply(self.state, message, now=self._options.clock())
        match message:
            case SessionInfo() if first:
                self._greet(message)
            case ReplayBegin():
                self._past.forget()
            case ReplayEnd():
                self._past.tell_end()
            case _ if was_replaying:
                self._past.add(message)
            case TurnBegin(user_input=user_input):
                self._teller.tell(message)
                words = said(user_input)
                if self._expected and self._expected[0] == words:
                    self._expected.popleft()
                else:
                    self.tell(say("You: {text}", text=words))
                self.tell(say("Working. ctrl+c interrupts."))
            case SnapshotProgress():
                if self._carrying_out and self.state.scan is not None and not was_looking:
                    self.tell(say("Looking at the files. ctrl+c gives it up."))
            case RequestClosed(request_id=request_id):
                if any(request.id == request_id for request in self.state.requests):
                    self.tell(say("What was asked needs no answer any more."))
            case _:
                self._has_failed |= isinstance(message, Notification) and message.severity == "error"
                self._teller.tell(message)
                if isinstance(message, ApprovalRequest | QuestionRequest) and self._is_prompting:
                    self.tell(say("Something waits for your answer. Press enter to hear it."))

    def _greet(self, session: SessionInfo) -> None:
        folder, model = plain_line(session.work_dir), plain_line(session.model)
        self.tell(
            say(
                "kimi-tui {version}, in {folder}, with {model}.",
                version=self._options.version,
                folder=folder,
                model=model,
            )
            if model
            else say(
                "kimi-tui {version}, in {folder}, without a model.",
                version=self._options.version,
                folder=folder,
            )
        )
        if session.read_only:
            self.tell(
                say("This session is read only: another process writes it.")
                if session.in_use
                else say("This session is read only.")
            )
        self.tell(say("Type what you want done. /help says what else; ctrl+d leaves."))

    def tell_past(self) -> None:
        """Say what was said before."""
        self._past.tell()

    # by turns

    async def _talk(self) -> None:
        while not self._is_over:
            if (
                self.state.session is None
                or (self.state.busy and not self.state.requests)
                or self.state.shells
            ):
                self._changed.clear()
                await self._changed.wait()
                continue
            self._ahead += self._lines.typed_ahead()
            if self.state.requests:
                await self._answer()
            else:
                text = self._ahead.popleft() if self._ahead else await self._next_prompt()
                if text is None:
                    return
                if self.state.busy or self.state.requests:  # something has begun while the user typed
                    self._ahead.append(text)
                else:
                    await self._handle(text)

    async def _next_prompt(self) -> str | None:
        session = self.state.session
        mode = say(" (plan mode)") if session is not None and session.plan_mode else ""
        self._is_prompting = True
        line = await self.ask(say("You{mode}: ", mode=mode))
        self._is_prompting = False
        lines = [] if line is None else [line]
        while lines and lines[-1].endswith("\\"):
            lines[-1] = lines[-1][:-1]
            if (more := await self.ask(say("more: "))) is None:
                break
            lines.append(more)
        return "\n".join(lines) if lines else None

    async def _handle(self, text: str) -> None:
        if not text.strip() or self._is_over:
            return
        self._remember(text)
        name, _, argument = text[1:].partition(" ")
        try:
            if (command := shell_line(text, "agent")) is not None:
                await self.carry_out(RunShell(new_id(), command.command, on_terminal=command.on_terminal))
            elif text.startswith("/") and "\n" not in text and name and "/" not in name:
                await run_command(self, name, argument.strip())
            else:
                await self._send(text)
        except KimiTuiError as error:
            self.tell(say("Error: {what}", what=plain_line(f"{retell(error.what)} {retell(error.hint)}")))
        except WireClosed:
            self._is_over = True

    async def _send(self, text: str) -> None:
        if self.state.read_only:
            self.tell(say("This session is read only. /write goes on with it."))
            return
        prompt = Prompt(self._pictures.with_text(text, self.state.session))
        self._expected.append(said(prompt.user_input))
        self.state = replace(self.state, sent=self.state.sent + 1)
        self._wire.command(prompt)

    def _remember(self, text: str) -> None:
        self._lines.remember(text)
        with contextlib.suppress(OSError):
            self._history.append(text)

    async def _answer(self) -> None:
        request, *others = self.state.requests
        answer: Answer | None = await self._asking.answer(request, others=len(others))
        if answer is None:
            self.leave()
        elif self._wire.answer(answer):
            self.state = closed(self.state, request.id, now=self._options.clock())
        else:
            self.tell(say("It needed no answer any more."))
            self.state = closed(self.state, request.id, now=self._options.clock())

    async def _offer(self, error: SessionInUse) -> SessionChange | None:
        options = [
            ("read", say("read it, and follow what is added")),
            ("copy", say("go on in a copy of it")),
            ("new", say("begin a new session")),
        ]
        match await chosen(retell(error.what), options, ask=self.ask, tell=self.tell):
            case "read":
                return SessionChange(error.session_id, read_only=True)
            case "copy":
                return SessionChange(error.session_id, fork=True)
            case "new":
                return SessionChange()
            case _:
                return None

    # signals

    def interrupt(self) -> None:
        """ctrl+c: stop what runs; twice with nothing running, leave."""
        now = self._options.clock()
        if self.state.shells:
            self._wire.command(StopShell())
        elif self.state.turn is not None or self._carrying_out:
            self._has_failed = True
            self._wire.command(Interrupt())
        elif now - self._asked_to_leave_at < _AGAIN_S:
            self.leave()
        else:
            self._asked_to_leave_at = now
            self.tell(say("Press ctrl+c again to leave; ctrl+u clears the line."))

    # what the commands work with

    @property
    def results(self) -> Sequence[tuple[str, str]]:
        """What the latest tool calls gave back."""
        return self._teller.results

    @property
    def last_answer(self) -> str:
        """The latest answer."""
        return self._teller.answer

    def tell(self, text: str) -> None:
        """Say something."""
        self._voice.line(plain(text))

    async def ask(self, prompt: str) -> str | None:
        """A line of the user's."""
        await self._told()
        self._voice.end_line()
        line = await self._lines.ask(prompt)
        self._attention.typed()
        return line

    async def edit(self, text: str, name: str) -> str | None:
        """`text` as the user leaves it in their editor."""
        try:
            after = await edited_within(contextlib.nullcontext(), text, name=name)
        except KimiTuiError as error:
            self.tell(f"{retell(error.what)} {retell(error.hint)}")
            return None
        if after.rstrip("\n") == text.rstrip("\n"):
            self.tell(say("Nothing was changed."))
            return None
        return after

    async def carry_out(self, command: Command) -> bool:
        """Have the engine do something, and say what came of it. Raises WireClosed."""
        self._has_failed = False
        session = self.state.session
        if isinstance(command, RunSlash) and session is not None:
            name = command.line.split(" ")[0]
            if any(it.takes_turn and name in (it.name, *it.aliases) for it in session.slash_commands):
                self.state = replace(self.state, sent=self.state.sent + 1)
        self._carrying_out += 1
        try:
            await self._wire.carry_out(command)
        finally:
            self._carrying_out -= 1
        await self._told()
        return not self._has_failed

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait until the engine has told what is waited for, but not for ever."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_ANSWER_S):
                while not condition() and not self._is_over:
                    self._changed.clear()
                    await self._changed.wait()

    async def _told(self) -> None:
        while self._is_telling or (self._subscription is not None and self._subscription.has_pending):
            self._changed.clear()
            await self._changed.wait()

    def attach(self, path: str) -> None:
        """Send a picture along with the next prompt. Raises KimiTuiError."""
        token = self._pictures.attach(path)
        self.tell(say("Attached to the next prompt: {token}", token=token))

    def write_next(self, text: str) -> None:
        """Send `text` as the next prompt."""
        self.tell(text)
        self._ahead.appendleft(text)

    async def copy(self, text: str) -> None:
        """Put `text` on the clipboard and say so."""

        def through_terminal(copied_text: str) -> None:
            self._lines.write(f"\x1b]52;c;{base64.b64encode(copied_text.encode()).decode()}\a")

        self.tell(await copied(text, clipboard=SystemClipboard(), through_terminal=through_terminal))

    def leave(self, change: SessionChange | None = None) -> None:
        """End, or open another session."""
        self._change = change
        self._is_over = True
        self._changed.set()
        self._wire.command(Shutdown())
