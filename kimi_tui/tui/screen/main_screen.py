"""The main screen: the prompt and the bars immediately, the session view after the first frame."""

from typing import TYPE_CHECKING, Literal

from textual import events, getters, on, work
from textual.app import ComposeResult
from textual.containers import Vertical

from kimi_tui.frontend.parsed_command import parse_command
from kimi_tui.frontend.terminal_notifier import TerminalNotifier
from kimi_tui.tui.keys.keymap import KeyLabels, bindings
from kimi_tui.tui.keys.tables import SCREEN_KEYS
from kimi_tui.tui.options import TuiOptions
from kimi_tui.tui.prompt.prompt import PromptBox
from kimi_tui.tui.prompt.queue_list import QueueList
from kimi_tui.tui.screen.cancel_keys import CancelKeys
from kimi_tui.tui.screen.front_end import ScreenFrontEnd
from kimi_tui.tui.screen.session_screen import SessionScreen
from kimi_tui.tui.screen.too_small_notice import TooSmallNotice
from kimi_tui.tui.status.banner import Banner
from kimi_tui.tui.status.bar import StatusBar
from kimi_tui.tui.status.header import HeaderLine
from kimi_tui.wire.channel import Wire

if TYPE_CHECKING:
    from kimi_tui.tui.screen.controllers import ScreenControllers
    from kimi_tui.tui.transcript.transcript import Transcript


class MainScreen(SessionScreen, inherit_bindings=False):
    """Header, session view, prompt and status bar."""

    BINDINGS = bindings(SCREEN_KEYS)
    AUTO_FOCUS = "PromptEditor"
    HORIZONTAL_BREAKPOINTS = [(0, "-cramped"), (40, "-narrow"), (70, "-roomy")]  # noqa: RUF012
    VERTICAL_BREAKPOINTS = [(0, "-flat"), (10, "-low"), (20, "-tall")]  # noqa: RUF012

    status_bar = getters.query_one(StatusBar)

    def __init__(self, *, wire: Wire, options: TuiOptions, notifier: TerminalNotifier) -> None:
        super().__init__()
        self._wire = wire
        self._options = options
        self._key_labels = KeyLabels(options.keymap)
        self.prompt = PromptBox(options=options, key_labels=self._key_labels)
        self.front_end = ScreenFrontEnd(
            self,
            wire=wire,
            prompt=self.prompt,
            options=options,
            key_labels=self._key_labels,
            notifier=notifier,
        )
        self.session = self.front_end.session
        self._cancel_keys = CancelKeys(
            self.front_end, prompt=self.prompt, key_labels=self._key_labels, options=options
        )

    def compose(self) -> ComposeResult:
        """Yield the regions from top to bottom, with an empty container for the session view."""
        options, state = self._options, SessionScreen.state
        yield HeaderLine(options.work_dir).data_bind(state=state)
        yield Banner().data_bind(state=state)
        yield Vertical(id="middle")
        yield QueueList().data_bind(state=state)
        yield self.prompt.data_bind(state=state)
        yield StatusBar(key_labels=self._key_labels, work_dir=options.work_dir).data_bind(state=state)
        yield TooSmallNotice(self.prompt)

    def on_mount(self) -> None:
        """Subscribe before the engine sends anything. The rest is loaded after the first frame."""
        self.call_after_refresh(self.front_end.load, self._wire.subscribe())

    @property
    def controllers(self) -> "ScreenControllers":
        """The parts loaded after the first frame. No user action needs them earlier."""
        return self.front_end.controllers

    # the prompt

    @on(PromptBox.Submitted)
    @work(group="send")
    async def _handle_submitted(self, event: PromptBox.Submitted) -> None:
        if await self.session.submit(event):
            self.action_scroll_bottom()

    @on(PromptBox.Steered)
    def _handle_steered(self, event: PromptBox.Steered) -> None:
        self.session.steer(event.text, event.draft)

    @on(PromptBox.ActionRequested)
    def _handle_prompt_action(self, event: PromptBox.ActionRequested) -> None:
        match event.action:
            case "edit_queued":
                self.session.edit_last_queued()
            case "exit":
                self.controllers.host.leave()
            case action:
                self.run_worker(self.controllers.prompt_actions.perform(action), group="command")

    @on(QueueList.Clicked)
    def _handle_queue_clicked(self) -> None:
        self.session.edit_last_queued()

    @on(PromptBox.Cleared)
    def _handle_prompt_emptied(self) -> None:
        """Offer the focus to an open request, because the prompt is empty now."""
        self.front_end.typing.record()
        self.front_end.offer_focus()

    def on_paste(self, event: events.Paste) -> None:
        """Insert pasted text into the prompt if the focused widget doesn't accept it."""
        self.prompt.editor.focus()
        self.prompt.editor.post_message(events.Paste(event.text))

    # the session view

    def on_transcript_actions_changed(self, message: "Transcript.ActionsChanged") -> None:
        """Show the selected block's actions in the status bar."""
        self.status_bar.block_actions = message.actions

    def on_letters_typed(self) -> None:
        """Record that the user typed in a request panel."""
        self.front_end.typing.record()

    def on_session_view_left(self) -> None:
        """Return the focus to the prompt."""
        self.action_focus_prompt()

    def on_screen_resume(self) -> None:
        """Offer the focus to an open request after a dialog closed."""
        self.front_end.offer_focus()

    # keys

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Disable keys that have no effect now, so that other bindings get them."""
        match action:
            case "interrupt":
                return self._cancel_keys.can_interrupt
            case "focus_approval" | "expand_approval":
                return bool(self.state.requests)
            case _:
                return self.front_end.is_loaded or action.startswith("app.")

    async def on_key(self, event: events.Key) -> None:
        """Record the time of the last key, and detect double presses."""
        self.front_end.typing.record()
        await self._cancel_keys.observe(event)

    def action_interrupt(self) -> None:
        """Close the frontmost layer, or interrupt the agent if no layer is open."""
        self._cancel_keys.interrupt()

    def action_stop(self) -> None:
        """Interrupt the running turn, or stop the commands in the user's shell."""
        self._cancel_keys.stop()

    def action_cancel(self) -> None:
        """Copy the selection, else clear the prompt, else interrupt, else quit when pressed twice."""
        self._cancel_keys.cancel(self.prompt.editor.selected_text or self.get_selected_text())

    def action_focus_prompt(self) -> None:
        """Focus the prompt."""
        self.prompt.editor.focus()

    def action_focus_approval(self) -> None:
        """Focus the open permission request or question."""
        self.controllers.session_view.focus_offer.focus_panel()

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

    @work(group="command")
    async def action_palette(self) -> None:
        """Open the command palette."""
        if text := await self.controllers.commands.choose_and_run():
            self.prompt.fill(text)

    @work(group="command")
    async def action_command(self, line: str) -> None:
        """Run a command without its slash, for keys and clicks."""
        if (command := parse_command(f"/{line}")) is not None:
            await self.front_end.run_command(command)

    def action_cycle_mode(self) -> None:
        """Switch to the next permission mode: ask, accept edits, plan."""
        if self.front_end.is_loaded:
            self.controllers.cycle_mode()
