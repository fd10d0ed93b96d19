"""The desk of a linear front: what its commands can do to the session, the prompt and the terminal."""

import base64
import contextlib
from collections.abc import Callable, Sequence
from pathlib import Path

from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.terminal import plain
from kimi_tui.language.saying import retell, say
from kimi_tui.tui.attention import Attention
from kimi_tui.tui.clipboard import SystemClipboard, copied
from kimi_tui.tui.external_editor import edited_within
from kimi_tui.tui.linear.desk import SessionChange
from kimi_tui.tui.linear.exchange import Exchange
from kimi_tui.tui.linear.line_input import LineInput
from kimi_tui.tui.linear.pictures import Pictures
from kimi_tui.tui.linear.unsent import Unsent
from kimi_tui.tui.linear.voice import Voice
from kimi_tui.tui.state import ScreenState
from kimi_tui.wire.commands import Command


class FrontDesk:
    """A `Desk` over one session."""

    def __init__(
        self,
        *,
        work_dir: Path,
        config_file: Path | None,
        lines: LineInput,
        voice: Voice,
        exchange: Exchange,
        unsent: Unsent,
        pictures: Pictures,
        attention: Attention,
    ) -> None:
        self.work_dir = work_dir
        self.config_file = config_file
        self._lines = lines
        self._voice = voice
        self._exchange = exchange
        self._unsent = unsent
        self._pictures = pictures
        self._attention = attention
        self.change: SessionChange | None = None
        """Which session the user wants after this one; None to end."""

    @property
    def state(self) -> ScreenState:
        """How the session stands."""
        return self._exchange.state

    @property
    def results(self) -> Sequence[tuple[str, str]]:
        """What the latest tool calls gave back."""
        return self._exchange.teller.results

    @property
    def last_answer(self) -> str:
        """The latest answer."""
        return self._exchange.teller.answer

    def tell(self, text: str) -> None:
        """Say something."""
        self._voice.line(plain(text))

    async def ask(self, prompt: str, begun: str = "") -> str | None:
        """A line of the user's, who goes on with what is `begun`."""
        await self._exchange.all_told()
        self._voice.end_line()
        line = await self._lines.ask(prompt, begun)
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
        return await self._exchange.carry_out(command)

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait until the engine has told what is waited for, but not for ever."""
        await self._exchange.until(condition)

    def tell_past(self) -> None:
        """Say what was said before."""
        self._exchange.past.tell()

    def attach(self, path: str) -> None:
        """Send a picture along with the next prompt. Raises KimiTuiError."""
        token = self._pictures.attach(path)
        self.tell(say("Attached to the next prompt: {token}", token=token))

    def write_next(self, text: str) -> None:
        """Send `text` as the next prompt."""
        self.tell(text)
        self._unsent.ahead.appendleft(text)

    async def copy(self, text: str) -> None:
        """Put `text` on the clipboard and say so."""

        def through_terminal(copied_text: str) -> None:
            self._lines.write(f"\x1b]52;c;{base64.b64encode(copied_text.encode()).decode()}\a")

        self.tell(await copied(text, clipboard=SystemClipboard(), through_terminal=through_terminal))

    def leave(self, change: SessionChange | None = None) -> None:
        """End, or open another session."""
        self.change = change
        self._exchange.end()
        self._exchange.shut_down()
