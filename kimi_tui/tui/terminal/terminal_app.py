"""Base class of the app for the parts that need Textual's private API: frames, input and crashes."""

import asyncio
from collections.abc import Mapping
from typing import Any, cast

from rich.console import RenderableType
from textual._xterm_parser import XTermParser
from textual.actions import ActionParseResult
from textual.app import App
from textual.dom import DOMNode
from textual.driver import Driver
from textual.reactive import Reactive
from textual.screen import Screen
from textual.worker import WorkerFailed

from kimi_tui.tui.terminal.frame_writer import FrameWriter
from kimi_tui.tui.terminal.input import InputDriver, install_terminal_input
from kimi_tui.tui.terminal.key_priority import KeyPriority, prioritize_keys
from kimi_tui.tui.terminal.output import TerminalFile
from kimi_tui.tui.terminal.scrollback import NormalScreenFile


class TerminalApp(App[None], inherit_bindings=False):
    """App that writes its frames itself and reports an internal error instead of printing it."""

    app_focus = Reactive(True, compute=False, repaint=False)

    def __init__(self, *, is_inline: bool, css_path: list[Any]) -> None:
        """`is_inline` means that frames are drawn on the normal screen, which has a scrollback."""
        super().__init__(css_path=css_path)
        self.key_priority = KeyPriority()
        self.frame_writer = FrameWriter(self, is_inline=is_inline)
        self._is_inline = is_inline
        self._internal_error: Exception | None = None
        self._terminal_loop: asyncio.AbstractEventLoop | None = None
        """Event loop of the app. None without a terminal."""

    # hooks for subclasses

    def handle_terminal_loss(self) -> None:
        """Handle that the terminal is gone. Called on the event loop."""

    def handle_internal_error(self) -> None:
        """Save unsaved data. Called once, before the app ends because of an exception."""

    # frames

    def _display(self, screen: Screen[Any], renderable: RenderableType | None) -> None:
        """Send a frame to the terminal."""
        if not self.frame_writer.show(renderable):
            super()._display(screen, renderable)

    # input

    async def run_action(
        self,
        action: "str | ActionParseResult",
        default_namespace: DOMNode | None = None,
        namespaces: Mapping[str, DOMNode] | None = None,
    ) -> bool:
        """Run an action, then mark the key that triggered it as handled."""
        try:
            return await super().run_action(action, default_namespace, namespaces)
        finally:
            self.key_priority.finish_key()

    def report_terminal_loss(self) -> None:
        """Schedule `handle_terminal_loss`. Called in any thread."""
        if self._terminal_loop is not None:
            self._terminal_loop.call_soon_threadsafe(self.handle_terminal_loss)

    def replay_input(self, text: str) -> None:
        """Handle terminal input that was read before the app started."""
        for event in XTermParser().feed(text):
            self.post_message(event)

    def _build_driver(
        self, headless: bool, inline: bool, mouse: bool, size: tuple[int, int] | None
    ) -> Driver:
        driver = super()._build_driver(headless, inline, mouse, size)
        if file := getattr(driver, "_file", None):
            self._terminal_loop = asyncio.get_running_loop()
            terminal = NormalScreenFile(file) if self._is_inline else file
            driver._file = TerminalFile(terminal, self)  # type: ignore[attr-defined]
            install_terminal_input(cast("InputDriver", driver), self)
            prioritize_keys(driver, self, self.key_priority)
        return driver

    # focus and screens

    def _watch_app_focus(self, focus: bool) -> None:
        """Remove or restore the focus of the focused widget. Redraw only this widget."""
        if not focus:
            self._last_focused_on_app_blur = self.screen.focused
            self.screen.set_focus(None)
            return
        widget, self._last_focused_on_app_blur = self._last_focused_on_app_blur, None
        if widget is not None and widget in self.screen.focus_chain and self.screen.focused is None:
            self.screen.set_focus(widget, scroll_visible=False, from_app_focus=True)
        else:
            self.screen._update_auto_focus()  # pushed without the terminal's focus

    async def replace_screen(self, old: Screen[None], new: Screen[None]) -> None:
        """Replace the current screen `old`, which may be the default screen."""
        if not old._result_callbacks:  # Textual pops one on removal, but the default screen has none
            old._push_result_callback(self, None)
        await self.switch_screen(new)

    # crashes

    @property
    def internal_error(self) -> Exception | None:
        """The unexpected exception that ended the app, if any."""
        return self._internal_error

    def _handle_exception(self, error: Exception) -> None:
        if self._internal_error is None:
            inner = error.error if isinstance(error, WorkerFailed) else error
            self._internal_error = inner if isinstance(inner, Exception) else error
            self.handle_internal_error()
        super()._handle_exception(error)

    def _fatal_error(self) -> None:
        """Exit without Textual's traceback, which shows local variables. The caller reports
        `internal_error`.
        """
        self._close_messages_no_wait()
