"""The question panel: what the model asks the user, a tab a question."""

from collections.abc import Callable
from dataclasses import dataclass

from textual import events, getters, on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.reactive import reactive
from textual.widgets import Input, Static

from kimi_tui.base.terminal import plain_line
from kimi_tui.language.saying import retell, say
from kimi_tui.language.width import cells
from kimi_tui.tui.approvals.hearing import Hearing, Keyboard, Weight
from kimi_tui.tui.approvals.letters import letter_of
from kimi_tui.tui.approvals.sheets import DONE, OTHER, SOMETHING_ELSE, Sheet, Sheets
from kimi_tui.tui.approvals.tabs import Tab, Tabs
from kimi_tui.tui.choices import Choices
from kimi_tui.tui.key_tables import QUESTION_KEYS
from kimi_tui.tui.keys import bindings
from kimi_tui.tui.state import ScreenState
from kimi_tui.wire.requests import QuestionRequest, QuestionResponse

_LABEL_ROOM = 10
"""Cells around a label and its description in the list."""


class QuestionPanel(Vertical, can_focus=True):
    """The open questions, while there are any. Options are chosen by number, by the mark, or by mouse."""

    DEFAULT_CSS = """
    QuestionPanel { height: auto; }
    QuestionPanel > Horizontal { height: 1; }
    QuestionPanel Tabs { width: 1fr; }
    QuestionPanel #question-close { width: auto; height: 1; }
    QuestionPanel #question-text { height: auto; max-height: 6; }
    QuestionPanel Choices { max-height: 8; }
    QuestionPanel #question-detail { height: auto; max-height: 4; display: none; }
    QuestionPanel Input { display: none; }
    QuestionPanel Input, QuestionPanel Input:focus { height: 1; border: none; padding: 0; }
    QuestionPanel.-writing Input { display: block; }
    QuestionPanel #question-hint { height: 1; text-wrap: nowrap; text-overflow: ellipsis; }
    """
    BINDINGS = bindings(QUESTION_KEYS)

    state: reactive[ScreenState] = reactive(ScreenState(), repaint=False)

    options = getters.query_one(Choices)
    tabs = getters.query_one(Tabs)
    field = getters.query_one(Input)

    @dataclass
    class Answered(Message):
        """The user answered every question, or none of them."""

        response: QuestionResponse

    def __init__(self, *, keyboard: Keyboard, covered: Callable[[], bool]) -> None:
        """`covered` tells whether something lies in front that escape is for."""
        super().__init__()
        self._keyboard = keyboard
        self._hearing = Hearing(
            self, keyboard=keyboard, keys=QUESTION_KEYS, weigh=self._weigh, said=self._said
        )
        self._covered = covered
        self._sheets: Sheets | None = None

    def compose(self) -> ComposeResult:
        """Tabs, question, options, a field for other answers."""
        with Horizontal():
            yield Tabs()
            yield Static(" ✕ ", id="question-close", markup=False)
        yield Static(id="question-text", markup=False)
        yield Choices()
        yield Static(id="question-detail", markup=False)
        field = Input(
            placeholder=say("your own answer; enter takes it, esc goes back"), select_on_focus=False
        )
        field.cursor_blink = False
        yield field
        yield Static(id="question-hint", markup=False)

    @property
    def ready(self) -> bool:
        """Whether the request has been on screen long enough for a key to mean it."""
        return self._sheets is not None and self._hearing.takes_keys

    def app_focused(self) -> None:
        """The terminal got the focus: the click that gave it is no answer."""
        self._hearing.terminal_focused()

    def on_mount(self) -> None:
        """Show the question for which the panel was made."""
        self.watch(self.options, "marked", self._show_detail, init=False)
        self._follow(self.state)

    def on_resize(self) -> None:
        """What has room on its line depends on the width."""
        self._show_detail()

    def watch_state(self, state: ScreenState) -> None:
        """Show the request at the head of the queue, if it is a question."""
        if self.is_mounted:
            self._follow(state)

    def _follow(self, state: ScreenState) -> None:
        head = state.requests[0] if state.requests else None
        request = head if isinstance(head, QuestionRequest) and head.questions else None
        if request is not None and (self._sheets is None or request is not self._sheets.request):
            self._sheets = Sheets(request)
            self._hearing.begin()
            self._show(self._sheets)

    # what is shown

    def _show(self, sheets: Sheets) -> None:
        sheet = sheets.front
        self.remove_class("-writing")
        if self.field.has_focus:
            self.focus()
        self.tabs.show(sheets.tabs, sheets.at)
        self.query_one("#question-text", Static).update(plain_line(retell(sheet.question.question)))
        many = say("space ticks · enter goes on") if sheet.question.multi_select else say("enter takes it")
        turn = say(" · ← → questions") if len(sheets) > 1 else ""
        self.query_one("#question-hint", Static).update(
            say("↑ ↓ number · {many}{turn} · esc answers nothing", many=many, turn=turn)
        )
        self._list(sheet, marked=min(sheet.ticked, default=0))

    def _list(self, sheet: Sheet, *, marked: int) -> None:
        self.options.show(sheet.lines)
        self.options.marked = marked
        self._show_detail()

    def _show_detail(self) -> None:
        """What the marked option means, in full, where its line has no room for that."""
        choice, sheets = self.options.choice, self._sheets
        detail = ""
        if choice is not None and choice.value.isdecimal() and sheets is not None:
            options = sheets.front.question.options
            option = options[int(choice.value)]
            widest = max(cells(text) for text in (say(SOMETHING_ELSE), *(it.label for it in options)))
            if widest + cells(option.description) + _LABEL_ROOM > self.options.size.width > 0:
                detail = plain_line(f"{retell(option.label)}: {retell(option.description)}")
        line = self.query_one("#question-detail", Static)
        line.update(detail)
        line.display = bool(detail)

    # keys and mouse

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """While an own answer is typed, keys are letters; escape is first for what lies in front."""
        if action in ("move", "pick", "take", "tick", "turn", "dismiss"):
            return not self.has_class("-writing") and not (action == "dismiss" and self._covered())
        return super().check_action(action, parameters)

    def action_move(self, lines: int) -> None:
        """Move the mark."""
        self.options.move(lines)

    def action_pick(self, number: int) -> None:
        """Choose an option by its number."""
        sheets = self._sheets
        if sheets is not None and self.ready and number <= len(sheets.front.question.options) + 1:
            self.options.marked = number - 1
            self._choose()

    def action_tick(self) -> None:
        """Choose the marked option; several may be ticked where the question allows it."""
        if self.ready:
            self._choose()

    def action_take(self) -> None:
        """Take what is ticked, else the marked option."""
        if self._sheets is None or not self.ready:
            return
        sheet, choice = self._sheets.front, self.options.choice
        if sheet.question.multi_select and sheet.answer and choice is not None and choice.value != OTHER:
            self._go_on(self._sheets)
        else:
            self._choose(at_once=True)

    def action_turn(self, places: int) -> None:
        """Go to the question before or after."""
        if self._sheets is not None:
            self._turn_to(self._sheets, self._sheets.at + places)

    def action_dismiss(self) -> None:
        """Answer nothing."""
        if self._sheets is not None and self.ready:
            self.post_message(self.Answered(QuestionResponse(self._sheets.request.id, {})))

    @on(Tab.Chosen)
    def _tab_clicked(self, event: Tab.Chosen) -> None:
        event.stop()
        if self._sheets is not None:
            self._turn_to(self._sheets, event.index)

    @on(Choices.Chosen)
    def _clicked(self, event: Choices.Chosen) -> None:
        event.stop()
        if self.ready and self._hearing.takes_clicks:
            self._choose()

    def on_click(self, event: events.Click) -> None:
        """The cross answers nothing."""
        if event.widget is not None and event.widget.id == "question-close":
            event.stop()
            if self._hearing.takes_clicks:
                self.action_dismiss()

    def _turn_to(self, sheets: Sheets, at: int) -> None:
        if 0 <= at < len(sheets):
            sheets.at = at
            self._hearing.forget()
            self._show(sheets)

    # answering

    def _choose(self, *, at_once: bool = False) -> None:
        choice, sheets = self.options.choice, self._sheets
        if sheets is None or choice is None:
            return
        sheet = sheets.front
        if choice.value == OTHER:
            self._begin_own(sheet)
        elif choice.value == DONE:
            if sheet.answer:
                self._go_on(sheets)
        elif not sheet.question.multi_select:
            sheet.ticked, sheet.text = {int(choice.value)}, ""
            self._go_on(sheets)
        else:
            sheet.ticked ^= {int(choice.value)}
            if at_once:
                self._go_on(sheets)
            else:
                self._list(sheet, marked=self.options.marked)

    def _go_on(self, sheets: Sheets) -> None:
        """The question is answered: to the next one that isn't, or off with all answers."""
        sheets.front.is_answered = True
        if (left := sheets.next_open) is not None:
            self._turn_to(sheets, left)
        else:
            self.post_message(self.Answered(sheets.response))

    # what is typed

    async def on_key(self, event: events.Key) -> None:
        """Escape leaves the field for an own answer; what no choice has as its key begins one."""
        if not self.has_class("-writing"):
            await self._hearing.key(event)
        elif event.key == "escape":
            event.stop()
            self.remove_class("-writing")
            self.focus()
        elif (letter := letter_of(event)) is not None:  # it came before the field had the keyboard
            event.stop()
            self.field.insert_text_at_cursor(letter)

    def _weigh(self, action: str) -> Weight:
        """What ends a question is an answer; other keys move the mark, tick, or begin an own answer."""
        if self._sheets is None or not self.ready:
            return "nothing"
        question = self._sheets.front.question
        picks = {f"pick({number})" for number in range(1, len(question.options) + 1)}
        return "answer" if action in picks and not question.multi_select else "step"

    def _said(self, text: str) -> None:
        """What was typed is an own answer; before the question could be seen, it was meant for the prompt."""
        if self._sheets is None or not self.ready:
            self._keyboard.write(text)
            return
        sheet = self._sheets.front
        sheet.begins_own(text[:-1])
        self._list(sheet, marked=len(sheet.question.options))
        self._begin_own(sheet)
        self.field.insert_text_at_cursor(text)

    def _begin_own(self, sheet: Sheet) -> None:
        self.add_class("-writing")
        self.field.value = sheet.text
        self.field.cursor_position = len(sheet.text)
        self.screen.set_focus(self.field)  # at once: what is typed next belongs there

    @on(Input.Submitted)
    def _written(self, event: Input.Submitted) -> None:
        event.stop()
        if self._sheets is not None and (text := event.value.strip()):
            sheet = self._sheets.front
            sheet.text = text
            if not sheet.question.multi_select:
                sheet.ticked.clear()
            self.focus()
            self._go_on(self._sheets)
