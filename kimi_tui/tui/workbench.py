"""The workbench: the conversation with its panes, and the approvals below it.

It is put on the screen after the first frame, so that nothing it needs is imported before.
"""

from collections.abc import Callable, Sequence
from typing import Literal

from textual import getters, on, work
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget

from kimi_tui.tui.approvals.editing import edited_proposal
from kimi_tui.tui.approvals.hearing import Keyboard
from kimi_tui.tui.approvals.offer import Offer
from kimi_tui.tui.approvals.panel import ApprovalPanel
from kimi_tui.tui.approvals.questions import QuestionPanel
from kimi_tui.tui.approvals.review import Review
from kimi_tui.tui.conversation import Conversation
from kimi_tui.tui.panes.aside import Aside
from kimi_tui.tui.panes.places import Layer, PaneName, PanePlaces
from kimi_tui.tui.panes.todo import TodoPane
from kimi_tui.tui.panes.tools import ToolsPane
from kimi_tui.tui.prompt.activity import ASKS
from kimi_tui.tui.state import ScreenState
from kimi_tui.tui.transcript.transcript import Transcript
from kimi_tui.wire.channel import Outgoing
from kimi_tui.wire.events import ApprovalResponse, BtwBegin, BtwEnd
from kimi_tui.wire.requests import Answer, ApprovalRequest, QuestionRequest

_PANEL_ROWS = 9
"""What an approval may take of a low screen."""


class Workbench(Vertical):
    """Everything between the header and the prompt."""

    DEFAULT_CSS = """
    Workbench { height: 1fr; }
    """

    state: reactive[ScreenState] = reactive(ScreenState(), repaint=False)

    conversation = getters.query_one(Conversation)
    transcript = getters.query_one(Transcript)
    panel = getters.query_one(ApprovalPanel)

    class Left(Message):
        """The keyboard should go back to the prompt."""

    def __init__(
        self,
        *,
        keyboard: Keyboard,
        copy: Callable[[str], None],
        answer: Callable[[Answer], None],
        typed_ago: Callable[[], float | None],
    ) -> None:
        """`typed_ago` tells how long ago the user typed; None while a draft stands in the prompt."""
        super().__init__()
        self._keyboard = keyboard
        self._copy = copy
        self._answer = answer
        self._offer = Offer(self, asking=lambda: self._asking, typed_ago=typed_ago)
        self._questions: QuestionPanel | None = None
        self._aside: Aside | None = None
        self._places = PanePlaces(self)

    def compose(self) -> ComposeResult:
        """Conversation and panes side by side, approvals below."""
        state = Workbench.state
        with Horizontal(id="body"):
            yield Conversation(names=self._keyboard.names, clock=self._keyboard.clock, copy=self._copy)
            with Vertical(id="side"):
                yield TodoPane().data_bind(state=state)
                yield ToolsPane(clock=self._keyboard.clock).data_bind(state=state)
        yield ApprovalPanel(keyboard=self._keyboard).data_bind(state=state).add_class(ASKS)

    def watch_state(self, old: ScreenState, state: ScreenState) -> None:
        """Show the todo list when there is one; offer a new approval the keyboard."""
        if bool(old.todo) != bool(state.todo):
            self._places.arrange(has_todo=bool(state.todo))
        self._show_questions()
        if old.requests != state.requests and isinstance(self.app.screen, Review):
            self.app.screen.keep({request.id for request in state.requests})
        if state.requests[:1] != old.requests[:1]:
            self._places.end_glance()
            if state.requests:
                self.offer_panel()

    # approvals

    def offer_panel(self) -> None:
        """Give the keyboard to the open approval, once the user has not typed for a moment."""
        self._offer.make()

    def on_mount(self) -> None:
        """See where the keyboard goes."""
        self.watch(self.screen, "focused", self._offer.keyboard_moved, init=False)

    def focus_request(self) -> None:
        """Go to the open approval or question, unless the user is there already."""
        self._offer.give()

    @property
    def _asking(self) -> Widget | None:
        return (self._questions or self.panel) if self.state.requests else None

    def _show_questions(self) -> None:
        # Mounted for as long as one is open: each widget costs a little whenever the terminal gets the focus.
        asked = bool(self.state.requests) and isinstance(self.state.requests[0], QuestionRequest)
        if asked and self._questions is None:
            self._questions = QuestionPanel(
                keyboard=self._keyboard, covered=lambda: self.in_front is not None
            )
            self.mount(self._questions.data_bind(state=Workbench.state).add_class(ASKS))
        elif not asked and self._questions is not None:
            if self._questions.has_focus_within:
                self.post_message(self.Left())
            self._questions.remove()
            self._questions = None

    @on(ApprovalPanel.EditWanted)
    @work(group="edit", exclusive=True)
    async def _edit_proposal(self, event: ApprovalPanel.EditWanted) -> None:
        await self.panel.take_edit(event.request.id, await edited_proposal(self.app, event.request))

    @on(ApprovalPanel.ReviewWanted)
    def _review(self) -> None:
        asked = [request for request in self.state.requests if isinstance(request, ApprovalRequest)]
        review = Review(
            asked, names=self._keyboard.names, edit=lambda request: edited_proposal(self.app, request)
        )
        self.app.push_screen(review, self._reviewed)

    def _reviewed(self, answers: tuple[ApprovalResponse, ...] | None) -> None:
        for answer in answers or ():
            self._answer(answer)

    @on(ApprovalPanel.Answered)
    @on(QuestionPanel.Answered)
    def _answered(self, event: ApprovalPanel.Answered | QuestionPanel.Answered) -> None:
        self._answer(event.response)

    @on(ApprovalPanel.Left)
    def _panel_left(self) -> None:
        self.remove_class("-expanded")
        self._fit_panel()
        self.post_message(self.Left())

    def _fit_panel(self) -> None:
        rows = self.size.height
        leaving_some = max(rows * 6 // 10, min(rows - 1, _PANEL_ROWS))
        self.panel.fit(rows if self.has_class("-expanded") else leaving_some)
        if self._aside is not None:
            self._aside.fit(max(rows // 2, 4))

    def expand_approval(self) -> None:
        """Show the approval over the conversation, or small again."""
        self.toggle_class("-expanded")
        self._fit_panel()

    def app_focused(self) -> None:
        """The terminal is looked at again: the click that did it answers nothing."""
        self.panel.app_focused()
        if self._questions is not None:
            self._questions.app_focused()

    # side questions

    def _show_aside(self, message: BtwBegin | BtwEnd) -> None:
        if isinstance(message, BtwEnd):
            if self._aside is not None:
                self._aside.finish(message)
            return
        self.close_aside()
        self._aside = Aside(message, names=self._keyboard.names)
        self.mount(self._aside, before=self.panel)
        self.call_after_refresh(self._fit_panel)

    def close_aside(self) -> None:
        """Put the side question away."""
        if self._aside is not None:
            if self._aside.has_focus_within:
                self.post_message(self.Left())
            self._aside.remove()
            self._aside = None

    @on(Aside.Closed)
    def _aside_closed(self) -> None:
        self.close_aside()

    @on(Aside.CopyWanted)
    def _aside_copied(self, event: Aside.CopyWanted) -> None:
        self._copy(event.text)

    # the conversation

    def show(self, batch: Sequence[Outgoing]) -> None:
        """Show what arrived."""
        for message in batch:
            if isinstance(message, BtwBegin | BtwEnd):
                self._show_aside(message)
        self.conversation.show(batch)

    def page(self, pages: int) -> None:
        """Scroll the conversation, or an approval that covers it."""
        if self.has_class("-expanded"):
            self.panel.action_page(pages)
        else:
            self.transcript.action_scroll_pages(pages)

    @on(Transcript.Left)
    def _transcript_left(self) -> None:
        self.post_message(self.Left())

    # panes

    @on(ToolsPane.Marked)
    def _call_marked(self, event: ToolsPane.Marked) -> None:
        self.transcript.select_block(event.run.id)

    @on(ToolsPane.Opened)
    def _call_opened(self, event: ToolsPane.Opened) -> None:
        if (block := self.transcript.select_block(event.run.id)) is not None:
            self.conversation.open_pager(block.title, block.full_text())

    @on(ToolsPane.Left)
    def _tools_left(self) -> None:
        self.transcript.select_block(None)
        if self.is_narrow:
            self._places.hide("tools")
        self.post_message(self.Left())

    def toggle_pane(self, name: PaneName) -> None:
        """Show and focus a pane, or hide it."""
        shown = self._places.toggle(name, at_a_glance=bool(self.state.requests))
        if self.state.requests:
            self.focus_request()
        elif shown and name == "tools":
            self.query_one(ToolsPane).focus()
        elif not shown:
            self.post_message(self.Left())

    @property
    def in_front(self) -> Layer | Literal["approval", "aside"] | None:
        """What escape closes before it interrupts, wherever the keyboard is.

        That is the approval that covers the conversation, a pane that was opened for a glance while a request
        waits, a side question, or what lies over the conversation.
        """
        if self.has_class("-expanded"):
            return "approval"
        if self._places.glanced_at is not None:
            return self._places.glanced_at
        return "aside" if self._aside is not None else self._places.over

    def close_in_front(self) -> None:
        """Close that, but for the timeline, which has a room of its own."""
        match self.in_front:
            case "approval":
                self.expand_approval()
            case "aside":
                self.close_aside()
            case "todo" | "tools" as name:
                self._places.hide(name)
            case "timeline" | None:
                pass

    async def show_timeline(self, pane: Widget) -> None:
        """Put the timeline left of the conversation."""
        if not pane.is_attached:
            await self.query_one("#body").mount(pane, before="#conversation")
        self._places.show_timeline(True)

    def hide_timeline(self) -> None:
        """Give the conversation its room."""
        self._places.show_timeline(False)

    @property
    def is_narrow(self) -> bool:
        """Whether panes lie over the conversation."""
        return self._places.is_narrow

    def look_back(self, checkpoint_id: int | None) -> None:
        """Show where a checkpoint stands in the conversation; None goes back to where it was."""
        self.transcript.look_back(checkpoint_id)

    def leave(self) -> None:
        """Give the keyboard back to the prompt."""
        self.post_message(self.Left())

    def on_resize(self) -> None:
        """Panes that nobody asked for give way on a narrow terminal; approvals leave room on a low one."""
        self._places.arrange()
        self._fit_panel()
