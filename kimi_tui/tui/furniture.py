"""What comes to the screen after its first frame: the workbench, the commands, the dialogs."""

import os
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from textual.screen import Screen

from kimi_tui.base.assets import asset_path
from kimi_tui.base.errors import KimiTuiError
from kimi_tui.language.errors import told
from kimi_tui.language.saying import say
from kimi_tui.tui.approvals.hearing import Keyboard
from kimi_tui.tui.choices import Choice
from kimi_tui.tui.commands.builtin import COMMANDS, run_engine_command
from kimi_tui.tui.commands.dispatch import Verdict, run_from_palette, run_line
from kimi_tui.tui.commands.host import ScreenHost
from kimi_tui.tui.commands.line import parsed
from kimi_tui.tui.commands.modes import MODE_COMMANDS, cycle_mode
from kimi_tui.tui.commands.personal import personal_commands
from kimi_tui.tui.commands.registry import PaneName, Registry, Severity
from kimi_tui.tui.commands.sessions import session_commands
from kimi_tui.tui.commands.setting_up import KEY_TAKING, SETUP_COMMANDS
from kimi_tui.tui.commands.time_travel import TIMELINE_COMMANDS
from kimi_tui.tui.external_editor import edited
from kimi_tui.tui.fork_offer import offer_fork
from kimi_tui.tui.images.showing import Pictures, means_for, show_pictures_by
from kimi_tui.tui.keys import KeyNames
from kimi_tui.tui.options import TuiOptions
from kimi_tui.tui.personal_desk import personal_acts
from kimi_tui.tui.prompt.menu import menu
from kimi_tui.tui.prompt.prompt import Prompt
from kimi_tui.tui.prompt.shell_line import ShellLine
from kimi_tui.tui.state import ScreenState
from kimi_tui.tui.terminal_link import send_between_frames
from kimi_tui.tui.users_shell import run_in_shell
from kimi_tui.tui.workbench import Workbench
from kimi_tui.wire.channel import Outgoing, Wire
from kimi_tui.wire.completion import ArgumentChoices
from kimi_tui.wire.requests import Answer
from kimi_tui.wire.timeline import SessionForked

if TYPE_CHECKING:
    from kimi_tui.tui.timeline.room import TimelineRoom

_STYLES = ("transcript", "approvals", "panes", "dialogs")


class Furniture:
    """What the screen works with once it is complete; the screen mounts the workbench."""

    def __init__(
        self,
        *,
        screen: Screen[Any],
        wire: Wire,
        options: TuiOptions,
        names: KeyNames,
        state: Callable[[], ScreenState],
        answer: Callable[[Answer], None],
        interrupt: Callable[[], None],
        typed_ago: Callable[[], float | None],
        write: Callable[[str], None],
    ) -> None:
        self._screen = screen
        self._options = options
        self._state = state
        self._wire = wire
        self._interrupt = interrupt
        self._names = names
        self._timeline: TimelineRoom | None = None
        show_pictures_by(
            Pictures(
                means_for(options.images),
                send=partial(send_between_frames, screen.app),
                in_tmux="TMUX" in os.environ,
            )
        )
        self._acts = personal_acts(
            screen=screen,
            wire=wire,
            options=options,
            names=names,
            state=state,
            copy=self.copy,
            edit_prompt=self.edit_prompt,
        )
        self.registry = Registry(
            (
                *COMMANDS,
                *SETUP_COMMANDS,
                *MODE_COMMANDS,
                *TIMELINE_COMMANDS,
                *session_commands(self._acts),
                *personal_commands(self._acts),
            ),
            state=state,
            run_engine_command=run_engine_command,
            ask=wire.command,
        )
        self.host = ScreenHost(
            screen=screen,
            wire=wire,
            state=state,
            last_answer=lambda: self.workbench.transcript.copy_block(),
            toggle_pane=self._toggle_soon,
            timeline=lambda: self.timeline.journeys,
            clipboard=options.clipboard,
            registry=self.registry,
            names=names,
            version=options.version,
            config_file=options.config_file,
        )
        self.workbench = Workbench(
            keyboard=Keyboard(
                names=names, clock=options.clock, letter_pause_s=options.letter_pause_s, write=write
            ),
            copy=self.host.copy,
            answer=answer,
            typed_ago=typed_ago,
        )

    @property
    def timeline(self) -> "TimelineRoom":
        """Time travel, from the moment on that somebody asks for it."""
        if self._timeline is None:
            from kimi_tui.tui.timeline.room import TimelineRoom  # only for those who travel

            self._timeline = TimelineRoom(
                screen=self._screen,
                bench=self.workbench,
                session=session.session_id if (session := self._state().session) is not None else "",
                read_only=lambda: self._state().read_only,
                is_working=lambda: self._state().turn is not None,
                interrupt=self._interrupt,
                in_background=lambda: sum(task.status == "running" for task in self._state().tasks),
                command=self._wire.command,
                say=self.host.say,
                choose=self.host.choose,
                copy=self.host.copy,
                names=self._names,
                wall_clock=self._options.wall_clock,
            )
        return self._timeline

    def show(self, batch: list[Outgoing]) -> None:
        """Show what arrived: the timeline takes what is for it."""
        self.workbench.show(batch if self._timeline is None else self._timeline.take(batch))
        for message in batch:
            if isinstance(message, ArgumentChoices):
                self._screen.query_one(Prompt).completions.refresh_list()
            elif isinstance(message, SessionForked):
                self._screen.run_worker(self._offer(message), group="fork")

    async def _offer(self, fork: SessionForked) -> None:
        await offer_fork(fork, choose=self.host.choose, open_session=self._acts.open_session)

    async def toggle_pane(self, name: PaneName) -> None:
        """Show and focus a pane, or hide it. When it returns, keys go where they should."""
        if name == "timeline":
            await self.timeline.toggle()
        else:
            self.workbench.toggle_pane(name)

    def close_in_front(self) -> None:
        """Close what escape is for before it interrupts."""
        if self.workbench.in_front == "timeline":
            self.timeline.close()
        else:
            self.workbench.close_in_front()

    def cycle_mode(self) -> None:
        """Go to the next mode: asking, accepting edits, planning."""
        cycle_mode(self.host)

    def _toggle_soon(self, name: PaneName) -> None:
        self._screen.call_later(self.toggle_pane, name)

    def load_styles(self) -> None:
        """Add the looks of all this to the app's style sheet."""
        sheet = self._screen.app.stylesheet
        sheet.read_all([asset_path("styles", f"{name}.tcss") for name in _STYLES])
        sheet.parse()

    def forget_pictures(self) -> None:
        """Have the terminal forget the pictures of the conversation."""
        show_pictures_by(Pictures())

    def is_command(self, text: str) -> bool:
        """Whether `text` reads like a command, known or not."""
        return parsed(text) is not None

    async def run_line(self, text: str) -> Verdict:
        """Run the command in `text`."""
        line = parsed(text)
        return "send" if line is None else await run_line(line, host=self.host, registry=self.registry)

    def remembered(self, text: str) -> str:
        """What the history keeps of a command: of `/login` not the key that somebody typed behind it."""
        line = parsed(text)
        command = self.registry.find(line.name) if line is not None else None
        return f"/{command.name}" if command is not None and command.name == KEY_TAKING else text

    async def run_in_shell(self, line: ShellLine) -> None:
        """Run a command in the user's shell."""
        await self._telling(run_in_shell(line, wire=self._wire, app=self._screen.app))

    async def edit_prompt(self, prompt: Prompt) -> None:
        """Let the user write the prompt in their own editor."""

        async def edit() -> None:
            prompt.rewrite(await edited(self._screen.app, prompt.editor.unfolded, name="prompt.md"))

        await self._telling(edit())

    async def _telling(self, work: Awaitable[None]) -> None:
        try:
            await work
        except KimiTuiError as error:
            self.say(told(error), severity="error")

    async def run_palette(self) -> str:
        """Let the user choose a command; the text to put into the prompt if it wants an argument."""
        return await run_from_palette(host=self.host, registry=self.registry, names=self._names)

    async def run_menu(self, prompt: Prompt) -> None:
        """Let the user choose what the prompt is to do."""
        entries = menu(self._state(), blank=prompt.blank, mode=prompt.mode, names=self._names)
        match await self.host.choose(say("The prompt"), entries):
            case "newline":
                prompt.editor.action_newline()
            case "clear":
                prompt.discard()
            case "mode":
                self.cycle_mode()
            case ("paste" | "search" | "steer" | "shell") as action:
                prompt.act(action)
            case _:
                pass

    async def choose_older(self, entries: Sequence[str]) -> str | None:
        """Let the user choose among what was sent before, newest first."""
        if not entries:
            self.say(say("Nothing has been sent from this folder yet."))
            return None
        choices = [Choice(value=entry, label=entry) for entry in reversed(entries)]
        return await self.host.choose(say("Older prompts"), choices)

    def say(self, message: str, *, severity: Severity = "information") -> None:
        """Tell the user something that passes."""
        self.host.say(message, severity=severity)

    def copy(self, text: str) -> None:
        """Put `text` on the clipboard and say so."""
        self.host.copy(text)

    def leave(self) -> None:
        """End the app, in order."""
        self.host.leave()
