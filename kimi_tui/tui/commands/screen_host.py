"""Command host that runs commands on the open screen."""

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.ids import new_id
from kimi_tui.base.logging import log_tail
from kimi_tui.base.terminal_text import sanitize, sanitize_line
from kimi_tui.frontend.clipboard import copy_and_report
from kimi_tui.frontend.image_loader import parse_image_argument
from kimi_tui.frontend.save_choice import save_model, save_theme
from kimi_tui.frontend.session_controller import SessionController
from kimi_tui.frontend.session_state import SessionViewState
from kimi_tui.frontend.shell_line import ShellLine
from kimi_tui.i18n.translate import tr, tr_n, translate_error
from kimi_tui.tui.commands.command_host import InfoPage, PaneName, Severity
from kimi_tui.tui.commands.diagnostic_facts import diagnostic_facts
from kimi_tui.tui.commands.registry import CommandRegistry
from kimi_tui.tui.commands.screen_dialogs import ScreenDialogs
from kimi_tui.tui.keys.keymap import KeyLabels
from kimi_tui.tui.options import TuiOptions
from kimi_tui.tui.prompt.prompt import PromptBox
from kimi_tui.tui.screen.session_screen import SessionScreen
from kimi_tui.tui.screen.session_view import SessionView
from kimi_tui.tui.screen.timeline_place import TimelinePlace
from kimi_tui.tui.session_request import FleetVisit, SessionRequest, SessionRequested
from kimi_tui.tui.terminal.edit_text import edit_text
from kimi_tui.tui.terminal.scrollback import PrintRequested
from kimi_tui.tui.terminal.silent_updates import remove_notifications
from kimi_tui.tui.terminal.suspend import suspend_app, suspend_to_shell
from kimi_tui.tui.themes import register_theme
from kimi_tui.tui.widgets.choice_list import Choice
from kimi_tui.wire.channel import Wire, WireClosed
from kimi_tui.wire.commands import Command, RunShell, RunSlash, SetModel

if TYPE_CHECKING:
    from kimi_tui.tui.timeline.controller import TimelineController


class ScreenCommandHost:
    """Implements `CommandHost` for a screen."""

    def __init__(
        self,
        screen: SessionScreen,
        *,
        wire: Wire,
        session: SessionController,
        prompt: PromptBox,
        registry: CommandRegistry,
        options: TuiOptions,
        key_labels: KeyLabels,
    ) -> None:
        self._screen = screen
        self._wire = wire
        self._session = session
        self._prompt = prompt
        self._options = options
        self._key_labels = key_labels
        self._timeline: TimelineController | None = None
        self._text_by_topic: dict[str, str] = {}
        """The last notification about each topic."""
        self.dialogs = ScreenDialogs(
            screen,
            host=self,
            registry=registry,
            options=options,
            key_labels=key_labels,
        )

    # the session

    @property
    def state(self) -> SessionViewState:
        """The state of the session."""
        return self._session.state

    def command(self, command: Command, *, scrolls: bool = True) -> None:
        """Send a command to the engine. With `scrolls`, scroll to the output of the command, if any."""
        self._session.command(command)
        if scrolls and isinstance(command, RunSlash | RunShell):
            self._screen.query_one(SessionView).transcript.scroll_to_end()

    @property
    def wall_time(self) -> float:
        """The current time in seconds since the epoch."""
        return self._options.wall_clock()

    def use_model(self, name: str) -> None:
        """Switch the model; save the choice if the config file defines the model."""
        self.command(SetModel(name))
        if self._options.config_file is not None:
            self._save_choice(partial(save_model, self._options.config_file, name))

    @property
    def fleet_visit(self) -> FleetVisit | None:
        """The open task of a fleet. None if the session isn't a fleet's task."""
        return self._options.fleet_visit

    def open_session(self, request: SessionRequest) -> None:
        """Open another session."""
        self._screen.app.post_message(SessionRequested(request))

    def insert_in_prompt(self, text: str) -> None:
        """Insert `text` at the cursor of the prompt."""
        self._prompt.insert_and_focus(text)

    async def run_in_shell(self, line: ShellLine) -> None:
        """Start a command in the user's shell. If the command uses the terminal, wait until it ends."""
        command = RunShell(new_id(), line.command, on_terminal=line.on_terminal)
        if not line.on_terminal:
            self.command(command)
            return
        try:
            with suspend_app(self._screen.app):
                await self._session.command_and_wait(command)
        except WireClosed:
            self.notify(
                translate_error(
                    KimiTuiError(
                        "The session has ended. The command can't be run.", hint="Restart with --continue."
                    )
                ),
                severity="error",
            )
        except KimiTuiError as error:
            self.notify(translate_error(error), severity="error")

    # the screen

    def notify(self, message: str, *, severity: Severity = "information", topic: str = "") -> None:
        """Show a notification, replacing an earlier one with the same text or about the same topic."""
        text = sanitize(message)
        app = self._screen.app
        # As messages to the app, in order: an earlier notification may still be in its queue.
        app.call_later(remove_notifications, app, text)
        if topic:
            app.call_later(remove_notifications, app, self._text_by_topic.get(topic, ""))
            self._text_by_topic[topic] = text
        self._screen.notify(text, severity=severity, markup=False)

    async def choose(self, title: str, choices: Sequence[Choice], *, hint: str = "") -> str | None:
        """Let the user choose; return None if they cancel."""
        return await self.dialogs.choose(title, choices, hint=hint)

    def toggle_pane(self, name: PaneName) -> None:
        """Show or hide a pane."""
        self._screen.call_later(self._screen.run_action, f"screen.toggle_pane('{name}')")

    def show_info(self, page: InfoPage) -> None:
        """Open the panel about the session."""
        self._screen.query_one(SessionView).show_info(page)

    @property
    def timeline(self) -> "TimelineController":
        """Controller of the timeline, created on first use."""
        if self._timeline is None:
            from kimi_tui.tui.timeline.controller import TimelineController  # imported only when it is used

            self._timeline = TimelineController(
                screen=self._screen,
                place=TimelinePlace(self._screen.query_one(SessionView)),
                host=self,
                wire=self._wire,
                session_controller=self._session,
                options=self._options,
                key_labels=self._key_labels,
            )
        return self._timeline

    @property
    def has_timeline(self) -> bool:
        """Whether the timeline has been used."""
        return self._timeline is not None

    @property
    def theme_name(self) -> str:
        """The current theme."""
        return self._screen.app.theme

    def use_theme(self, name: str) -> None:
        """Switch the theme and save the choice, or report why the theme can't be used."""
        try:
            register_theme(self._screen.app, name, self._options.data_dir)
        except KimiTuiError as error:
            self.notify(translate_error(error), severity="error")
            return
        self._screen.app.theme = name
        if self._options.config_file is not None:
            self._save_choice(partial(save_theme, self._options.config_file, name))

    def _save_choice(self, write: Callable[[], str]) -> None:
        self._screen.run_worker(self._save_and_report(write), group="config")

    async def _save_and_report(self, write: Callable[[], str]) -> None:
        try:
            if message := await asyncio.to_thread(write):
                self.notify(message)
        except KimiTuiError as error:
            self.notify(
                tr("Not saved, applies until kimi-tui exits: {problem}", problem=translate_error(error)),
                severity="warning",
            )

    # the conversation

    @property
    def last_response(self) -> str:
        """The Markdown source of the last response, or an empty string."""
        return self._screen.query_one(SessionView).transcript.copy_block()

    def copy(self, text: str) -> None:
        """Copy `text` to the clipboard and notify the user."""
        self._screen.run_worker(self._copy(text), group="clipboard")

    async def _copy(self, text: str) -> None:
        osc52 = self._screen.app.copy_to_clipboard
        self.notify(await copy_and_report(text, clipboard=self._options.clipboard, copy_to_terminal=osc52))

    def print_all(self) -> None:
        """Print the conversation to the terminal's scrollback."""
        self._screen.app.post_message(PrintRequested())

    # the prompt

    async def attach_image(self, path: str) -> None:
        """Attach the image files that `path` names to the prompt."""
        await self._prompt.attachments.attach_files(parse_image_argument(path, self._options.work_dir))

    async def edit_prompt(self) -> None:
        """Let the user edit the prompt in their own editor."""
        prompt = self._prompt
        try:
            prompt.replace_text(await edit_text(self._screen.app, prompt.editor.full_text, name="prompt.md"))
        except KimiTuiError as error:
            self.notify(translate_error(error), severity="error")

    # the program

    @property
    def facts(self) -> Sequence[tuple[str, str]]:
        """Names and values for the diagnostic information."""
        return diagnostic_facts(self._options, self._screen.app.size)

    @property
    def log_tail(self) -> Sequence[str]:
        """The last lines of the log."""
        return log_tail(self._options.data_dir)

    def suspend(self) -> None:
        """Suspend the app until `fg`."""
        try:
            suspend_to_shell(self._screen.app)
        except KimiTuiError as error:
            self.notify(translate_error(error), severity="error")

    def leave(self) -> None:
        """Shut down the app. If that stops background tasks, ask first."""
        self._screen.run_worker(self._leave(), group="leave", exclusive=True)

    async def _leave(self) -> None:
        is_resident = self.state.session is not None and self.state.session.resident
        if (tasks := self.state.running_tasks) and not is_resident:
            count = len(tasks)
            title = tr_n(
                "Quit and stop {count} background task?", "Quit and stop {count} background tasks?", count
            )
            names = "; ".join(sanitize_line(task.description or task.command) for task in tasks)
            choices = [Choice(value="stay", label=tr("Stay")), Choice(value="quit", label=tr("Quit"))]
            if await self.choose(title, choices, hint=names) != "quit":
                return
        await self._screen.run_action("app.leave")
