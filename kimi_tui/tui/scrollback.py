"""The terminal's own scrollback: what the conversation leaves there, also while the app is there.

Without the alternate screen the app covers the ordinary one. What stood there scrolls up before, and each
turn that has ended is put between that and the app: the terminal's own scrolling, search and selection have
all that was said, also when the app has gone.
"""

import asyncio
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any

from textual.app import App
from textual.message import Message

from kimi_tui.tui.lent_terminal import is_lent, lent_terminal
from kimi_tui.tui.terminal_link import send_between_frames

if TYPE_CHECKING:
    from kimi_tui.tui.transcript.transcript import Transcript

_ENTER = "\x1b[?1049h"
_LEAVE = "\x1b[?1049l"
_REST_S = 0.03


@dataclass
class TurnShown(Message):
    """A turn has ended, whose blocks stay as they are."""

    transcript: "Transcript"


class PrintWanted(Message):
    """The user wants the conversation in the scrollback."""


class OrdinaryScreenFile:
    """A terminal that stays on its ordinary screen, though whoever draws on it asks for the alternate one."""

    def __init__(self, file: IO[str]) -> None:
        self._file = file

    def write(self, text: str) -> int:
        """Write; what was on the screen scrolls up where the alternate screen would begin."""
        if "\x1b[?1049" in text:
            rows = os.get_terminal_size(self._file.fileno()).lines
            text = text.replace(_ENTER, "\n" * (rows - 1)).replace(_LEAVE, _cleared(rows))
        return self._file.write(text)

    def flush(self) -> None:
        """Flush."""
        self._file.flush()

    def fileno(self) -> int:
        """The descriptor of the file."""
        return self._file.fileno()

    def isatty(self) -> bool:
        """Whether it is a terminal."""
        return self._file.isatty()


class Scrollback:
    """Puts what was said into the scrollback."""

    def __init__(self, app: App[Any], *, is_inline: bool, forget: Callable[[], None]) -> None:
        """`forget` is called when the screen has to be drawn anew."""
        self._app = app
        self._is_inline = is_inline
        self._forget = forget

    async def add_turn(self, transcript: "Transcript") -> None:
        """Put what is new there, once it is all in the transcript."""
        if not self._is_inline:
            return
        while transcript.busy:  # noqa: ASYNC110 (it has a pace of its own, and tells nobody of its rests)
            await asyncio.sleep(_REST_S)
        if not self._app.is_headless and not is_lent(self._app) and transcript.is_attached:
            self._push(transcript.take_new())

    def add_all(self, transcript: "Transcript") -> None:
        """Put all of the conversation there. Raises KimiTuiError where that can't be done."""
        transcript.flush()
        lines = transcript.print_all()
        if self._is_inline:
            self._push(lines)
            return
        with lent_terminal(self._app):
            write_lines(lines)

    def _push(self, lines: Sequence[str]) -> None:
        if not lines:
            return
        rows = self._app.size.height
        text = "\r\n".join(lines)
        scrolled = "\n" * min(len(lines), rows)
        send_between_frames(self._app, f"{_cleared(rows)}{text}\x1b[0m\x1b[{rows};1H{scrolled}")
        self._forget()
        self._app.screen.refresh()


def write_lines(lines: Sequence[str]) -> None:
    """Write lines to the terminal as it is now, below what stands there."""
    if lines and sys.__stdout__ is not None:
        sys.__stdout__.write("\n".join(lines) + "\x1b[0m\n")
        sys.__stdout__.flush()


def _cleared(rows: int) -> str:
    # Row by row: what erases all of a screen makes tmux keep it, which would put the app into its history.
    erased = "".join(f"\x1b[{row};1H\x1b[2K" for row in range(1, rows + 1))
    return f"\x1b[0m{erased}\x1b[H"
