"""The main screen: its regions, and what happens between them."""

import asyncio
from dataclasses import replace
from typing import Literal

from textual import events, getters, on, work
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.reactive import reactive
from textual.screen import Screen
from textual.widgets import Static

from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.identity import new_id
from kimi_tui.tui import outbox
from kimi_tui.tui.approvals.panel import GRACE_S, ApprovalPanel
from kimi_tui.tui.choices import Choice
from kimi_tui.tui.commands.builtin import COMMANDS, run_engine_command
from kimi_tui.tui.commands.dispatch import run_from_palette, run_line
from kimi_tui.tui.commands.host import ScreenHost
from kimi_tui.tui.commands.registry import Line, Registry, parsed
from kimi_tui.tui.dialogs.pager import Pager
from kimi_tui.tui.keys import SCREEN_KEYS, KeyNames, bindings
from kimi_tui.tui.options import TuiOptions
from kimi_tui.tui.panes.search import SearchLine
from kimi_tui.tui.panes.todo import TodoPane
from kimi_tui.tui.panes.tools import ToolsPane
from kimi_tui.tui.prompt.prompt import Prompt
from kimi_tui.tui.prompt.queue import QueueList
from kimi_tui.tui.pump import pump
from kimi_tui.tui.state import ScreenState, apply, closed
from kimi_tui.tui.status.banner import Banner
from kimi_tui.tui.status.bar import StatusBar
from kimi_tui.tui.status.git_branch import git_branch
from kimi_tui.tui.status.header import HeaderLine
from kimi_tui.tui.transcript.transcript import Transcript
from kimi_tui.wire.channel import Outgoing, Subscription, Wire
from kimi_tui.wire.commands import Command
from kimi_tui.wire.events import Notification, TurnEnd

WIDE = 100
"""Columns from which on panes have a place beside the conversation."""
_EXIT_AGAIN_S = 3.0


class WireClosed(Message):
    """The engine has gone; nothing more comes."""


class MainScreen(Screen[None], inherit_bindings=False):
    """Header, conversation with panes beside it, approvals, prompt, status bar."""

    BINDINGS = bindings(SCREEN_KEYS)
    AUTO_FOCUS = "PromptEditor"
    HORIZONTAL_BREAKPOINTS = [(0, "-cramped"), (40, "-narrow"), (WIDE, "-wide")]  # noqa: RUF012
    VERTICAL_BREAKPOINTS = [(0, "-flat"), (10, "-low"), (20, "-tall")]  # noqa: RUF012

    state: reactive[ScreenState] = reactive(ScreenState())

    transcript = getters.query_one(Transcript)
    prompt = getters.query_one(Prompt)
    panel = getters.query_one(ApprovalPanel)
    search_line = getters.query_one(SearchLine)
    queue = getters.query_one(QueueList)
    status_bar = getters.query_one(StatusBar)

    def __init__(self, *, wire: Wire, options: TuiOptions) -> None:
        super().__init__()
        self._wire = wire
        self._options = options
        self._names = KeyNames(options.keymap)
        self._registry = Registry(COMMANDS, state=lambda: self.state, run_engine_command=run_engine_command)
        self._host = ScreenHost(
            screen=self,
            wire=wire,
            state=lambda: self.state,
            last_answer=lambda: self.transcript.copy_block(),
            toggle_pane=self.toggle_pane,
            clipboard=options.clipboard,
            registry=self._registry,
            names=self._names,
            version=options.version,
        )
        self._typed_at = 0.0
        self._exit_asked_at: float | None = None
        self._pane_wishes: dict[str, bool] = {}
        self._failure: KimiTuiError | None = None

    def compose(self) -> ComposeResult:
        """The regions, from top to bottom."""
        options, state = self._options, MainScreen.state
        yield HeaderLine(options.work_dir).data_bind(state=state)
        yield Banner().data_bind(state=state)
        with Horizontal(id="body"):
            with Vertical(id="conversation"):
                yield Transcript(clock=options.clock)
                yield SearchLine()
            with Vertical(id="side"):
                yield TodoPane().data_bind(state=state)
                yield ToolsPane(clock=options.clock).data_bind(state=state)
        yield ApprovalPanel(names=self._names, clock=options.clock).data_bind(state=state)
        yield QueueList()
        yield Prompt(options=options, book=self._registry, names=self._names).data_bind(state=state)
        yield StatusBar(names=self._names).data_bind(state=state)
        yield Static("kimi-tui needs a terminal of at least 40x10.", id="too-small", markup=False)

    def on_mount(self) -> None:
        """Listen before the engine speaks; what reads the disk waits for the first frame."""
        self._pump(self._wire.subscribe())
        self.call_after_refresh(self._settle_in)

    @work(group="disk")
    async def _settle_in(self) -> None:
        if self._options.initial_prompt:
            self._submit(self._options.initial_prompt)
        self.status_bar.branch = await asyncio.to_thread(git_branch, self._options.work_dir)
        draft = await asyncio.to_thread(self.prompt.load)
        if draft is not None and self.prompt.blank:
            self.prompt.restore(draft)
            self._host.say("Your unsent draft of last time is back.")

    # from the engine

    @work(group="wire")
    async def _pump(self, subscription: Subscription) -> None:
        await pump(subscription, self.show_batch)
        self.app.post_message(WireClosed())

    def show_batch(self, batch: list[Outgoing]) -> None:
        """Show what arrived since the last frame."""
        now = self._options.clock()
        state = before = self.state
        for message in batch:
            state = apply(state, message, now=now)
        self.state = state
        self.transcript.show_all(batch)
        if any(isinstance(message, TurnEnd) for message in batch) and not state.replaying:
            self._turn_ended()
        if state.requests and state.requests[:1] != before.requests[:1]:
            self._offer_panel_after(GRACE_S)

    def watch_state(self, old: ScreenState, state: ScreenState) -> None:
        """What no widget watches by itself."""
        if old.queue != state.queue:
            self.queue.queue = state.queue
        if bool(old.todo) != bool(state.todo):
            self._show_panes()

    def show_failure(self, error: KimiTuiError) -> None:
        """The engine could not open the session: say so where the user looks."""
        self._failure = error
        self.state = replace(self.state, turn=None, sent=0, queue=())
        self.transcript.show(_notice(error))

    # to the engine

    @on(Prompt.Submitted)
    def _submitted(self, event: Prompt.Submitted) -> None:
        line = parsed(event.text)
        if line is not None:
            self._run_line(line, event.text)
        elif self._submit(event.text):
            self.prompt.sent(event.text)

    @work(group="command")
    async def _run_line(self, line: Line, text: str) -> None:
        verdict = await run_line(line, host=self._host, registry=self._registry)
        if verdict == "done" or (verdict == "send" and self._submit(text)):
            self.prompt.sent(text)

    def _submit(self, text: str) -> bool:
        if not self._may_speak():
            return False
        self.state, command = outbox.submit(self.state, text)
        self._give(command)
        self.transcript.follow()
        return True

    @on(Prompt.Steered)
    def _steered(self, event: Prompt.Steered) -> None:
        if self._may_speak():
            self.state, command = outbox.steer(self.state, event.text)
            self._give(command)
            self.prompt.sent(event.text)

    @on(Prompt.TakeBackPressed)
    def _take_back(self) -> None:
        self.state, text = outbox.take_back(self.state)
        self.prompt.fill(text)

    @on(ApprovalPanel.Answered)
    def _answered(self, event: ApprovalPanel.Answered) -> None:
        self._wire.answer(event.response)
        self.state = closed(self.state, event.response.request_id, now=self._options.clock())

    def _turn_ended(self) -> None:
        self.state, command, returned = outbox.after_turn(self.state)
        self._give(command)
        if returned:
            self.prompt.fill(returned)
        self._read_branch()

    def _give(self, command: Command | None) -> None:
        if command is not None:
            self._wire.command(command)

    def _may_speak(self) -> bool:
        if self._failure is None and not self._wire.closed:
            return True
        self._host.say("The session is over; nothing can be sent. Leave with ctrl+q.", severity="error")
        return False

    @work(group="disk")
    async def _read_branch(self) -> None:
        self.status_bar.branch = await asyncio.to_thread(git_branch, self._options.work_dir)

    # approvals and the keyboard

    def _offer_panel_after(self, delay_s: float) -> None:
        self.set_timer(max(delay_s, 0.01), self._offer_panel)

    def _offer_panel(self) -> None:
        """Give the keyboard to the open approval, unless the user is writing."""
        if self.panel.asking is None or not self.is_current or not self.prompt.blank:
            return
        since_typed = self._options.clock() - self._typed_at
        if since_typed < GRACE_S:
            self._offer_panel_after(GRACE_S - since_typed)
        else:
            self.panel.focus()

    @on(ApprovalPanel.Left)
    def _panel_left(self) -> None:
        self.remove_class("-approval-expanded")
        self.prompt.editor.focus()

    def on_key(self) -> None:
        """Remember when the user typed last."""
        self._typed_at = self._options.clock()

    def on_screen_resume(self) -> None:
        """A dialog has closed: what waited meanwhile is offered."""
        self._offer_panel_after(GRACE_S)

    def on_app_focus(self) -> None:
        """The terminal is looked at again."""
        self.panel.app_focused()
        self._read_branch()

    # keys

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Keys that mean nothing now are passed on."""
        match action:
            case "interrupt":
                return self.state.turn is not None
            case "focus_approval" | "expand_approval":
                return self.panel.asking is not None
            case _:
                return super().check_action(action, parameters)

    def action_interrupt(self) -> None:
        """Stop the running turn."""
        self.state, command = outbox.interrupt(self.state)
        self._give(command)

    def action_cancel(self) -> None:
        """Copy the selection; else clear the prompt; else interrupt; else leave, when pressed twice."""
        selected = self.prompt.editor.selected_text or self.get_selected_text()
        now = self._options.clock()
        if selected:
            self._host.copy(selected)
        elif not self.prompt.blank:
            self.prompt.discard()
        elif self.state.turn is not None:
            self.action_interrupt()
        elif self._exit_asked_at is not None and now - self._exit_asked_at < _EXIT_AGAIN_S:
            self._host.leave()
        else:
            self._exit_asked_at = now
            self._host.say("Press ctrl+c again to leave.")

    def action_focus_prompt(self) -> None:
        """Go to the prompt."""
        self.prompt.editor.focus()

    def action_focus_approval(self) -> None:
        """Go to the open approval."""
        self.panel.focus()

    def action_expand_approval(self) -> None:
        """Show the approval over the whole screen, or small again."""
        self.toggle_class("-approval-expanded")

    def action_page(self, pages: int) -> None:
        """Scroll the conversation, or an approval that fills the screen."""
        if self.has_class("-approval-expanded"):
            self.panel.action_page(pages)
        else:
            self.transcript.action_scroll_pages(pages)

    def action_scroll_top(self) -> None:
        """Go to the start of the conversation."""
        self.transcript.action_scroll_home()

    def action_scroll_end(self) -> None:
        """Go to the end of the conversation, and stay there."""
        self.transcript.follow()

    def action_toggle_pane(self, name: Literal["todo", "tools"]) -> None:
        """Show or hide a pane."""
        self.toggle_pane(name)

    def action_help(self) -> None:
        """Open the help."""
        self._host.show_help("commands")

    @work(group="command")
    async def action_palette(self) -> None:
        """Choose a command."""
        if text := await run_from_palette(host=self._host, registry=self._registry, names=self._names):
            self.prompt.fill(text)

    @work(group="command")
    async def action_command(self, name: str) -> None:
        """Run a command without an argument: what a click on the header does."""
        await run_line(Line(name, ""), host=self._host, registry=self._registry)

    @on(Prompt.ExitPressed)
    def _exit_pressed(self) -> None:
        self._host.leave()

    @on(Prompt.SearchPressed)
    @work(group="command")
    async def _search_history(self) -> None:
        entries = [Choice(value=entry, label=entry) for entry in reversed(self.prompt.history.entries)]
        if not entries:
            self._host.say("Nothing has been sent from this folder yet.")
        elif chosen := await self._host.choose("Older prompts", entries):
            self.prompt.fill(chosen)

    @on(Prompt.PastePressed)
    @work(group="clipboard")
    async def _paste(self) -> None:
        text = await self._options.clipboard.paste()
        if text:
            self.prompt.editor.insert_pasted(text)
        else:
            self._host.say(
                "The clipboard holds no text, or can't be read. Paste with the terminal's own key."
            )

    # the conversation

    @on(Transcript.CopyWanted)
    def _copy_wanted(self, event: Transcript.CopyWanted) -> None:
        self._host.copy(event.text)

    @on(Transcript.PagerWanted)
    def _pager_wanted(self, event: Transcript.PagerWanted) -> None:
        self.app.push_screen(Pager(title=event.title, text=event.text, copy=self._host.copy))

    @on(Transcript.LinkClicked)
    def _link_clicked(self, event: Transcript.LinkClicked) -> None:
        if event.url.startswith(("http://", "https://", "mailto:")):
            self.app.open_url(event.url)
        else:
            self._host.copy(event.url)

    @on(Transcript.SearchWanted)
    def _search_wanted(self) -> None:
        self.search_line.open()

    @on(SearchLine.Searched)
    def _search(self, event: SearchLine.Searched) -> None:
        self.search_line.show_count(self.transcript.search(event.text))

    @on(SearchLine.Stepped)
    def _search_stepped(self, event: SearchLine.Stepped) -> None:
        self.transcript.next_match(event.direction)

    @on(SearchLine.Closed)
    def _search_closed(self) -> None:
        self.transcript.focus()

    # panes

    @on(ToolsPane.Marked)
    def _call_marked(self, event: ToolsPane.Marked) -> None:
        self.transcript.select_block(event.run.id)

    @on(ToolsPane.Opened)
    def _call_opened(self, event: ToolsPane.Opened) -> None:
        if (block := self.transcript.select_block(event.run.id)) is not None:
            self.app.push_screen(Pager(title=block.title, text=block.full_text(), copy=self._host.copy))

    @on(ToolsPane.Left)
    def _tools_left(self) -> None:
        self.transcript.select_block(None)
        self.prompt.editor.focus()

    def toggle_pane(self, name: Literal["todo", "tools"]) -> None:
        """Show or hide a pane."""
        self._pane_wishes[name] = not self.has_class(f"-show-{name}")
        self._show_panes()

    def _show_panes(self) -> None:
        wide = self.app.size.width >= WIDE
        todo = self._pane_wishes.get("todo", wide and bool(self.state.todo))
        tools = self._pane_wishes.get("tools", False)
        self.set_class(todo, "-show-todo")
        self.set_class(tools, "-show-tools")
        self.set_class(todo or tools, "-show-side")

    def on_resize(self, event: events.Resize) -> None:
        """Panes that nobody asked for give way on a narrow terminal."""
        self._show_panes()


def _notice(error: KimiTuiError) -> Notification:
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
