"""Writes the app's frames to the terminal."""

import time
from collections.abc import Iterable
from functools import cached_property
from typing import Any

from rich.console import RenderableType
from textual._compositor import ChopsUpdate, LayoutUpdate
from textual.app import App

from kimi_tui.tui.terminal.output import BackpressureGate
from kimi_tui.tui.terminal.screen_buffer import PlacedStrip, ScreenBuffer, color_system_of, extract_strips
from kimi_tui.tui.terminal.sequence_writer import SequenceWriter, can_erase_with_background

_MIN_SYNC_CHARS = 256
"""Minimum length of a frame, in characters, that is sent as a synchronized update. Shorter frames arrive in
one piece anyway.
"""
_MAX_WRITE_CHARS = 8192
"""Maximum length of a write. Longer writes fail on Windows
(https://github.com/python/cpython/issues/82052).
"""


class FrameWriter:
    """Sends only changed cells. Drops frames while the terminal is behind."""

    def __init__(self, app: App[Any], *, is_inline: bool = False) -> None:
        """`is_inline` means that frames are drawn on the normal screen, which has a scrollback."""
        self._app = app
        self._is_inline = is_inline
        self._gate = BackpressureGate(app)

    @cached_property
    def _screen_buffer(self) -> ScreenBuffer:
        # Created for the first frame: reading the terminal's terminfo entry takes time.
        writer = SequenceWriter(can_erase=can_erase_with_background())
        return ScreenBuffer(writer, use_scrolling=not self._is_inline)

    def invalidate(self) -> None:
        """Forget the terminal's content. Call this after other output to the terminal."""
        self._screen_buffer.invalidate()

    def show(self, update: RenderableType | None) -> bool:
        """Show an update of Textual's compositor. Return False if Textual has to show it."""
        if self._gate.is_closed:
            return True  # the whole screen is drawn later
        if not isinstance(update, LayoutUpdate | ChopsUpdate) or not self._can_write:
            return False
        if not self._app._batch_count:
            self._send(extract_strips(update))
        self._app.post_display_hook()
        return True

    def paint(self, placed_strips: Iterable[PlacedStrip]) -> bool:
        """Show strips on the terminal. Return False if that isn't possible now."""
        if not self._can_write or self._app._batch_count:
            return False
        if not self._gate.is_closed:
            self._send(placed_strips)
        return True

    @property
    def _can_write(self) -> bool:
        app = self._app
        driver = app._driver
        return driver is not None and not driver.is_headless and not driver.is_inline and app._running

    def _send(self, placed_strips: Iterable[PlacedStrip]) -> None:
        app, driver = self._app, self._app._driver
        if driver is None or app._closed:
            return
        cursor = app.screen.outer_size.clamp_offset(app.cursor_position)
        output = self._screen_buffer.update(
            placed_strips, app.size, color_system_of(app.console), cursor=cursor
        )
        if not output:
            return
        is_long = len(output) >= _MIN_SYNC_CHARS
        if is_long:
            app._begin_update()
        for start in range(0, len(output), _MAX_WRITE_CHARS):
            driver.write(output[start : start + _MAX_WRITE_CHARS])
        if is_long:
            app._end_update()
        driver.flush()
        # Otherwise, the writing thread waits for the interpreter lock for up to 5 ms.
        time.sleep(0)
