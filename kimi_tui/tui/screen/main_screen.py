"""The main screen: the prompt and the bars immediately, the session view after the first frame."""

import asyncio
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Literal

from textual import events, getters, on, work
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message
from textual.reactive import reactive
from textual.widgets import Static

from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.ids import new_id
from kimi_tui.frontend.double_press import DoublePress
from kimi_tui.frontend.drafts import Draft
from kimi_tui.frontend.message_batch import MessageBatch
from kimi_tui.frontend.prompt_queue import acknowledge_all
from kimi_tui.frontend.pump import pump
from kimi_tui.frontend.replay_state import apply_batch
from kimi_tui.frontend.session_controller import SessionController
from kimi_tui.frontend.session_state import SessionViewState
from kimi_tui.frontend.terminal_notifier import TerminalNotifier
from kimi_tui.i18n.translate import tr, tr_lazy
from kimi_tui.tui.keys.keymap import KeyLabels, bindings
from kimi_tui.tui.keys.tables import SCREEN_KEYS
from kimi_tui.tui.options import TuiOptions
from kimi_tui.tui.prompt.prompt import PromptBox
from kimi_tui.tui.prompt.queue_list import QueueList
from kimi_tui.tui.screen.prompt_restore import PromptRestorer
from kimi_tui.tui.status.banner import Banner
from kimi_tui.tui.status.bar import StatusBar
from kimi_tui.tui.status.header import HeaderLine
from kimi_tui.tui.terminal.key_screen import KeyScreen
from kimi_tui.tui.terminal.scrollback import TurnCompleted
from kimi_tui.wire.channel import Outgoing, Subscription, Wire
from kimi_tui.wire.commands import Shutdown, StopShell
from kimi_tui.wire.events import Notification, Reverted, TurnEnd

if TYPE_CHECKING:
    from kimi_tui.tui.screen.controllers import ScreenControllers
    from kimi_tui.tui.screen.submissions import SubmissionRouter
    from kimi_tui.tui.transcript.transcript import Transcript

_EXIT_PRESS_S = 3.0
_DOUBLE_PRESS_S = 0.8
_TOO_SMALL = tr_lazy("This terminal is too small.\nkimi-tui needs 40 x 10,\nor try: kimi-tui --print")


class ScreenReady(Message):
    """Posted when the screen is complete."""


class MainScreen(KeyScreen, inherit_bindings=False):
    """Header, session view, prompt and status bar."""

    BINDINGS = bindings(SCREEN_KEYS)
    AUTO_FOCUS = "PromptEditor"
    HORIZONTAL_BREAKPOINTS = [(0, "-cramped"), (40, "-narrow"), (70, "-roomy")]  # noqa: RUF012
    VERTICAL_BREAKPOINTS = [(0, "-flat"), (10, "-low"), (20, "-tall")]  # noqa: RUF012

    state: reactive[SessionViewState] = reactive(SessionViewState(), repaint=False)

    prompt = getters.query_one(PromptBox)
    queue = getters.query_one(QueueList)
    status_bar = getters.query_one(StatusBar)

    def __init__(self, *, wire: Wire, options: TuiOptions, notifier: TerminalNotifier) -> None:
        super().__init__()
        self._notifier = notifier
        self._wire = wire
        self._options = options
        self._key_labels = KeyLabels(options.keymap)
        self._controllers: ScreenControllers | None = None
        self._submission_router: SubmissionRouter
        self._typed_at = -1e9
        self._escape_press = DoublePress(within_s=_DOUBLE_PRESS_S, clock=options.clock)
        self._exit_press = DoublePress(within_s=_EXIT_PRESS_S, clock=options.clock)
        self._prompt_restorer = PromptRestorer(
            prompt=lambda: self.prompt, notify=lambda text: self.controllers.notify(text)
        )
        self._session_controller = SessionController(
            owner=self,
            wire=wire,
            prompt=lambda: self.prompt,
            show_error=lambda text: self.controllers.notify(text, severity="error"),
            clock=options.clock,
            image_attachments=lambda: self.prompt.attachments.images,
        )

    def compose(self) -> ComposeResult:
        """Yield the regions from top to bottom, with an empty container for the session view."""
        options, state = self._options, MainScreen.state
        yield HeaderLine(options.work_dir).data_bind(state=state)
        yield Banner().data_bind(state=state)
        yield Vertical(id="middle")
        yield QueueList()
        yield PromptBox(options=options, key_labels=self._key_labels).data_bind(state=state)
        yield StatusBar(key_labels=self._key_labels, work_dir=options.work_dir).data_bind(state=state)
        yield Static(tr(_TOO_SMALL), id="too-small", markup=False)

    def on_mount(self) -> None:
        """Subscribe before the engine sends anything. The rest is loaded after the first frame."""
        subscription = self._wire.subscribe()
        self.call_after_refresh(self._load_controllers, subscription)

    async def _load_controllers(self, subscription: Subscription) -> None:
        from kimi_tui.tui.screen.controllers import (
            ScreenControllers,  # imports most of the app
        )
        from kimi_tui.tui.screen.submissions import SubmissionRouter

        controllers = ScreenControllers(
            screen=self,
            wire=self._wire,
            options=self._options,
            key_labels=self._key_labels,
            state=lambda: self.state,
            session_controller=self._session_controller,
            idle_s=self._idle_s,
            write=self.prompt.insert_and_focus,
        )
        controllers.load_styles()
        await self.query_one("#middle").mount(controllers.session_view.data_bind(state=MainScreen.state))
        self._controllers = controllers
        self._submission_router = SubmissionRouter(
            prompt=self.prompt,
            session_controller=self._session_controller,
            controllers=controllers,
            state=lambda: self.state,
        )
        self.prompt.completions.command_source = controllers.registry
        self._pump(subscription)
        self.app.post_message(ScreenReady())
        self.status_bar.read_branch()
        self._recover_draft()
        self.prompt.message_gate.open()

    @property
    def controllers(self) -> "ScreenControllers":
        """The parts loaded after the first frame. Users can't reach anything that needs them before."""
        assert self._controllers is not None
        return self._controllers

    @work(group="disk")
    async def _recover_draft(self) -> None:
        orphan = await asyncio.to_thread(self.prompt.load)
        if orphan is not None and self.prompt.adopt_orphan(orphan):
            self.controllers.notify(tr("Your unsent draft was restored."))

    @property
    def transcript(self) -> "Transcript | None":
        """The conversation; None before the first frame."""
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

    # from the engine

    @work(group="wire")
    async def _pump(self, subscription: Subscription) -> None:
        await pump(subscription, self)

    def show_batch(self, batch: list[Outgoing]) -> None:
        """Show the messages that arrived since the last frame."""
        now = self._options.clock()
        before = self.state
        messages = MessageBatch(batch)
        self.state = state = apply_batch(before, messages.session, now=now)
        self.controllers.show(messages)
        for reverted in messages.of_type(Reverted):
            self._prompt_restorer.handle_revert(reverted)
        turn_ends = messages.of_type(TurnEnd)
        if turn_ends and not state.is_replaying:
            self._session_controller.handle_turn_end(turn_ends[-1])
            self.status_bar.read_branch()
            self.post_message(TurnCompleted(self.controllers.session_view.transcript))
        self._notifier.observe(self.state, messages)
        initial_prompt = self._options.initial_prompt
        if before.session is None and state.session is not None and initial_prompt:
            self.post_message(PromptBox.Submitted(initial_prompt, Draft(initial_prompt)))

    def close_session(self) -> None:
        """Tell the engine to save and stop. Prompts sent later are kept as a draft."""
        self.state = replace(self.state, is_closing=True)
        self._wire.command(Shutdown())

    def handle_engine_end(self) -> None:
        """Mark all prompts as saved: the engine has written everything it received."""
        self.state = acknowledge_all(self.state)

    def watch_state(self, old: SessionViewState, state: SessionViewState) -> None:
        """Update the queue, which isn't bound to the state."""
        if old.queue != state.queue:
            self.queue.queue = state.queue

    def show_failure(self, error: KimiTuiError) -> None:
        """Show in the conversation that the engine failed."""
        self._session_controller.abandon()
        self.controllers.session_view.show(MessageBatch([_error_notice(error)]))

    # to the engine

    @on(PromptBox.Submitted)
    @work(group="send")
    async def _handle_submitted(self, event: PromptBox.Submitted) -> None:
        await self._submission_router.route(event)

    @on(PromptBox.ShellSubmitted)
    @work(group="shell")
    async def _handle_shell_command(self, event: PromptBox.ShellSubmitted) -> None:
        self.prompt.remember(event.line.history_entry, event.draft)
        await self.controllers.run_in_shell(event.line)

    @on(PromptBox.EditorPressed)
    @work(group="command")
    async def _edit_prompt(self) -> None:
        await self.controllers.edit_prompt(self.prompt)

    @on(PromptBox.Steered)
    def _handle_steered(self, event: PromptBox.Steered) -> None:
        self._session_controller.steer(event)

    @on(QueueList.Clicked)
    @on(PromptBox.EditQueuedPressed)
    def _edit_last_queued(self) -> None:
        self._session_controller.edit_last_queued()

    def on_transcript_actions_changed(self, message: "Transcript.ActionsChanged") -> None:
        """Show the selected block's actions in the status bar."""
        self.status_bar.block_actions = message.actions

    # keys

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Disable keys that have no effect now, so that other bindings get them."""
        match action:
            case "interrupt":
                return self.state.turn is not None or bool(self.state.shell_ids) or self._is_covered
            case "focus_approval" | "expand_approval":
                return bool(self.state.requests)
            case _:
                return self._controllers is not None or action.startswith("app.")

    async def on_key(self, event: events.Key) -> None:
        """Record the time of the last key. Escape pressed twice in an empty prompt opens the timeline."""
        self._record_typing()
        twice = event.key == "escape" and self._escape_press.press()
        if event.key != "escape" or not self.prompt.editor.has_focus:
            self._escape_press.reset()
        if event.key == "escape" and self.state.turn is None and self.state.snapshot_progress is not None:
            self._session_controller.interrupt()  # cancels a revert that is still scanning files
        if twice and self._controllers is not None and self.state.turn is None and self.prompt.is_blank:
            event.stop()  # the timeline would close again on escape
            await self.controllers.toggle_pane("timeline")

    def on_letters_typed(self) -> None:
        """Record that the user typed in a request panel."""
        self._record_typing()

    def _record_typing(self) -> None:
        self._typed_at = self._options.clock()

    @on(PromptBox.Cleared)
    def _handle_prompt_emptied(self) -> None:
        """Offer the focus to an open request: the prompt is empty now."""
        self._record_typing()
        if self._controllers is not None:
            self._controllers.session_view.offer_focus()

    def on_paste(self, event: events.Paste) -> None:
        """Insert text into the prompt if it was pasted where nothing accepts it."""
        self.prompt.editor.focus()
        self.prompt.editor.post_message(events.Paste(event.text))

    def _idle_s(self) -> float | None:
        return self._options.clock() - self._typed_at if self.prompt.is_blank else None

    def action_interrupt(self) -> None:
        """Close the frontmost layer, or interrupt the agent if no layer is open."""
        if self._is_covered:
            self.controllers.close_front_layer()
        else:
            self.action_stop()

    def action_stop(self) -> None:
        """Interrupt the running turn, or stop the commands in the user's shell."""
        if self.prompt.mode == "shell" and self.state.shell_ids:
            self._wire.command(StopShell())
        else:
            self._session_controller.interrupt()

    @property
    def _is_covered(self) -> bool:
        return self._controllers is not None and self._controllers.session_view.front_layer is not None

    def action_cycle_mode(self) -> None:
        """Switch to the next permission mode: ask, accept edits, plan."""
        if self._controllers is not None:
            self._controllers.cycle_mode()

    def action_cancel(self) -> None:
        """Copy the selection, else clear the prompt, else interrupt, else quit when pressed twice."""
        selected = self.prompt.editor.selected_text or self.get_selected_text()
        if selected:
            self.controllers.copy(selected)
        elif not self.prompt.is_blank:
            self.prompt.discard()
        elif self.state.turn is not None or self.state.shell_ids:
            self.action_interrupt()
        elif self._exit_press.press():
            self.controllers.leave()
        else:
            self.controllers.notify(
                tr("Press {key} again to quit", key=self._key_labels.first_key("app.cancel"))
            )

    @on(PromptBox.ExitPressed)
    def _handle_exit_pressed(self) -> None:
        self.controllers.leave()

    def action_focus_prompt(self) -> None:
        """Focus the prompt."""
        self.prompt.editor.focus()

    def on_session_view_left(self) -> None:
        """Return the focus to the prompt."""
        self.action_focus_prompt()

    def action_focus_approval(self) -> None:
        """Focus the open permission request or question."""
        self.controllers.session_view.focus_request()

    def action_expand_approval(self) -> None:
        """Toggle whether the permission request covers the conversation."""
        self.controllers.session_view.expand_approval()

    def action_page(self, pages: int) -> None:
        """Scroll the conversation."""
        self.controllers.session_view.scroll_pages(pages)

    def action_scroll_top(self) -> None:
        """Scroll to the start of the conversation."""
        self.controllers.session_view.transcript.action_scroll_home()

    def action_scroll_bottom(self) -> None:
        """Scroll to the end of the conversation and follow it."""
        self.controllers.session_view.transcript.scroll_to_end()

    async def action_search(self) -> None:
        """Search the conversation."""
        await self.controllers.session_view.conversation.open_search()

    async def action_toggle_pane(self, name: Literal["todo", "tools", "timeline"]) -> None:
        """Show or hide a pane."""
        await self.controllers.toggle_pane(name)

    def action_help(self) -> None:
        """Open the help."""
        self.controllers.host.show_help("commands")

    @work(group="command")
    async def action_palette(self) -> None:
        """Open the command palette."""
        if text := await self.controllers.run_palette():
            self.prompt.fill(text)

    @work(group="command")
    async def action_command(self, name: str) -> None:
        """Run a command without an argument, for clicks on the header."""
        await self.controllers.run_line(f"/{name}")

    @on(PromptBox.MenuPressed)
    @work(group="command")
    async def _open_menu(self) -> None:
        await self.controllers.run_menu(self.prompt)

    @on(PromptBox.SearchPressed)
    @work(group="command")
    async def _search_history(self) -> None:
        if chosen := await self.controllers.choose_history_entry(self.prompt.history.entries):
            self.prompt.fill(chosen)

    @on(PromptBox.PastePressed)
    @work(group="clipboard")
    async def _paste_clipboard(self) -> None:
        from kimi_tui.tui.prompt.clipboard_paste import paste_clipboard  # imported only when it is used

        warn = partial(self.controllers.notify, severity="warning")
        await paste_clipboard(self._options.clipboard, self.prompt, warn=warn)

    def on_screen_resume(self) -> None:
        """Offer the focus to an open request after a dialog closed."""
        if self._controllers is not None:
            self._controllers.session_view.offer_focus()

    def handle_terminal_focus(self) -> None:
        """Update the git branch, and ignore the click that focused the terminal."""
        if self._controllers is not None:
            self._controllers.session_view.handle_app_focus()
            self.status_bar.read_branch()


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
