"""Shows the session of a session controller on the main screen."""

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

from textual.message import Message

from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.ids import new_id
from kimi_tui.frontend.drafts import Draft
from kimi_tui.frontend.message_batch import MessageBatch
from kimi_tui.frontend.parsed_command import ParsedCommand
from kimi_tui.frontend.pump import pump
from kimi_tui.frontend.session_controller import CommandResult, SessionController
from kimi_tui.frontend.session_state import SessionViewState
from kimi_tui.frontend.shell_line import ShellLine
from kimi_tui.frontend.terminal_notifier import TerminalNotifier
from kimi_tui.frontend.text.message_passages import quote_message
from kimi_tui.i18n.translate import tr
from kimi_tui.tui.chosen_message import ChosenMessage
from kimi_tui.tui.keys.keymap import KeyLabels
from kimi_tui.tui.options import TuiOptions
from kimi_tui.tui.prompt.prompt import PromptBox
from kimi_tui.tui.screen.session_screen import SessionScreen
from kimi_tui.tui.screen.typing_activity import TypingActivity
from kimi_tui.tui.session_request import SessionRequest
from kimi_tui.tui.status.bar import StatusBar
from kimi_tui.tui.terminal.scrollback import TurnCompleted
from kimi_tui.wire.channel import Subscription, Wire
from kimi_tui.wire.events import Notification, TurnEnd
from kimi_tui.wire.permissions import PermissionList

if TYPE_CHECKING:
    from kimi_tui.tui.screen.controllers import ScreenControllers
    from kimi_tui.tui.transcript.transcript import Transcript


class ScreenReady(Message):
    """Posted when the screen is complete."""


class ScreenFrontEnd:
    """Front end of `session` on a screen. Its controllers are loaded after the first frame."""

    def __init__(
        self,
        screen: SessionScreen,
        *,
        wire: Wire,
        prompt: PromptBox,
        options: TuiOptions,
        key_labels: KeyLabels,
        notifier: TerminalNotifier,
    ) -> None:
        self._screen = screen
        self._wire = wire
        self._prompt = prompt
        self._options = options
        self._key_labels = key_labels
        self._initial_prompt = options.initial_prompt
        self._initial_checkpoint = options.initial_checkpoint
        self._choose_session = options.choose_session
        self._is_choosing = False
        """Whether the user is choosing the session to open."""
        self._controllers: ScreenControllers | None = None
        self.typing = TypingActivity(prompt=prompt, options=options)
        self.session = SessionController(
            wire=wire,
            front_end=self,
            prompt=prompt,
            attachments=prompt.attachments,
            notifier=notifier,
            clock=options.clock,
        )

    async def load(self, subscription: Subscription) -> None:
        """Complete the screen and show the messages of `subscription`."""
        from kimi_tui.tui.screen.controllers import ScreenControllers  # imports most of the app

        controllers = ScreenControllers(
            screen=self._screen,
            wire=self._wire,
            session=self.session,
            prompt=self._prompt,
            typing=self.typing,
            options=self._options,
            key_labels=self._key_labels,
        )
        controllers.load_styles()
        await self._screen.query_one("#middle").mount(
            controllers.session_view.data_bind(state=SessionScreen.state)
        )
        self._controllers = controllers
        self._prompt.completions.command_source = controllers.registry
        self._screen.run_worker(pump(subscription, self.session), group="wire")
        self._screen.app.post_message(ScreenReady())
        self._screen.query_one(StatusBar).read_branch()
        self._screen.run_worker(self._recover_draft(), group="disk")
        self._prompt.message_gate.open()

    @property
    def is_loaded(self) -> bool:
        """Whether the screen is complete."""
        return self._controllers is not None

    @property
    def controllers(self) -> "ScreenControllers":
        """The parts loaded after the first frame. No user action needs them earlier."""
        assert self._controllers is not None
        return self._controllers

    async def _recover_draft(self) -> None:
        orphan = await asyncio.to_thread(self._prompt.load)
        if orphan is not None and self._prompt.adopt_orphan(orphan):
            self.controllers.host.notify(tr("Your unsent draft was restored."))

    # the session

    def show_state(self, state: SessionViewState) -> None:
        """Pass the state to the widgets."""
        self._screen.state = state

    def show_batch(self, batch: MessageBatch) -> None:
        """Show the messages that arrived since the last frame."""
        self.controllers.show(batch)
        state = self.session.state
        if not state.is_replaying and batch.has_any(TurnEnd):
            self._screen.query_one(StatusBar).read_branch()
            self._screen.post_message(TurnCompleted(self.controllers.session_view.transcript))
        permissions = state.replies.permissions
        if batch.has_any(PermissionList) and permissions is not None and permissions.is_question:
            self.controllers.host.dialogs.show_permissions(only_unconfirmed=True)
        if state.session is not None:
            self._start()
        if state.session is not None and self._initial_checkpoint is not None and not state.is_replaying:
            self.controllers.host.timeline.show_number(self._initial_checkpoint)
            self._initial_checkpoint = None

    def _start(self) -> None:
        """Run the requests of the command line, once the session is open."""
        if (template := self._choose_session) is not None:
            self._choose_session = None
            self._screen.run_worker(self._open_chosen_session(template), group="start")
        elif self._initial_prompt and not self._is_choosing:
            self._screen.post_message(PromptBox.Submitted(self._initial_prompt, Draft(self._initial_prompt)))
            self._initial_prompt = ""

    async def _open_chosen_session(self, template: SessionRequest) -> None:
        self._is_choosing = True
        host = self.controllers.host
        chosen = await host.dialogs.choose_session(at_start=True)
        self._is_choosing = False
        if isinstance(chosen, ChosenMessage) and chosen.action == "quote":
            host.insert_in_prompt(quote_message(chosen.match))
            return
        request = chosen.session_request if isinstance(chosen, ChosenMessage) else chosen
        if request is None:
            self._start()
            return
        host.open_session(replace(request, fork=request.fork or template.fork, read_only=template.read_only))

    def show_error(self, message: str) -> None:
        """Show a notification of an error."""
        self.controllers.host.notify(message, severity="error")

    def show_failure(self, error: KimiTuiError) -> None:
        """Show in the conversation that the engine failed."""
        self.session.abandon()
        self.controllers.session_view.show(MessageBatch([_error_notice(error)]))

    async def run_command(self, command: ParsedCommand) -> CommandResult:
        """Run a slash command."""
        return await self.controllers.commands.run(command)

    async def run_in_shell(self, line: ShellLine) -> None:
        """Run a command in the user's shell."""
        await self.controllers.host.run_in_shell(line)

    async def offer_writing(self) -> None:
        """Let the user choose how to continue a read-only session."""
        await self.run_command(ParsedCommand("write"))

    # the conversation

    @property
    def transcript(self) -> "Transcript | None":
        """The conversation. None before the first frame."""
        return self._controllers.session_view.transcript if self._controllers is not None else None

    def take_unprinted_lines(self) -> list[str]:
        """Return the lines of this run's conversation that aren't in the terminal's scrollback yet."""
        if self.transcript is None or not self.transcript.is_attached:
            return []
        self.transcript.flush()
        return self.transcript.take_new_lines()

    def clear_images(self) -> None:
        """Delete the conversation's images from the terminal."""
        if self._controllers is not None:
            self._controllers.clear_images()

    def handle_terminal_focus(self) -> None:
        """Update the git branch, and ignore the click that focused the terminal."""
        if self._controllers is not None:
            self._controllers.session_view.handle_app_focus()
            self._screen.query_one(StatusBar).read_branch()

    def offer_focus(self) -> None:
        """Offer the focus to an open request."""
        if self._controllers is not None:
            self._controllers.session_view.focus_offer.schedule()


def _error_notice(error: KimiTuiError) -> Notification:
    return Notification(
        id=new_id(),
        category="session",
        type=type(error).__name__,
        source_kind="app",
        source_id="",
        title=error.what,
        body=error.hint,
        severity="error",
    )
