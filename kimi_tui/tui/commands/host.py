"""The host of commands: what they may do, done on the screen that is open."""

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from textual.screen import Screen

from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.terminal import plain
from kimi_tui.language.errors import told
from kimi_tui.language.saying import say
from kimi_tui.tui.choices import Choice
from kimi_tui.tui.clipboard import Clipboard, copied
from kimi_tui.tui.commands.keeping import keep_model, keep_theme
from kimi_tui.tui.commands.registry import PaneName, Registry, Severity
from kimi_tui.tui.dialogs.help import Help
from kimi_tui.tui.dialogs.mcp import McpDialog
from kimi_tui.tui.dialogs.picker import Picker
from kimi_tui.tui.dialogs.tasks import TasksDialog
from kimi_tui.tui.keys import KeyNames
from kimi_tui.tui.state import ScreenState
from kimi_tui.wire.channel import Wire
from kimi_tui.wire.commands import Command, SetModel

if TYPE_CHECKING:
    from kimi_tui.tui.commands.time_travel import Timeline


class ScreenHost:
    """Lets commands act without knowing the screen."""

    def __init__(
        self,
        *,
        screen: Screen[Any],
        wire: Wire,
        state: Callable[[], ScreenState],
        last_answer: Callable[[], str],
        toggle_pane: Callable[[PaneName], None],
        timeline: Callable[[], "Timeline"],
        clipboard: Clipboard,
        registry: Registry,
        names: KeyNames,
        version: str,
        config_file: Path | None,
    ) -> None:
        self._screen = screen
        self._wire = wire
        self._state = state
        self._last_answer = last_answer
        self._toggle_pane = toggle_pane
        self._timeline = timeline
        self._clipboard = clipboard
        self._registry = registry
        self._names = names
        self._version = version
        self._config_file = config_file

    @property
    def state(self) -> ScreenState:
        """What the screen knows of the session."""
        return self._state()

    @property
    def theme_name(self) -> str:
        """The theme in use."""
        return self._screen.app.theme

    @property
    def last_answer(self) -> str:
        """The Markdown source of the last answer; empty when there is none."""
        return self._last_answer()

    def command(self, command: Command) -> None:
        """Give the engine a command."""
        self._wire.command(command)

    def say(self, message: str, *, severity: Severity = "information") -> None:
        """Tell the user something that passes; said again, it takes its own place."""
        text, app = plain(message), self._screen.app
        for earlier in [it for it in app._notifications if it.message == text]:
            app._unnotify(earlier, refresh=False)
        self._screen.notify(text, severity=severity, markup=False)

    async def choose(self, title: str, choices: Sequence[Choice], *, hint: str = "") -> str | None:
        """Let the user choose; None when they would not."""
        return await self._screen.app.push_screen_wait(Picker(title, choices, names=self._names, hint=hint))

    def show_help(self, topic: Literal["commands", "keys"]) -> None:
        """Open the help."""
        self._screen.app.push_screen(
            Help(topic=topic, commands=self._registry.all, names=self._names, version=self._version)
        )

    def show_mcp(self) -> None:
        """Open the list of MCP servers."""
        self._screen.app.push_screen(
            McpDialog(owner=self._screen, state=self._state, command=self.command, names=self._names)
        )

    async def connect_model(self) -> None:
        """Let the user connect a model."""
        from kimi_tui.tui.dialogs.setup import SetupDialog  # once in a lifetime

        dialog = SetupDialog(owner=self._screen, state=self._state, command=self.command, names=self._names)
        if done := await self._screen.app.push_screen_wait(dialog):
            self.say(done)

    async def change_settings(self) -> None:
        """Let the user look at the settings and change them."""
        from kimi_tui.tui.commands.changing_settings import change_settings

        await change_settings(self, screen=self._screen, state=self._state, names=self._names)

    def show_tasks(self) -> None:
        """Open the list of background tasks."""
        self._screen.app.push_screen(
            TasksDialog(
                owner=self._screen,
                state=self._state,
                command=self.command,
                copy=self.copy,
                names=self._names,
            )
        )

    def toggle_pane(self, name: PaneName) -> None:
        """Show or hide a pane."""
        self._toggle_pane(name)

    @property
    def timeline(self) -> "Timeline":
        """What can be done in time."""
        return self._timeline()

    def use_theme(self, name: str) -> None:
        """Change the theme, for later runs too."""
        self._screen.app.theme = name
        if self._config_file is not None:
            self._keep(partial(keep_theme, self._config_file, name))

    def use_model(self, name: str) -> None:
        """Use another model, in later runs too where the config file has it."""
        self._wire.command(SetModel(name))
        if self._config_file is not None:
            self._keep(partial(keep_model, self._config_file, name))

    def _keep(self, write: Callable[[], str]) -> None:
        self._screen.run_worker(self._kept(write), group="config")

    async def _kept(self, write: Callable[[], str]) -> None:
        try:
            if done := await asyncio.to_thread(write):
                self.say(done)
        except KimiTuiError as error:
            self.say(say("It holds until kimi-tui ends: {problem}", problem=told(error)), severity="warning")

    def copy(self, text: str) -> None:
        """Put `text` on the clipboard and say so."""
        self._screen.run_worker(self._copy(text), group="clipboard")

    async def _copy(self, text: str) -> None:
        osc52 = self._screen.app.copy_to_clipboard
        self.say(await copied(text, clipboard=self._clipboard, through_terminal=osc52))

    def leave(self) -> None:
        """End the app, in order."""
        self._screen.call_later(self._screen.run_action, "app.leave")
