"""Panel for the model's questions, one tab per question."""

from dataclasses import dataclass
from typing import Protocol

from rich.cells import cell_len
from textual import events, getters, on
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.message import Message
from textual.reactive import reactive
from textual.widgets import Input, Static

from kimi_tui.base.terminal_text import sanitize_line
from kimi_tui.frontend.session_state import SessionViewState
from kimi_tui.i18n.translate import tr, translate_message
from kimi_tui.tui.approvals.letter_debounce import letter_of
from kimi_tui.tui.approvals.question_tabs import DONE, OTHER, OTHER_LABEL, QuestionTab, QuestionTabs
from kimi_tui.tui.approvals.request_panel import InputKind, KeyboardConfig, RequestPanel
from kimi_tui.tui.keys.keymap import bindings
from kimi_tui.tui.keys.tables import QUESTION_KEYS
from kimi_tui.tui.widgets.choice_list import ChoiceList
from kimi_tui.tui.widgets.tabs import Tab, Tabs
from kimi_tui.wire.requests import QuestionRequest, QuestionResponse

_QUESTION_ACTIONS = frozenset(
    {"move", "choose_option", "toggle_option", "submit_selection", "switch_question", "dismiss"}
)
_LABEL_MARGIN = 10
"""Number of cells around a label and its description in the list."""


class LayeredView(Protocol):
    """The view around the panel."""

    @property
    def front_layer(self) -> str | None:
        """The layer in front of the conversation, if any. Escape closes it first."""


class QuestionPanel(RequestPanel):
    """Shows the open questions. Options are chosen by number, with the highlight, or with the mouse."""

    DEFAULT_CSS = """
    QuestionPanel { height: auto; }
    QuestionPanel > Horizontal { height: 1; }
    QuestionPanel Tabs { width: 1fr; }
    QuestionPanel #question-close { width: auto; height: 1; }
    QuestionPanel #question-text { height: auto; max-height: 6; }
    QuestionPanel ChoiceList { max-height: 8; }
    QuestionPanel #question-detail { height: auto; max-height: 4; display: none; }
    QuestionPanel Input { display: none; }
    QuestionPanel Input, QuestionPanel Input:focus { height: 1; border: none; padding: 0; }
    QuestionPanel.-writing Input { display: block; }
    QuestionPanel #question-hint { height: 1; text-wrap: nowrap; text-overflow: ellipsis; }
    """
    BINDINGS = bindings(QUESTION_KEYS)

    state: reactive[SessionViewState] = reactive(SessionViewState(), repaint=False)

    options = getters.query_one(ChoiceList)
    tabs = getters.query_one(Tabs)
    field = getters.query_one(Input)

    @dataclass
    class Answered(Message):
        """Posted when the user answered all questions or dismissed them."""

        response: QuestionResponse

    def __init__(self, *, keyboard: KeyboardConfig, view: LayeredView) -> None:
        super().__init__(keyboard=keyboard, keys=QUESTION_KEYS)
        self._view = view
        self._question_tabs: QuestionTabs | None = None

    def compose(self) -> ComposeResult:
        """Yield tabs, question, options, and an input for free-text answers."""
        with Horizontal():
            yield Tabs()
            yield Static(" ✕ ", id="question-close", markup=False)
        yield Static(id="question-text", markup=False)
        yield ChoiceList()
        yield Static(id="question-detail", markup=False)
        field = Input(placeholder=tr("Your answer · enter to submit · esc to cancel"), select_on_focus=False)
        field.cursor_blink = False
        yield field
        yield Static(id="question-hint", markup=False)

    @property
    def is_ready(self) -> bool:
        """Whether the request has been visible for long enough to accept a key."""
        return self._question_tabs is not None and self.accepts_keys

    def on_mount(self) -> None:
        """Show the first question."""
        self.watch(self.options, "highlighted", self._show_detail, init=False)
        self._update_from_state(self.state)

    def on_resize(self) -> None:
        """Update the description, because the width determines whether it fits next to its option."""
        self._show_detail()

    def watch_state(self, state: SessionViewState) -> None:
        """Show the first open request if it is a question."""
        if self.is_mounted:
            self._update_from_state(state)

    def _update_from_state(self, state: SessionViewState) -> None:
        head = state.requests[0] if state.requests else None
        request = head if isinstance(head, QuestionRequest) and head.questions else None
        if request is not None and (
            self._question_tabs is None or request is not self._question_tabs.request
        ):
            self._question_tabs = QuestionTabs(request)
            self.start_grace_period()
            self._show_question(self._question_tabs)

    # display

    def _show_question(self, question_tabs: QuestionTabs) -> None:
        tab = question_tabs.current
        self.remove_class("-writing")
        if self.field.has_focus:
            self.focus()
        self.tabs.show(question_tabs.tab_labels, question_tabs.current_index)
        self.query_one("#question-text", Static).update(
            sanitize_line(translate_message(tab.question.question))
        )
        keys = (
            tr("space to select · enter to continue") if tab.question.multi_select else tr("enter to select")
        )
        turn = tr(" · ← → questions") if len(question_tabs) > 1 else ""
        self.query_one("#question-hint", Static).update(
            tr("↑ ↓ or number · {keys}{turn} · esc to dismiss", keys=keys, turn=turn)
        )
        self._show_options(tab, highlighted=min(tab.selected_indexes, default=0))

    def _show_options(self, tab: QuestionTab, *, highlighted: int) -> None:
        self.options.show(tab.choices)
        self.options.highlighted = highlighted
        self._show_detail()

    def _show_detail(self) -> None:
        """Show the highlighted option's description in full if it doesn't fit on its line."""
        choice, question_tabs = self.options.choice, self._question_tabs
        detail = ""
        if choice is not None and choice.value.isdecimal() and question_tabs is not None:
            options = question_tabs.current.question.options
            option = options[int(choice.value)]
            widest = max(cell_len(text) for text in (tr(OTHER_LABEL), *(it.label for it in options)))
            if widest + cell_len(option.description) + _LABEL_MARGIN > self.options.size.width > 0:
                detail = sanitize_line(
                    f"{translate_message(option.label)}: {translate_message(option.description)}"
                )
        line = self.query_one("#question-detail", Static)
        line.update(detail)
        line.display = bool(detail)

    # keys and mouse

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Disable the keys while a free-text answer is typed, and escape while a widget in front handles
        it.
        """
        if action in _QUESTION_ACTIONS:
            is_covered = self._view.front_layer is not None
            return not self.has_class("-writing") and not (action == "dismiss" and is_covered)
        return super().check_action(action, parameters)

    def action_move(self, lines: int) -> None:
        """Move the highlight."""
        self.options.move(lines)

    def action_choose_option(self, number: int) -> None:
        """Choose an option by its number."""
        question_tabs = self._question_tabs
        if (
            question_tabs is not None
            and self.is_ready
            and number <= len(question_tabs.current.question.options) + 1
        ):
            self.options.highlighted = number - 1
            self._choose()

    def action_toggle_option(self) -> None:
        """Choose the highlighted option, or toggle it if several can be selected."""
        if self.is_ready:
            self._choose()

    def action_submit_selection(self) -> None:
        """Submit the selected options, or the highlighted one if none is selected."""
        if self._question_tabs is None or not self.is_ready:
            return
        tab, choice = self._question_tabs.current, self.options.choice
        if tab.question.multi_select and tab.answer and choice is not None and choice.value != OTHER:
            self._show_next_or_submit(self._question_tabs)
        else:
            self._choose(submits=True)

    def action_switch_question(self, places: int) -> None:
        """Show the previous or the next question."""
        if self._question_tabs is not None:
            self._switch_tab(self._question_tabs, self._question_tabs.current_index + places)

    def action_dismiss(self) -> None:
        """Dismiss all questions without an answer."""
        if self._question_tabs is not None and self.is_ready:
            self.post_message(self.Answered(QuestionResponse(self._question_tabs.request.id, {})))

    @on(Tab.Chosen)
    def _handle_tab_click(self, event: Tab.Chosen) -> None:
        event.stop()
        if self._question_tabs is not None:
            self._switch_tab(self._question_tabs, event.index)

    @on(ChoiceList.Chosen)
    def _handle_click(self, event: ChoiceList.Chosen) -> None:
        event.stop()
        if self.is_ready and self.accepts_clicks:
            self._choose()

    def on_click(self, event: events.Click) -> None:
        """Dismiss the questions when the cross is clicked."""
        if event.widget is not None and event.widget.id == "question-close":
            event.stop()
            if self.accepts_clicks:
                self.action_dismiss()

    def _switch_tab(self, question_tabs: QuestionTabs, index: int) -> None:
        if 0 <= index < len(question_tabs):
            question_tabs.current_index = index
            self.drop_pending_letter()
            self._show_question(question_tabs)

    # answering

    def _choose(self, *, submits: bool = False) -> None:
        choice, question_tabs = self.options.choice, self._question_tabs
        if question_tabs is None or choice is None:
            return
        tab = question_tabs.current
        if choice.value == OTHER:
            self._open_answer_input(tab)
        elif choice.value == DONE:
            if tab.answer:
                self._show_next_or_submit(question_tabs)
        elif not tab.question.multi_select:
            tab.selected_indexes, tab.own_answer = {int(choice.value)}, ""
            self._show_next_or_submit(question_tabs)
        else:
            tab.selected_indexes ^= {int(choice.value)}
            if submits:
                self._show_next_or_submit(question_tabs)
            else:
                self._show_options(tab, highlighted=self.options.highlighted)

    def _show_next_or_submit(self, question_tabs: QuestionTabs) -> None:
        """Mark the question as answered. Show the next unanswered one, or submit all answers."""
        question_tabs.current.is_answered = True
        if (next_index := question_tabs.next_open_index) is not None:
            self._switch_tab(question_tabs, next_index)
        else:
            self.post_message(self.Answered(question_tabs.response))

    # typing

    async def on_key(self, event: events.Key) -> None:
        """Begin a free-text answer with a letter that selects nothing. Escape closes the input."""
        if not self.has_class("-writing"):
            await self.handle_unused_key(event)
        elif event.key == "escape":
            event.stop()
            self.remove_class("-writing")
            self.focus()
        elif (letter := letter_of(event)) is not None:  # it arrived before the input had the focus
            event.stop()
            self.field.insert_text_at_cursor(letter)

    def classify_action(self, action: str) -> InputKind:
        """Classify keys that end a question as answers and all others as steps."""
        if self._question_tabs is None or not self.is_ready:
            return "nothing"
        question = self._question_tabs.current.question
        choosing = {f"choose_option({number})" for number in range(1, len(question.options) + 1)}
        return "answer" if action in choosing and not question.multi_select else "step"

    def handle_text(self, text: str) -> None:
        """Begin a free-text answer with `text`, or send it to the prompt if the question has only just
        appeared.
        """
        if self._question_tabs is None or not self.is_ready:
            super().handle_text(text)
            return
        tab = self._question_tabs.current
        tab.deselect_numbers(text[:-1])
        self._show_options(tab, highlighted=len(tab.question.options))
        self._open_answer_input(tab)
        self.field.insert_text_at_cursor(text)

    def _open_answer_input(self, tab: QuestionTab) -> None:
        self.add_class("-writing")
        self.field.value = tab.own_answer
        self.field.cursor_position = len(tab.own_answer)
        self.screen.set_focus(self.field)  # immediately, so that the next key goes there

    @on(Input.Submitted)
    def _handle_submit(self, event: Input.Submitted) -> None:
        event.stop()
        if self._question_tabs is not None and (text := event.value.strip()):
            tab = self._question_tabs.current
            tab.own_answer = text
            if not tab.question.multi_select:
                tab.selected_indexes.clear()
            self.focus()
            self._show_next_or_submit(self._question_tabs)
