"""The main screen: prompt and bars at once, the workbench after the first frame, and what links them."""

import asyncio
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Literal

from textual import events, getters, on, work
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message
from textual.reactive import Reactive, reactive
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Static

from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.identity import new_id
from kimi_tui.language.saying import later, say
from kimi_tui.tui.attention import Attention
from kimi_tui.tui.catching_up import apply_all
from kimi_tui.tui.key_tables import SCREEN_KEYS
from kimi_tui.tui.keys import KeyNames, bindings
from kimi_tui.tui.keys_first import keys_of
from kimi_tui.tui.options import TuiOptions
from kimi_tui.tui.outbox import all_heard
from kimi_tui.tui.prompt.drafts import Draft
from kimi_tui.tui.prompt.editor import PromptEditor
from kimi_tui.tui.prompt.prompt import Prompt
from kimi_tui.tui.prompt.queue import QueueList
from kimi_tui.tui.pump import pump
from kimi_tui.tui.scrollback import TurnShown
from kimi_tui.tui.state import ScreenState
from kimi_tui.tui.status.banner import Banner
from kimi_tui.tui.status.bar import StatusBar
from kimi_tui.tui.status.header import HeaderLine
from kimi_tui.tui.taken_back import TakenBack
from kimi_tui.tui.talk import Talk
from kimi_tui.tui.twice import Twice
from kimi_tui.wire.channel import Outgoing, Subscription, Wire
from kimi_tui.wire.commands import Shutdown, StopShell
from kimi_tui.wire.events import Notification, TurnEnd

if TYPE_CHECKING:
    from kimi_tui.tui.furniture import Furniture
    from kimi_tui.tui.submissions import Submissions
    from kimi_tui.tui.transcript.transcript import Transcript

_EXIT_AGAIN_S = 3.0
_TWICE_S = 0.8
_TOO_SMALL = later("This terminal is too small.\nkimi-tui needs 40 x 10,\nor try: kimi-tui --print")


class Furnished(Message):
    """The screen is complete."""


class MainScreen(Screen[None], inherit_bindings=False):
    """Header, workbench, prompt, status bar."""

    BINDINGS = bindings(SCREEN_KEYS)
    AUTO_FOCUS = "PromptEditor"
    HORIZONTAL_BREAKPOINTS = [(0, "-cramped"), (40, "-narrow"), (70, "-roomy")]  # noqa: RUF012
    VERTICAL_BREAKPOINTS = [(0, "-flat"), (10, "-low"), (20, "-tall")]  # noqa: RUF012

    state: reactive[ScreenState] = reactive(ScreenState(), repaint=False)
    focused: Reactive[Widget | None] = Reactive(None, repaint=False)
    """As in any screen; here the two widgets that look different then are drawn, not all of it."""

    prompt = getters.query_one(Prompt)
    queue = getters.query_one(QueueList)
    status_bar = getters.query_one(StatusBar)

    def __init__(self, *, wire: Wire, options: TuiOptions, attention: Attention) -> None:
        super().__init__()
        self._attention = attention
        self._wire = wire
        self._options = options
        self._names = KeyNames(options.keymap)
        self._furniture: Furniture | None = None
        self._submissions: Submissions
        self._typed_at = -1e9
        self._escape = Twice(within_s=_TWICE_S, clock=options.clock)
        self._exit = Twice(within_s=_EXIT_AGAIN_S, clock=options.clock)
        self._taken_back = TakenBack(prompt=lambda: self.prompt, say=lambda text: self.furnished.say(text))
        self._talk = Talk(
            owner=self,
            wire=wire,
            prompt=lambda: self.prompt,
            complain=lambda text: self.furnished.say(text, severity="error"),
            clock=options.clock,
            album=lambda: self.prompt.attachments.album,
        )

    def compose(self) -> ComposeResult:
        """The regions, from top to bottom; the workbench has its place already."""
        options, state = self._options, MainScreen.state
        yield HeaderLine(options.work_dir).data_bind(state=state)
        yield Banner().data_bind(state=state)
        yield Vertical(id="middle")
        yield QueueList()
        yield Prompt(options=options, names=self._names).data_bind(state=state)
        yield StatusBar(names=self._names, work_dir=options.work_dir).data_bind(state=state)
        yield Static(say(_TOO_SMALL), id="too-small", markup=False)

    def on_mount(self) -> None:
        """Listen before the engine speaks; the rest comes after the first frame."""
        subscription = self._wire.subscribe()
        self.call_after_refresh(self._furnish, subscription)

    def _on_timer_update(self) -> None:
        """Lay out and draw what has changed; at the next tick when a key is on its way to the prompt."""
        if not (isinstance(self.focused, PromptEditor) and keys_of(self.app).has_waiting):
            super()._on_timer_update()

    async def _furnish(self, subscription: Subscription) -> None:
        from kimi_tui.tui.furniture import Furniture  # most of the app: after the first frame
        from kimi_tui.tui.submissions import Submissions

        furniture = Furniture(
            screen=self,
            wire=self._wire,
            options=self._options,
            names=self._names,
            state=lambda: self.state,
            answer=self._talk.answer,
            interrupt=self._talk.interrupt,
            typed_ago=self._typed_ago,
            write=self.prompt.go_on_with,
        )
        furniture.load_styles()
        await self.query_one("#middle").mount(furniture.workbench.data_bind(state=MainScreen.state))
        self._furniture = furniture
        self._submissions = Submissions(
            prompt=self.prompt, talk=self._talk, furniture=furniture, state=lambda: self.state
        )
        self.prompt.completions.book = furniture.registry
        self._pump(subscription)
        self.app.post_message(Furnished())
        self.status_bar.read_branch()
        self._take_over_draft()
        self.prompt.doorway.open()

    @property
    def furnished(self) -> "Furniture":
        """What came after the first frame. Nothing that a user can reach asks for it before."""
        assert self._furniture is not None
        return self._furniture

    @work(group="disk")
    async def _take_over_draft(self) -> None:
        orphan = await asyncio.to_thread(self.prompt.load)
        if orphan is not None and self.prompt.adopt(orphan):
            self.furnished.say(say("Your unsent draft of last time is back."))

    @property
    def transcript(self) -> "Transcript | None":
        """The conversation; None before the first frame is out."""
        return self._furniture.workbench.transcript if self._furniture is not None else None

    def last_words(self) -> list[str]:
        """What of this run's conversation stands nowhere yet but here, as lines for a terminal."""
        if self.transcript is None or not self.transcript.is_attached:
            return []
        self.transcript.flush()
        return self.transcript.take_new()

    def forget_pictures(self) -> None:
        """Nobody looks at the pictures any more: the terminal needn't keep them."""
        if self._furniture is not None:
            self._furniture.forget_pictures()

    # from the engine

    @work(group="wire")
    async def _pump(self, subscription: Subscription) -> None:
        await pump(subscription, self.show_batch)

    def show_batch(self, batch: list[Outgoing]) -> None:
        """Show what arrived since the last frame."""
        now = self._options.clock()
        before = self.state
        self.state = state = apply_all(before, batch, now=now)
        self.furnished.show(batch)
        self._taken_back.follow(batch)
        ends = [message for message in batch if isinstance(message, TurnEnd)]
        if ends and not state.replaying:
            self._talk.turn_ended(ends[-1])
            self.status_bar.read_branch()
            self.post_message(TurnShown(self.furnished.workbench.transcript))
        self._attention.follow(self.state, batch)
        first = self._options.initial_prompt
        if before.session is None and state.session is not None and first:
            self.post_message(Prompt.Submitted(first, Draft(first)))

    def close_session(self) -> None:
        """Have the engine save and end. What the user sends from now on is kept as a draft."""
        self.state = replace(self.state, closing=True)
        self._wire.command(Shutdown())

    def engine_ended(self) -> None:
        """The engine has written down all that it was given."""
        self.state = all_heard(self.state)

    def watch_state(self, old: ScreenState, state: ScreenState) -> None:
        """What no widget watches by itself."""
        if old.queue != state.queue:
            self.queue.queue = state.queue

    def show_failure(self, error: KimiTuiError) -> None:
        """The engine could not go on: say so where the user looks."""
        self._talk.break_off()
        self.furnished.workbench.show([_notice(error)])

    # to the engine

    @on(Prompt.Submitted)
    @work(group="send")
    async def _submitted(self, event: Prompt.Submitted) -> None:
        await self._submissions.take(event)

    @on(Prompt.Commanded)
    @work(group="shell")
    async def _commanded(self, event: Prompt.Commanded) -> None:
        self.prompt.remember(event.line.remembered, event.draft)
        await self.furnished.run_in_shell(event.line)

    @on(Prompt.EditorPressed)
    @work(group="command")
    async def _write_in_editor(self) -> None:
        await self.furnished.edit_prompt(self.prompt)

    @on(Prompt.Steered)
    def _steered(self, event: Prompt.Steered) -> None:
        self._talk.steer(event)

    @on(QueueList.Clicked)
    @on(Prompt.TakeBackPressed)
    def _take_back(self) -> None:
        self._talk.take_back()

    def on_transcript_offered(self, message: "Transcript.Offered") -> None:
        """What can be done with the selected block stands where keys are named."""
        self.status_bar.acts = message.acts

    # keys

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Keys that mean nothing now are passed on."""
        match action:
            case "interrupt":
                return self.state.turn is not None or bool(self.state.shells) or self._covered
            case "focus_approval" | "expand_approval":
                return bool(self.state.requests)
            case _:
                return self._furniture is not None or action.startswith("app.")

    async def on_key(self, event: events.Key) -> None:
        """Remember when the user typed last; escape twice in an empty prompt opens the timeline."""
        self._has_typed()
        twice = event.key == "escape" and self._escape.again()
        if event.key != "escape" or not self.prompt.editor.has_focus:
            self._escape.forget()
        if event.key == "escape" and self.state.turn is None and self.state.scan is not None:
            self._talk.interrupt()  # a jump that only looks yet
        if twice and self._furniture is not None and self.state.turn is None and self.prompt.blank:
            event.stop()  # in the timeline, escape leaves it
            await self.furnished.toggle_pane("timeline")

    def on_letters_typed(self) -> None:
        """Something was typed at a panel."""
        self._has_typed()

    def _has_typed(self) -> None:
        self._typed_at = self._options.clock()

    @on(Prompt.Emptied)
    def _prompt_emptied(self) -> None:
        """Nothing is being written any more: what waits is offered the keyboard."""
        self._has_typed()
        if self._furniture is not None:
            self._furniture.workbench.offer_panel()

    def on_paste(self, event: events.Paste) -> None:
        """What is pasted where nothing takes it, such as an approval or a pane, goes into the prompt."""
        self.prompt.editor.focus()
        self.prompt.editor.post_message(events.Paste(event.text))

    def _typed_ago(self) -> float | None:
        return self._options.clock() - self._typed_at if self.prompt.blank else None

    def action_interrupt(self) -> None:
        """Close what lies in front, innermost first; else stop what runs."""
        if self._covered:
            self.furnished.close_in_front()
        else:
            self.action_stop()

    def action_stop(self) -> None:
        """Stop the running turn, or what runs in the user's shell."""
        if self.prompt.mode == "shell" and self.state.shells:
            self._wire.command(StopShell())
        else:
            self._talk.interrupt()

    @property
    def _covered(self) -> bool:
        return self._furniture is not None and self._furniture.workbench.in_front is not None

    def action_cycle_mode(self) -> None:
        """Go to the next mode: asking, accepting edits, planning."""
        if self._furniture is not None:
            self._furniture.cycle_mode()

    def action_cancel(self) -> None:
        """Copy the selection; else clear the prompt; else interrupt; else leave, when pressed twice."""
        selected = self.prompt.editor.selected_text or self.get_selected_text()
        if selected:
            self.furnished.copy(selected)
        elif not self.prompt.blank:
            self.prompt.discard()
        elif self.state.turn is not None or self.state.shells:
            self.action_interrupt()
        elif self._exit.again():
            self.furnished.leave()
        else:
            self.furnished.say(say("Press {key} again to leave.", key=self._names.first("app.cancel")))

    @on(Prompt.ExitPressed)
    def _exit_pressed(self) -> None:
        self.furnished.leave()

    def action_focus_prompt(self) -> None:
        """Go to the prompt."""
        self.prompt.editor.focus()

    def on_workbench_left(self) -> None:
        """The workbench needs the keyboard no more."""
        self.action_focus_prompt()

    def action_focus_approval(self) -> None:
        """Go to the open approval or question."""
        self.furnished.workbench.focus_request()

    def action_expand_approval(self) -> None:
        """Show the approval over the whole screen, or small again."""
        self.furnished.workbench.expand_approval()

    def action_page(self, pages: int) -> None:
        """Scroll the conversation."""
        self.furnished.workbench.page(pages)

    def action_scroll_top(self) -> None:
        """Go to the start of the conversation."""
        self.furnished.workbench.transcript.action_scroll_home()

    def action_scroll_bottom(self) -> None:
        """Go to the end of the conversation, and stay there."""
        self.furnished.workbench.transcript.follow()

    async def action_search(self) -> None:
        """Search the conversation."""
        await self.furnished.workbench.conversation.open_search()

    async def action_toggle_pane(self, name: Literal["todo", "tools", "timeline"]) -> None:
        """Show or hide a pane."""
        await self.furnished.toggle_pane(name)

    def action_help(self) -> None:
        """Open the help."""
        self.furnished.host.show_help("commands")

    @work(group="command")
    async def action_palette(self) -> None:
        """Choose a command."""
        if text := await self.furnished.run_palette():
            self.prompt.fill(text)

    @work(group="command")
    async def action_command(self, name: str) -> None:
        """Run a command without an argument: what a click on the header does."""
        await self.furnished.run_line(f"/{name}")

    @on(Prompt.MenuPressed)
    @work(group="command")
    async def _open_menu(self) -> None:
        await self.furnished.run_menu(self.prompt)

    @on(Prompt.SearchPressed)
    @work(group="command")
    async def _search_history(self) -> None:
        if chosen := await self.furnished.choose_older(self.prompt.history.entries):
            self.prompt.fill(chosen)

    @on(Prompt.PastePressed)
    @work(group="clipboard")
    async def _paste(self) -> None:
        from kimi_tui.tui.prompt.pasting import paste  # only for those who paste

        warn = partial(self.furnished.say, severity="warning")
        await paste(self._options.clipboard, self.prompt, warn=warn)

    def on_screen_resume(self) -> None:
        """A dialog has closed: what waited meanwhile is offered."""
        if self._furniture is not None:
            self._furniture.workbench.offer_panel()

    def terminal_focused(self) -> None:
        """The terminal is looked at again."""
        if self._furniture is not None:
            self._furniture.workbench.app_focused()
            self.status_bar.read_branch()


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
