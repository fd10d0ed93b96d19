"""The session view: the conversation with its panes, and the request panels below it.

The session view is mounted after the first frame, so that its imports don't delay the first frame.
"""

from typing import Literal

from textual import getters, on, work
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.reactive import reactive

from kimi_tui.config.startup_settings import ThinkingDisplay
from kimi_tui.frontend.message_batch import MessageBatch
from kimi_tui.frontend.session_controller import SessionController
from kimi_tui.frontend.session_state import SessionViewState
from kimi_tui.tui.approvals.focus_offer import FocusOffer
from kimi_tui.tui.approvals.panel import ApprovalPanel
from kimi_tui.tui.approvals.questions import QuestionPanel
from kimi_tui.tui.approvals.request_panel import KeyboardConfig
from kimi_tui.tui.commands.command_host import CommandHost, InfoPage
from kimi_tui.tui.conversation_pane import ConversationPane
from kimi_tui.tui.panes.info_panel import InfoPanel
from kimi_tui.tui.panes.layout import Layer, PaneLayout, PaneName
from kimi_tui.tui.panes.side_question import SideQuestionPane
from kimi_tui.tui.panes.todo import TodoPane, has_open_todos
from kimi_tui.tui.panes.tools import ToolsPane
from kimi_tui.tui.prompt.activity_edge import REQUEST_CLASS
from kimi_tui.tui.screen.typing_activity import TypingActivity
from kimi_tui.tui.transcript.transcript import Transcript
from kimi_tui.wire.events import ApprovalResponse, BtwEnd, SideQuestionEvent
from kimi_tui.wire.requests import ApprovalRequest, QuestionRequest

_PANEL_ROWS = 9
"""Maximum height of a permission request on a low screen."""


class SessionView(Vertical):
    """Everything between the header and the prompt."""

    DEFAULT_CSS = """
    SessionView { height: 1fr; }
    """

    state: reactive[SessionViewState] = reactive(SessionViewState(), repaint=False)

    conversation = getters.query_one(ConversationPane)
    transcript = getters.query_one(Transcript)
    panel = getters.query_one(ApprovalPanel)

    class Left(Message):
        """Posted to return the focus to the prompt."""

    def __init__(
        self,
        *,
        host: CommandHost,
        session: SessionController,
        typing: TypingActivity,
        keyboard: KeyboardConfig,
        thinking: ThinkingDisplay,
    ) -> None:
        super().__init__()
        self._thinking = thinking
        self._host = host
        self._session = session
        self._keyboard = keyboard
        self.focus_offer = FocusOffer(self, typing=typing)
        """Moves the focus to the open request."""
        self._questions: QuestionPanel | None = None
        self._side_question: SideQuestionPane | None = None
        self._info: InfoPanel | None = None
        self.pane_layout = PaneLayout(self)

    def compose(self) -> ComposeResult:
        """Yield the conversation and the panes side by side, with the request panel below."""
        state = SessionView.state
        with Horizontal(id="body"):
            yield ConversationPane(
                transcript=Transcript(clock=self._keyboard.clock, thinking=self._thinking),
                key_labels=self._keyboard.key_labels,
                copier=self._host,
            )
            with Vertical(id="side"):
                yield TodoPane().data_bind(state=state)
                yield ToolsPane(clock=self._keyboard.clock).data_bind(state=state)
        yield ApprovalPanel(keyboard=self._keyboard).data_bind(state=state).add_class(REQUEST_CLASS)

    def watch_state(self, old: SessionViewState, state: SessionViewState) -> None:
        """Update the panes and the request panels, and offer the focus to a new request."""
        if has_open_todos(old.todo) != has_open_todos(state.todo):
            self.pane_layout.arrange(has_todo=has_open_todos(state.todo))
        self._show_questions()
        if self._info is not None:
            self._info.state = state
        self.focus_offer.open_panel = (self._questions or self.panel) if state.requests else None
        if old.requests != state.requests:
            self._update_review(state)
        if state.requests[:1] != old.requests[:1]:
            self.pane_layout.end_peek()
            if state.requests:
                self.focus_offer.schedule()

    # approvals

    def on_mount(self) -> None:
        """Watch the screen's focus."""
        self.watch(self.screen, "focused", self.focus_offer.handle_focus_change, init=False)

    def _update_review(self, state: SessionViewState) -> None:
        from kimi_tui.tui.approvals.batch_review import BatchReview  # not needed before the first request

        if isinstance(self.app.screen, BatchReview):
            self.app.screen.update_requests({request.id for request in state.requests})

    def _show_questions(self) -> None:
        # Mounted only while a question is open: each widget adds work when the terminal gets the focus.
        has_question = bool(self.state.requests) and isinstance(self.state.requests[0], QuestionRequest)
        if has_question and self._questions is None:
            self._questions = QuestionPanel(keyboard=self._keyboard, view=self)
            self.mount(self._questions.data_bind(state=SessionView.state).add_class(REQUEST_CLASS))
        elif not has_question and self._questions is not None:
            if self._questions.has_focus_within:
                self.post_message(self.Left())
            self._questions.remove()
            self._questions = None

    @on(ApprovalPanel.EditRequested)
    @work(group="edit", exclusive=True)
    async def _edit_proposal(self, event: ApprovalPanel.EditRequested) -> None:
        from kimi_tui.tui.approvals.edit_proposal import edit_proposal

        await self.panel.apply_edit_result(event.request.id, await edit_proposal(self.app, event.request))

    @on(ApprovalPanel.ReviewRequested)
    def _review(self) -> None:
        from kimi_tui.tui.approvals.batch_review import BatchReview

        requests = [request for request in self.state.requests if isinstance(request, ApprovalRequest)]
        review = BatchReview(requests, key_labels=self._keyboard.key_labels)
        self.app.push_screen(review, self._submit_review)

    def _submit_review(self, answers: tuple[ApprovalResponse, ...] | None) -> None:
        for answer in answers or ():
            self._session.answer(answer)

    @on(ApprovalPanel.Answered)
    @on(QuestionPanel.Answered)
    def _handle_answered(self, event: ApprovalPanel.Answered | QuestionPanel.Answered) -> None:
        self._session.answer(event.response)

    @on(ApprovalPanel.FocusReleased)
    def _handle_panel_left(self) -> None:
        self.remove_class("-expanded")
        self._fit_panel()
        self.post_message(self.Left())

    def _fit_panel(self) -> None:
        rows = self.size.height
        panel_rows = max(rows * 6 // 10, min(rows - 1, _PANEL_ROWS))
        self.panel.set_max_rows(rows if self.has_class("-expanded") else panel_rows)
        if self._side_question is not None:
            self._side_question.fit(max(rows // 2, 4))
        if self._info is not None:
            self._info.fit(rows * 2 // 3)

    def expand_approval(self) -> None:
        """Toggle whether the permission request covers the conversation."""
        self.toggle_class("-expanded")
        self._fit_panel()

    def handle_app_focus(self) -> None:
        """Ignore the click that focused the terminal."""
        self.panel.handle_app_focus()
        if self._questions is not None:
            self._questions.handle_app_focus()

    # side questions

    def _show_side_question(self, message: SideQuestionEvent) -> None:
        if isinstance(message, BtwEnd):
            if self._side_question is not None:
                self._side_question.finish(message)
            return
        self.close_side_question()
        self._side_question = SideQuestionPane(message, key_labels=self._keyboard.key_labels)
        self.mount(self._side_question, before=self.panel)
        self.call_after_refresh(self._fit_panel)

    def close_side_question(self) -> None:
        """Close the side question."""
        if self._side_question is not None:
            if self._side_question.has_focus_within:
                self.post_message(self.Left())
            self._side_question.remove()
            self._side_question = None

    @on(SideQuestionPane.Closed)
    def _handle_side_question_closed(self) -> None:
        self.close_side_question()

    @on(SideQuestionPane.CopyRequested)
    def _handle_side_question_copy(self, event: SideQuestionPane.CopyRequested) -> None:
        self._host.copy(event.text)

    # the panel about the session

    def show_info(self, page: InfoPage) -> None:
        """Open the panel about the session and focus it, unless a request is open."""
        if self._info is None:
            self._info = InfoPanel(page, host=self._host, key_labels=self._keyboard.key_labels)
            self._info.state = self.state
            self.mount(self._info, before=self.panel)
            self.call_after_refresh(self._fit_panel)
        else:
            self._info.show(page)
        if not self.state.requests:
            self._info.focus()

    @on(InfoPanel.Closed)
    def close_info(self, event: InfoPanel.Closed | None = None) -> None:
        """Close the panel about the session."""
        if self._info is not None:
            if self._info.has_focus and (event is None or event.returns_focus):
                self.post_message(self.Left())
            self._info.remove()
            self._info = None

    # the conversation

    def show(self, batch: MessageBatch) -> None:
        """Show new messages."""
        for message in batch.side_questions:
            self._show_side_question(message)
        self.conversation.show(batch)

    def scroll_pages(self, pages: int) -> None:
        """Scroll the conversation, or the permission request that covers it."""
        if self.has_class("-expanded"):
            self.panel.action_page(pages)
        else:
            self.transcript.action_scroll_pages(pages)

    @on(Transcript.Left)
    def _handle_transcript_left(self) -> None:
        self.post_message(self.Left())

    # panes

    @on(ToolsPane.Highlighted)
    def _handle_call_highlighted(self, event: ToolsPane.Highlighted) -> None:
        self.transcript.select_block(event.run.id)

    @on(ToolsPane.Opened)
    def _handle_call_opened(self, event: ToolsPane.Opened) -> None:
        if (block := self.transcript.select_block(event.run.id)) is not None:
            self.conversation.open_pager(block.title, block.full_text())

    @on(ToolsPane.Left)
    @on(TodoPane.Left)
    def _handle_pane_left(self, event: ToolsPane.Left | TodoPane.Left) -> None:
        if isinstance(event, ToolsPane.Left):
            self.transcript.select_block(None)
        self.pane_layout.hide("tools" if isinstance(event, ToolsPane.Left) else "todo")
        self.post_message(self.Left())

    def toggle_pane(self, name: PaneName) -> None:
        """Show and focus a pane, or hide it."""
        shown = self.pane_layout.toggle(name, peek=bool(self.state.requests))
        if self.state.requests:
            self.focus_offer.focus_panel()
        elif shown and name == "tools":
            self.query_one(ToolsPane).focus()
        elif not shown:
            self.post_message(self.Left())

    @property
    def front_layer(self) -> Layer | Literal["approval", "side_question", "info"] | None:
        """The layer that escape closes before it interrupts, regardless of the focus.

        The layers in order: the permission request that covers the conversation, the focused todo
        list, the panel about the session, a pane opened while a request is open, the side question, a pane
        that covers the conversation.
        """
        if self.has_class("-expanded"):
            return "approval"
        if self.query_one(TodoPane).has_focus:
            return "todo"
        if self._info is not None:
            return "info"
        if self.pane_layout.peeked_pane is not None:
            return self.pane_layout.peeked_pane
        return "side_question" if self._side_question is not None else self.pane_layout.overlay

    def close_front_layer(self) -> None:
        """Close the front layer, except for the timeline, which has its own controller."""
        match self.front_layer:
            case "approval":
                self.expand_approval()
            case "side_question":
                self.close_side_question()
            case "info":
                self.close_info()
            case "todo" | "tools" as name:
                had_focus = self.query_one(TodoPane).has_focus
                self.pane_layout.hide(name)
                if had_focus:
                    self.post_message(self.Left())
            case "timeline" | None:
                pass

    def on_resize(self) -> None:
        """Arrange the panes and fit the request panel to the new size."""
        self.pane_layout.arrange()
        self._fit_panel()
