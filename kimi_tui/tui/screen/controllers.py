"""The parts of the screen that are loaded after the first frame: session view, commands and dialogs."""

import os
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any

from textual.screen import Screen

from kimi_tui.base.assets import asset_path
from kimi_tui.base.errors import KimiTuiError
from kimi_tui.frontend.message_batch import MessageBatch
from kimi_tui.frontend.session_controller import SessionController
from kimi_tui.frontend.session_state import SessionViewState
from kimi_tui.frontend.shell_line import ShellLine
from kimi_tui.i18n.translate import tr, translate_error
from kimi_tui.tui.approvals.input_guard import KeyboardConfig
from kimi_tui.tui.commands.builtin import COMMANDS, run_engine_command
from kimi_tui.tui.commands.command_host import PaneName, Severity
from kimi_tui.tui.commands.dispatch import LineResult, run_from_palette, run_line
from kimi_tui.tui.commands.model_setup import LOGIN_COMMAND, SETUP_COMMANDS
from kimi_tui.tui.commands.modes import MODE_COMMANDS, cycle_mode
from kimi_tui.tui.commands.parse import parse_command
from kimi_tui.tui.commands.registry import CommandRegistry
from kimi_tui.tui.commands.screen_host import ScreenCommandHost
from kimi_tui.tui.commands.sessions import session_commands
from kimi_tui.tui.commands.timeline import TIMELINE_COMMANDS
from kimi_tui.tui.commands.user import user_commands
from kimi_tui.tui.commands.user_actions import build_user_actions
from kimi_tui.tui.commands.user_shell import run_in_shell
from kimi_tui.tui.dialogs.fork_prompt import ask_after_fork
from kimi_tui.tui.images.renderer import ImageRenderer, detect_protocol, set_image_renderer
from kimi_tui.tui.keys.keymap import KeyLabels
from kimi_tui.tui.options import TuiOptions
from kimi_tui.tui.prompt.menu import build_menu
from kimi_tui.tui.prompt.prompt import PromptBox
from kimi_tui.tui.screen.session_view import SessionView
from kimi_tui.tui.terminal.edit_text import edit_text
from kimi_tui.tui.terminal.output import SequenceSender
from kimi_tui.tui.widgets.choice_list import Choice
from kimi_tui.wire.argument_completion import ArgumentChoices
from kimi_tui.wire.channel import Wire
from kimi_tui.wire.timeline import SessionForked

if TYPE_CHECKING:
    from kimi_tui.tui.timeline.controller import TimelineController

_STYLES = ("transcript", "approvals", "panes", "dialogs")


class ScreenControllers:
    """Controllers of a complete screen. The screen mounts `session_view`."""

    def __init__(
        self,
        *,
        screen: Screen[Any],
        wire: Wire,
        options: TuiOptions,
        key_labels: KeyLabels,
        state: Callable[[], SessionViewState],
        session_controller: SessionController,
        idle_s: Callable[[], float | None],
        write: Callable[[str], None],
    ) -> None:
        self._screen = screen
        self._options = options
        self._state = state
        self._wire = wire
        self._session_controller = session_controller
        self._key_labels = key_labels
        self._timeline: TimelineController | None = None
        set_image_renderer(
            ImageRenderer(
                detect_protocol(options.images),
                terminal=SequenceSender(screen.app),
                in_tmux="TMUX" in os.environ,
            )
        )
        self._user_actions = build_user_actions(
            screen=screen,
            options=options,
            key_labels=key_labels,
            copy=self.copy,
            edit_prompt=self.edit_prompt,
        )
        self.registry = CommandRegistry(
            (
                *COMMANDS,
                *SETUP_COMMANDS,
                *MODE_COMMANDS,
                *TIMELINE_COMMANDS,
                *session_commands(self._user_actions),
                *user_commands(self._user_actions),
            ),
            state=state,
            run_engine_command=run_engine_command,
            ask=wire.command,
        )
        self.host = ScreenCommandHost(
            screen=screen,
            wire=wire,
            state=state,
            last_response=lambda: self.session_view.transcript.copy_block(),
            toggle_pane=self._schedule_toggle_pane,
            timeline=lambda: self.timeline,
            clipboard=options.clipboard,
            registry=self.registry,
            key_labels=key_labels,
            version=options.version,
            config_file=options.config_file,
        )
        self.session_view = SessionView(
            keyboard=KeyboardConfig(
                key_labels=key_labels,
                clock=options.clock,
                letter_pause_s=options.letter_pause_s,
                write_to_prompt=write,
            ),
            copy=self.host.copy,
            answer=session_controller.answer,
            idle_s=idle_s,
        )

    @property
    def timeline(self) -> "TimelineController":
        """Controller of the timeline, created on first use."""
        if self._timeline is None:
            from kimi_tui.tui.timeline.controller import TimelineController  # imported only when it is used

            self._timeline = TimelineController(
                screen=self._screen,
                session_view=self.session_view,
                host=self.host,
                wire=self._wire,
                session_controller=self._session_controller,
                options=self._options,
                key_labels=self._key_labels,
            )
        return self._timeline

    def show(self, batch: MessageBatch) -> None:
        """Show new messages. The timeline consumes its own."""
        if self._timeline is not None:
            self._timeline.consume(batch)
        self.session_view.show(batch)
        if batch.has_any(ArgumentChoices):
            self._screen.query_one(PromptBox).completions.refresh_list()
        for fork in batch.of_type(SessionForked):
            self._screen.run_worker(self._offer_fork(fork), group="fork")

    async def _offer_fork(self, fork: SessionForked) -> None:
        await ask_after_fork(fork, choose=self.host.choose, open_session=self._user_actions.open_session)

    async def toggle_pane(self, name: PaneName) -> None:
        """Show and focus a pane, or hide it. The focus has moved when this returns."""
        if name == "timeline":
            await self.timeline.toggle()
        else:
            self.session_view.toggle_pane(name)

    def close_front_layer(self) -> None:
        """Close the layer that escape closes before it interrupts."""
        if self.session_view.front_layer == "timeline":
            self.timeline.close()
        else:
            self.session_view.close_front_layer()

    def cycle_mode(self) -> None:
        """Switch to the next permission mode: ask, accept edits, plan."""
        cycle_mode(self.host)

    def _schedule_toggle_pane(self, name: PaneName) -> None:
        self._screen.call_later(self.toggle_pane, name)

    def load_styles(self) -> None:
        """Add the styles of these parts to the app's style sheet."""
        sheet = self._screen.app.stylesheet
        sheet.read_all([asset_path("styles", f"{name}.tcss") for name in _STYLES])
        sheet.parse()

    def clear_images(self) -> None:
        """Delete the conversation's images from the terminal."""
        set_image_renderer(ImageRenderer())

    def is_command(self, text: str) -> bool:
        """Return whether `text` has the form of a command, known or not."""
        return parse_command(text) is not None

    async def run_line(self, text: str) -> LineResult:
        """Run the command in `text`."""
        line = parse_command(text)
        return "send" if line is None else await run_line(line, host=self.host, registry=self.registry)

    def history_entry(self, text: str) -> str:
        """Return the history entry for a command. An API key after `/login` is left out."""
        line = parse_command(text)
        command = self.registry.find(line.name) if line is not None else None
        return f"/{command.name}" if command is not None and command.name == LOGIN_COMMAND else text

    async def run_in_shell(self, line: ShellLine) -> None:
        """Run a command in the user's shell."""
        await self._report_errors(run_in_shell(line, wire=self._wire, app=self._screen.app))

    async def edit_prompt(self, prompt: PromptBox) -> None:
        """Let the user edit the prompt in their own editor."""

        async def edit() -> None:
            prompt.replace_text(await edit_text(self._screen.app, prompt.editor.full_text, name="prompt.md"))

        await self._report_errors(edit())

    async def _report_errors(self, work: Awaitable[None]) -> None:
        try:
            await work
        except KimiTuiError as error:
            self.notify(translate_error(error), severity="error")

    async def run_palette(self) -> str:
        """Let the user choose a command. Return text for the prompt if the command needs an argument."""
        return await run_from_palette(host=self.host, registry=self.registry, key_labels=self._key_labels)

    async def run_menu(self, prompt: PromptBox) -> None:
        """Let the user choose an action of the prompt."""
        entries = build_menu(
            self._state(), blank=prompt.is_blank, mode=prompt.mode, key_labels=self._key_labels
        )
        match await self.host.choose(tr("Prompt"), entries):
            case "newline":
                prompt.editor.action_newline()
            case "clear":
                prompt.discard()
            case "mode":
                self.cycle_mode()
            case ("paste" | "search" | "steer" | "shell") as action:
                prompt.perform_action(action)
            case _:
                pass

    async def choose_history_entry(self, entries: Sequence[str]) -> str | None:
        """Let the user choose an earlier prompt, newest first."""
        if not entries:
            self.notify(tr("No earlier prompts in this directory."))
            return None
        choices = [Choice(value=entry, label=entry) for entry in reversed(entries)]
        return await self.host.choose(tr("Prompt history"), choices)

    def notify(self, message: str, *, severity: Severity = "information") -> None:
        """Show a notification."""
        self.host.notify(message, severity=severity)

    def copy(self, text: str) -> None:
        """Copy `text` to the clipboard and show a notification."""
        self.host.copy(text)

    def leave(self) -> None:
        """Quit the app."""
        self.host.leave()
