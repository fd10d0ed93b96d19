"""Frames: what the app draws, on its way to the terminal."""

from collections.abc import Iterable
from typing import Any

from rich.console import RenderableType
from textual._compositor import ChopsUpdate, LayoutUpdate
from textual.app import App

from kimi_tui.tui.brush import Placed
from kimi_tui.tui.terminal_link import FrameGate
from kimi_tui.tui.terminal_mirror import TerminalMirror, colours_of, placed_in
from kimi_tui.tui.terminal_pen import Pen, erases_in_colour

_LEAST_TOGETHER = 256
"""Characters from which on a terminal is asked to show them at once: fewer come in one piece anyway."""
_PIECE = 8192
"""Characters in one write: a longer one fails on Windows (https://github.com/python/cpython/issues/82052)."""


class Frames:
    """Sends only what the terminal does not show already, and nothing while it is behind."""

    def __init__(self, app: App[Any], *, is_inline: bool = False) -> None:
        """`is_inline` says that they are drawn on the ordinary screen, which has a scrollback."""
        self._app = app
        self._mirror = TerminalMirror(Pen(erases=erases_in_colour), moves_rows=not is_inline)
        self._gate = FrameGate(app)

    def forget(self) -> None:
        """Something else has written to the terminal."""
        self._mirror.forget()

    def show(self, drawn: RenderableType | None) -> bool:
        """Show what Textual has drawn; False for what is not for us to show."""
        if self._gate.is_shut:
            return True  # all of the screen follows
        if not isinstance(drawn, LayoutUpdate | ChopsUpdate) or not self._are_ours:
            return False
        if not self._app._batch_count:
            self._send(placed_in(drawn))
        self._app.post_display_hook()
        return True

    def paint(self, placed: Iterable[Placed]) -> bool:
        """Put strips on the terminal; False while that can't be done."""
        if not self._are_ours or self._app._batch_count:
            return False
        if not self._gate.is_shut:
            self._send(placed)
        return True

    @property
    def _are_ours(self) -> bool:
        app = self._app
        driver = app._driver
        return driver is not None and not driver.is_headless and not driver.is_inline and app._running

    def _send(self, placed: Iterable[Placed]) -> None:
        app, driver = self._app, self._app._driver
        if driver is None or app._closed:
            return
        cursor = app.screen.outer_size.clamp_offset(app.cursor_position)
        sent = self._mirror.sequences(placed, app.size, colours_of(app.console), cursor=cursor)
        if not sent:
            return
        is_long = len(sent) >= _LEAST_TOGETHER
        if is_long:
            app._begin_update()
        for start in range(0, len(sent), _PIECE):
            driver.write(sent[start : start + _PIECE])
        if is_long:
            app._end_update()
        driver.flush()
