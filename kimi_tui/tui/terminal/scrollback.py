"""Writes the conversation to the terminal's own scrollback while the app runs.

Without the alternate screen, the app covers the normal screen. At startup, the screen's content is scrolled
up. Each completed turn is inserted between that content and the app. The terminal's own scrolling, search
and selection then include the whole conversation, even after the app has ended.
"""

import asyncio
import logging
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import IO, Any, Protocol

from textual.app import App
from textual.message import Message

from kimi_tui.tui.terminal.frame_writer import FrameWriter
from kimi_tui.tui.terminal.output import SequenceSender
from kimi_tui.tui.terminal.suspend import is_suspended, suspend_app

logger = logging.getLogger(__name__)

_ENTER_ALT_SCREEN = "\x1b[?1049h"
_LEAVE_ALT_SCREEN = "\x1b[?1049l"
_POLL_S = 0.03


class PrintableTranscript(Protocol):
    """The conversation, as lines for a terminal."""

    @property
    def is_attached(self) -> bool:
        """Whether the transcript is mounted in the app."""
        ...

    @property
    def is_busy(self) -> bool:
        """Whether messages are queued or not drawn yet."""
        ...

    def flush(self) -> None:
        """Handle all queued messages."""

    def take_new_lines(self) -> list[str]:
        """Return the lines that haven't been printed yet."""
        ...

    def render_all(self) -> list[str]:
        """Return all lines."""
        ...


@dataclass
class TurnCompleted(Message):
    """Posted when a turn has ended and its blocks no longer change."""

    transcript: PrintableTranscript


class PrintRequested(Message):
    """Posted when the user prints the conversation to the scrollback."""


class NormalScreenFile:
    """Terminal file that ignores requests for the alternate screen and stays on the normal screen."""

    def __init__(self, file: IO[str]) -> None:
        self._file = file

    def write(self, text: str) -> int:
        """Write `text`. Instead of entering the alternate screen, scroll the screen's content up."""
        if "\x1b[?1049" in text:
            rows = os.get_terminal_size(self._file.fileno()).lines
            text = text.replace(_ENTER_ALT_SCREEN, "\n" * (rows - 1)).replace(
                _LEAVE_ALT_SCREEN, _clear_sequence(rows)
            )
        return self._file.write(text)

    def flush(self) -> None:
        """Flush the file."""
        self._file.flush()

    def fileno(self) -> int:
        """Return the file's descriptor."""
        return self._file.fileno()

    def isatty(self) -> bool:
        """Return whether the file is a terminal."""
        return self._file.isatty()


class Scrollback:
    """Inserts the conversation into the scrollback."""

    def __init__(self, app: App[Any], *, is_inline: bool, frame_writer: FrameWriter) -> None:
        self._app = app
        self._is_inline = is_inline
        self._frame_writer = frame_writer
        self._sequence_sender = SequenceSender(app)

    async def add_turn(self, transcript: PrintableTranscript) -> None:
        """Insert new lines once the transcript is complete."""
        if not self._is_inline:
            return
        while transcript.is_busy:  # noqa: ASYNC110 (the transcript has no event for this)
            await asyncio.sleep(_POLL_S)
        if not self._app.is_headless and not is_suspended(self._app) and transcript.is_attached:
            self._push(transcript.take_new_lines())

    def add_all(self, transcript: PrintableTranscript) -> None:
        """Print the whole conversation. Raises KimiTuiError if the app can't be suspended."""
        transcript.flush()
        lines = transcript.render_all()
        if self._is_inline:
            self._push(lines)
            return
        with suspend_app(self._app):
            write_lines(lines)

    def _push(self, lines: Sequence[str]) -> None:
        if not lines:
            return
        rows = self._app.size.height
        text = "\r\n".join(lines)
        scrolled = "\n" * min(len(lines), rows)
        self._sequence_sender.send(f"{_clear_sequence(rows)}{text}\x1b[0m\x1b[{rows};1H{scrolled}")
        self._frame_writer.invalidate()
        self._app.screen.refresh()


def write_lines(lines: Sequence[str]) -> None:
    """Write lines to the terminal, below its current content, unless the terminal is gone."""
    if lines and sys.__stdout__ is not None:
        try:
            sys.__stdout__.write("\n".join(lines) + "\x1b[0m\n")
            sys.__stdout__.flush()
        except OSError as error:
            logger.warning("can't print to the terminal: %s", error)


def _clear_sequence(rows: int) -> str:
    # Row by row: tmux saves a screen that is erased as a whole, so the app would end up in its history.
    erase_rows = "".join(f"\x1b[{row};1H\x1b[2K" for row in range(1, rows + 1))
    return f"\x1b[0m{erase_rows}\x1b[H"
