"""Command host that runs commands on the open screen."""

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Literal

from textual.screen import Screen

from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.terminal_text import sanitize
from kimi_tui.frontend.clipboard import Clipboard, copy_and_report
from kimi_tui.frontend.save_choice import save_model, save_theme
from kimi_tui.frontend.session_state import SessionViewState
from kimi_tui.i18n.translate import tr, translate_error
from kimi_tui.tui.commands.command_host import PaneName, Severity, TimelineNavigator
from kimi_tui.tui.commands.registry import CommandRegistry
from kimi_tui.tui.dialogs.help import Help
from kimi_tui.tui.dialogs.mcp import McpDialog
from kimi_tui.tui.dialogs.picker import Picker
from kimi_tui.tui.dialogs.tasks import TasksDialog
from kimi_tui.tui.keys.keymap import KeyLabels
from kimi_tui.tui.terminal.silent_updates import remove_notifications
from kimi_tui.tui.widgets.choice_list import Choice
from kimi_tui.wire.channel import Wire
from kimi_tui.wire.commands import Command, SetModel


class ScreenCommandHost:
    """Implements `CommandHost` for a screen."""

    def __init__(
        self,
        *,
        screen: Screen[Any],
        wire: Wire,
        state: Callable[[], SessionViewState],
        last_response: Callable[[], str],
        toggle_pane: Callable[[PaneName], None],
        timeline: Callable[[], TimelineNavigator],
        clipboard: Clipboard,
        registry: CommandRegistry,
        key_labels: KeyLabels,
        version: str,
        config_file: Path | None,
    ) -> None:
        self._screen = screen
        self._wire = wire
        self._state = state
        self._last_response = last_response
        self._toggle_pane = toggle_pane
        self._timeline = timeline
        self._clipboard = clipboard
        self._registry = registry
        self._key_labels = key_labels
        self._version = version
        self._config_file = config_file

    @property
    def state(self) -> SessionViewState:
        """The state of the session."""
        return self._state()

    @property
    def theme_name(self) -> str:
        """The current theme."""
        return self._screen.app.theme

    @property
    def last_response(self) -> str:
        """The Markdown source of the last response, or an empty string."""
        return self._last_response()

    def command(self, command: Command) -> None:
        """Send the engine a command."""
        self._wire.command(command)

    def notify(self, message: str, *, severity: Severity = "information") -> None:
        """Show a notification, replacing an earlier one with the same text."""
        text, app = sanitize(message), self._screen.app
        remove_notifications(app, text)
        self._screen.notify(text, severity=severity, markup=False)

    async def choose(self, title: str, choices: Sequence[Choice], *, hint: str = "") -> str | None:
        """Let the user choose; return None if they cancel."""
        return await self._screen.app.push_screen_wait(
            Picker(title, choices, key_labels=self._key_labels, hint=hint)
        )

    def show_help(self, topic: Literal["commands", "keys"]) -> None:
        """Open the help."""
        self._screen.app.push_screen(
            Help(topic=topic, commands=self._registry.all, key_labels=self._key_labels, version=self._version)
        )

    def show_mcp(self) -> None:
        """Open the list of MCP servers."""
        self._screen.app.push_screen(McpDialog(owner=self._screen, host=self, key_labels=self._key_labels))

    async def connect_model(self) -> None:
        """Let the user connect a model."""
        from kimi_tui.tui.dialogs.model_setup import (
            ModelSetupDialog,
        )  # rarely needed, so not imported at startup

        dialog = ModelSetupDialog(owner=self._screen, host=self, key_labels=self._key_labels)
        if message := await self._screen.app.push_screen_wait(dialog):
            self.notify(message)

    async def open_settings(self) -> None:
        """Let the user view and change settings."""
        from kimi_tui.tui.commands.settings import open_settings

        await open_settings(self, screen=self._screen, key_labels=self._key_labels)

    def show_tasks(self) -> None:
        """Open the list of background tasks."""
        self._screen.app.push_screen(TasksDialog(owner=self._screen, host=self, key_labels=self._key_labels))

    def toggle_pane(self, name: PaneName) -> None:
        """Show or hide a pane."""
        self._toggle_pane(name)

    @property
    def timeline(self) -> TimelineNavigator:
        """The timeline actions."""
        return self._timeline()

    def use_theme(self, name: str) -> None:
        """Switch the theme and save the choice."""
        self._screen.app.theme = name
        if self._config_file is not None:
            self._save_choice(partial(save_theme, self._config_file, name))

    def use_model(self, name: str) -> None:
        """Switch the model; save the choice if the config file defines the model."""
        self._wire.command(SetModel(name))
        if self._config_file is not None:
            self._save_choice(partial(save_model, self._config_file, name))

    def _save_choice(self, write: Callable[[], str]) -> None:
        self._screen.run_worker(self._save_and_report(write), group="config")

    async def _save_and_report(self, write: Callable[[], str]) -> None:
        try:
            if message := await asyncio.to_thread(write):
                self.notify(message)
        except KimiTuiError as error:
            self.notify(
                tr(
                    "Not saved, applies until kimi-tui exits: {problem}",
                    problem=translate_error(error),
                ),
                severity="warning",
            )

    def copy(self, text: str) -> None:
        """Copy `text` to the clipboard and notify the user."""
        self._screen.run_worker(self._copy(text), group="clipboard")

    async def _copy(self, text: str) -> None:
        osc52 = self._screen.app.copy_to_clipboard
        self.notify(await copy_and_report(text, clipboard=self._clipboard, copy_to_terminal=osc52))

    def leave(self) -> None:
        """Shut down the app."""
        self._screen.call_later(self._screen.run_action, "app.leave")
