"""The linear front: one line after another on the ordinary screen, the agent and the user by turns.

Nothing is drawn, moved or coloured, and nothing that was said changes: a screen reader, a braille line or a
dumb terminal gets every word once, in order. What the user types is edited by readline, which they all know.
"""

import asyncio
import contextlib
import os
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kimi_tui.base.errors import KimiTuiError, SessionInUse
from kimi_tui.base.identity import new_id
from kimi_tui.base.terminal import plain_line
from kimi_tui.config.appearance import Notify
from kimi_tui.language.saying import retell, say
from kimi_tui.tui.attention import Attention, way_for
from kimi_tui.tui.linear.asking import Asking, chosen
from kimi_tui.tui.linear.commands import completions, run_command
from kimi_tui.tui.linear.desk import SessionChange
from kimi_tui.tui.linear.exchange import Exchange
from kimi_tui.tui.linear.front_desk import FrontDesk
from kimi_tui.tui.linear.line_input import LineInput
from kimi_tui.tui.linear.pictures import Pictures
from kimi_tui.tui.linear.unsent import Unsent
from kimi_tui.tui.linear.voice import Voice
from kimi_tui.tui.prompt.history import InputHistory
from kimi_tui.tui.prompt.shell_line import shell_line
from kimi_tui.tui.state import ScreenState
from kimi_tui.tui.twice import Twice
from kimi_tui.wire.channel import Wire, WireClosed
from kimi_tui.wire.commands import RunShell

_AGAIN_S = 3.0
_FAREWELL_S = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class LinearOptions:
    """What the front is opened with."""

    work_dir: Path
    share_dir: Path
    version: str
    config_file: Path | None = None
    prompts: tuple[str, ...] = ()
    """What is sent first, one after another."""
    notify: Notify = "auto"
    clock: Callable[[], float] = time.monotonic


class LinearFront:
    """One session, from its opening to its end."""

    def __init__(self, *, wire: Wire, options: LinearOptions, lines: LineInput | None = None) -> None:
        self._lines = lines or LineInput(lambda begun: completions(self._desk, begun))
        self._voice = Voice(self._lines.write)
        self._attention = Attention(
            way=way_for(options.notify),
            send=self._lines.signal,
            clock=options.clock,
            in_tmux="TMUX" in os.environ,
            asks_for_focus=False,
        )
        self._pictures = Pictures(options.work_dir)
        self._unsent = Unsent(
            share_dir=options.share_dir,
            work_dir=options.work_dir,
            typed=lambda: self._lines.typed,
            state=lambda: self.state,
            pictures=self._pictures,
        )
        self._unsent.ahead.extend(options.prompts)
        self._exchange = Exchange(
            wire=wire,
            voice=self._voice,
            attention=self._attention,
            clock=options.clock,
            version=options.version,
            is_prompting=lambda: self._unsent.begun is not None,
            heard=self._unsent.keep,
        )
        self._desk = FrontDesk(
            work_dir=options.work_dir,
            config_file=options.config_file,
            lines=self._lines,
            voice=self._voice,
            exchange=self._exchange,
            unsent=self._unsent,
            pictures=self._pictures,
            attention=self._attention,
        )
        self._asking = Asking(ask=self._desk.ask, tell=self._desk.tell, edit=self._desk.edit)
        self._history = InputHistory(share_dir=options.share_dir, work_dir=options.work_dir)
        self._leaving = Twice(within_s=_AGAIN_S, clock=options.clock)

    async def run(self, start: Callable[[], Coroutine[Any, Any, None]]) -> SessionChange | None:
        """Hold the session; which one the user wants then, None to end. Raises KimiTuiError."""
        self._history.load()
        self._lines.open(self._history.entries, self._unsent.keep)
        if self._lines.is_editable:
            self._unsent.restore()
        self._exchange.subscribe()
        engine = asyncio.ensure_future(start())
        listening = asyncio.ensure_future(self._exchange.listen())
        talk = asyncio.ensure_future(self._talk())
        try:
            await asyncio.wait([engine, talk], return_when=asyncio.FIRST_COMPLETED)
            if engine.done() and (error := engine.exception()) is not None:
                if not isinstance(error, SessionInUse):
                    raise error
                talk.cancel()
                return await self._offer(error)
            self._exchange.shut_down()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_FAREWELL_S):
                    await asyncio.wait([engine])
                if engine.exception() is None:
                    self._exchange.engine_ended()
            return self._desk.change
        finally:
            self._unsent.keep_now()
            for task in (talk, engine, listening):
                task.cancel()
            await asyncio.gather(talk, engine, listening, return_exceptions=True)
            self._lines.close()

    @property
    def state(self) -> ScreenState:
        """How the session stands."""
        return self._exchange.state

    @property
    def typed_ahead(self) -> tuple[str, ...]:
        """What was typed for what comes after this session."""
        return tuple(self._unsent.ahead)

    # by turns

    async def _talk(self) -> None:
        ahead = self._unsent.ahead
        while not self._exchange.is_over:
            if (
                self.state.session is None
                or (self.state.busy and not self.state.requests)
                or self.state.shells
            ):
                await self._exchange.change()
                continue
            ahead += self._lines.typed_ahead()
            if self.state.requests:
                await self._answer()
            else:
                text = ahead.popleft() if ahead else await self._next_prompt()
                if text is None:
                    return
                if self.state.busy or self.state.requests:  # something has begun while the user typed
                    ahead.append(text)
                else:
                    await self._handle(text)

    async def _next_prompt(self) -> str | None:
        session = self.state.session
        mode = say(" (plan mode)") if session is not None and session.plan_mode else ""
        if restored := self._unsent.restored:
            self._desk.tell(say("Your unsent draft of last time is back: enter sends it, ctrl+u clears it."))
            if "\n" in restored:
                self._desk.tell(restored)
        self._unsent.begun = []
        line = await self._desk.ask(say("You{mode}: ", mode=mode), self._unsent.take_restored())
        while line is not None and line.endswith("\\"):
            self._unsent.begun.append(line[:-1])
            line = await self._desk.ask(say("more: "))
        begun, self._unsent.begun = self._unsent.begun, None
        if line is not None:
            begun.append(line)
        return "\n".join(begun) if begun else None

    async def _handle(self, text: str) -> None:
        if not text.strip() or self._exchange.is_over:
            return
        self._remember(text)
        name, _, argument = text[1:].partition(" ")
        try:
            if (command := shell_line(text, "agent")) is not None:
                self._unsent.keep()
                await self._desk.carry_out(
                    RunShell(new_id(), command.command, on_terminal=command.on_terminal)
                )
            elif text.startswith("/") and "\n" not in text and name and "/" not in name:
                self._unsent.keep()
                await run_command(self._desk, name, argument.strip())
            elif self.state.read_only:
                self._desk.tell(say("This session is read only. /write goes on with it."))
            else:
                self._exchange.send(text, self._pictures.with_text(text, self.state.session))
        except KimiTuiError as error:
            self._desk.tell(
                say("Error: {what}", what=plain_line(f"{retell(error.what)} {retell(error.hint)}"))
            )
        except WireClosed:
            self._exchange.end()
        self._unsent.keep()

    def _remember(self, text: str) -> None:
        self._lines.remember(text)
        with contextlib.suppress(OSError):
            self._history.append(text)

    async def _answer(self) -> None:
        request, *others = self.state.requests
        answer = await self._asking.answer(request, others=len(others))
        if answer is None:
            self.leave()
        else:
            self._exchange.answer(answer, request_id=request.id)

    async def _offer(self, error: SessionInUse) -> SessionChange | None:
        options = [
            ("read", say("read it, and follow what is added")),
            ("copy", say("go on in a copy of it")),
            ("new", say("begin a new session")),
        ]
        match await chosen(retell(error.what), options, ask=self._desk.ask, tell=self._desk.tell):
            case "read":
                return SessionChange(error.session_id, read_only=True)
            case "copy":
                return SessionChange(error.session_id, fork=True)
            case "new":
                return SessionChange()
            case _:
                return None

    # signals

    def leave(self) -> None:
        """Save and end."""
        self._desk.leave()

    def interrupt(self) -> None:
        """ctrl+c: stop what runs; twice with nothing running, leave."""
        if self._exchange.interrupt():
            return
        if self._leaving.again():
            self.leave()
        else:
            self._desk.tell(say("Press ctrl+c again to leave; ctrl+u clears the line."))
