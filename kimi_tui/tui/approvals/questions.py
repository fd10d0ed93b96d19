"""The question panel: what the model asks the user, a tab a question."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from textual import events, getters, on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.reactive import reactive
from textual.widgets import Input, Static

from kimi_tui.base.terminal import plain_line
from kimi_tui.language.saying import retell, say
from kimi_tui.language.width import cells
from kimi_tui.tui.approvals.letters import Letters, letter_of, nothing
from kimi_tui.tui.approvals.panel import GRACE_S
from kimi_tui.tui.approvals.sheets import DONE, OTHER, SOMETHING_ELSE, Sheet
from kimi_tui.tui.approvals.tabs import Tab, Tabs
from kimi_tui.tui.choices import Choices
from kimi_tui.tui.key_tables import QUESTION_KEYS
from kimi_tui.tui.keys import KeyNames, bindings
from kimi_tui.tui.state import ScreenState
from kimi_tui.wire.requests import Question, QuestionRequest, QuestionResponse

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

    def __init__(
        self,
        *,
        names: KeyNames,
        clock: Callable[[], float],
        pause_s: float,
        write: Callable[[str], None],
        covered: Callable[[], bool],
    ) -> None:
        """`covered` tells whether something lies in front that escape is for.

        `write` puts into the prompt, which takes the keyboard, what was typed before the question was seen;
        `pause_s` is how long a number waits for what follows it (`Letters`).
        """
        super().__init__()
        self._names = names
        self._clock = clock
        self._write = write
        self._letters = Letters(self, pause_s=pause_s, said=self._said)
        self._covered = covered
        self._request: QuestionRequest | None = None
        self._shown_at = 0.0
        self._focused_at = -1e9
        self._sheets: list[Sheet] = []
        self._index = 0

    def compose(self) -> ComposeResult:
        """Tabs, question, options, a field for other answers."""
        with Horizontal():
            yield Tabs()
            yield _Close(" ✕ ", id="question-close", markup=False)
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
    def question(self) -> Question | None:
        """The question that is shown."""
        return self._sheets[self._index].question if self._sheets else None

    @property
    def ready(self) -> bool:
        """Whether the request has been on screen long enough for a key to mean it."""
        return self._request is not None and self._clock() - self._shown_at >= GRACE_S

    def app_focused(self) -> None:
        """The terminal got the focus: the click that gave it is no answer."""
        self._focused_at = self._clock()

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
        if request is not None and request is not self._request:
            self._request, self._shown_at = request, self._clock()
            self._sheets = [Sheet(question) for question in request.questions]
            self._index = 0
            self._show()

    # what is shown

    def _show(self) -> None:
        self._letters.forget()
        question = self.question
        if question is None:
            return
        self.remove_class("-writing")
        if self.field.has_focus:
            self.focus()
        self.tabs.show([sheet.tab(number) for number, sheet in enumerate(self._sheets, 1)], self._index)
        self.query_one("#question-text", Static).update(plain_line(retell(question.question)))
        many = say("space ticks · enter goes on") if question.multi_select else say("enter takes it")
        turn = say(" · ← → questions") if len(self._sheets) > 1 else ""
        self.query_one("#question-hint", Static).update(
            say("↑ ↓ number · {many}{turn} · esc answers nothing", many=many, turn=turn)
        )
        ticked = self._sheets[self._index].ticked
        self._list(marked=min(ticked, default=0))

    def _list(self, *, marked: int) -> None:
        self.options.show(self._sheets[self._index].lines)
        self.options.marked = marked
        self._show_detail()

    def _show_detail(self) -> None:
        """What the marked option means, in full, where its line has no room for that."""
        choice, question = self.options.choice, self.question
        detail = ""
        if choice is not None and choice.value.isdecimal() and question is not None:
            option = question.options[int(choice.value)]
            widest = max(
                cells(text) for text in (say(SOMETHING_ELSE), *(it.label for it in question.options))
            )
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
        question = self.question
        if self.ready and question is not None and number <= len(question.options) + 1:
            self.options.marked = number - 1
            self._choose()

    def action_tick(self) -> None:
        """Choose the marked option; several may be ticked where the question allows it."""
        if self.ready:
            self._choose()

    def action_take(self) -> None:
        """Take what is ticked, else the marked option."""
        if not self.ready or not self._sheets:
            return
        sheet, choice = self._sheets[self._index], self.options.choice
        if sheet.question.multi_select and sheet.answer and choice is not None and choice.value != OTHER:
            self._go_on()
        else:
            self._choose(at_once=True)

    def action_turn(self, places: int) -> None:
        """Go to the question before or after."""
        self._turn_to(self._index + places)

    def action_dismiss(self) -> None:
        """Answer nothing."""
        if self.ready and self._request is not None:
            self.post_message(self.Answered(QuestionResponse(self._request.id, {})))

    @on(Tab.Chosen)
    def _tab_clicked(self, event: Tab.Chosen) -> None:
        event.stop()
        self._turn_to(event.index)

    @on(Choices.Chosen)
    def _clicked(self, event: Choices.Chosen) -> None:
        event.stop()
        if self._may_click:
            self._choose()

    def on_close_pressed(self) -> None:
        """The cross was clicked."""
        if self._may_click:
            self.action_dismiss()

    @property
    def _may_click(self) -> bool:
        return self.ready and self._clock() - self._focused_at >= GRACE_S

    def _turn_to(self, index: int) -> None:
        if 0 <= index < len(self._sheets):
            self._index = index
            self._show()

    # answering

    def _choose(self, *, at_once: bool = False) -> None:
        choice = self.options.choice
        if not self._sheets or choice is None:
            return
        sheet = self._sheets[self._index]
        if choice.value == OTHER:
            self._begin_own(sheet)
        elif choice.value == DONE:
            if sheet.answer:
                self._go_on()
        elif not sheet.question.multi_select:
            sheet.ticked, sheet.text = {int(choice.value)}, ""
            self._go_on()
        else:
            sheet.ticked ^= {int(choice.value)}
            if at_once:
                self._go_on()
            else:
                self._list(marked=self.options.marked)

    @on(Input.Submitted)
    def _written(self, event: Input.Submitted) -> None:
        event.stop()
        if self._sheets and (text := event.value.strip()):
            sheet = self._sheets[self._index]
            sheet.text = text
            if not sheet.question.multi_select:
                sheet.ticked.clear()
            self.focus()
            self._go_on()

    async def on_key(self, event: events.Key) -> None:
        """Escape leaves the field for an own answer; what no choice has as its key begins one."""
        letter = letter_of(event)
        if self.has_class("-writing"):
            if event.key == "escape":
                event.stop()
                self.remove_class("-writing")
                self.focus()
            elif letter is not None:  # it came before the field had the keyboard
                event.stop()
                self.field.insert_text_at_cursor(letter)
        elif letter is not None and (letter != " " or self._letters.may_be_word or not self.has_focus_within):
            event.stop()
            await self._typed(
                letter, None if letter == " " else self._names.actions(QUESTION_KEYS).get(event.key)
            )
        elif event.key == "enter":  # it says that the number was all
            await self._letters.settle()
        else:
            self._letters.forget()

    async def _typed(self, letter: str, action: str | None) -> None:
        if action is None or not self.has_focus_within:
            await self._letters.take(letter, None)
        elif not self.ready:
            await self._letters.take(letter, nothing)
        else:
            act = partial(self.app.run_action, action, self)
            await self._letters.take(letter, act, harmless=not self._is_last_word(action))

    def _is_last_word(self, action: str) -> bool:
        """Whether the action ends a question; others move the mark, tick, or begin an own answer."""
        question = self.question
        if question is None or question.multi_select:
            return False
        return action in {f"pick({number})" for number in range(1, len(question.options) + 1)}

    def _said(self, text: str) -> None:
        """What was typed is an own answer; before the question could be seen, it was meant for the prompt."""
        if not self.ready or not self._sheets:
            self._write(text)
            return
        sheet = self._sheets[self._index]
        sheet.begins_own(text[:-1])
        self._list(marked=len(sheet.question.options))
        self._begin_own(sheet)
        self.field.insert_text_at_cursor(text)

    def _begin_own(self, sheet: Sheet) -> None:
        self.add_class("-writing")
        self.field.value = sheet.text
        self.field.cursor_position = len(sheet.text)
        self.screen.set_focus(self.field)  # at once: what is typed next belongs there

    def _go_on(self) -> None:
        """The question is answered: to the next one that isn't, or off with all answers."""
        if self._request is None:
            return
        self._sheets[self._index].is_answered = True
        count = len(self._sheets)
        following = ((self._index + places) % count for places in range(1, count))
        if (left := next((at for at in following if not self._sheets[at].is_answered), None)) is not None:
            self._turn_to(left)
            return
        answers = {sheet.question.question: sheet.answer for sheet in self._sheets}
        self.post_message(self.Answered(QuestionResponse(self._request.id, answers)))


class _Close(Static):
    """A cross to click."""

    class Pressed(Message, namespace="close"):
        """It was clicked."""

    def on_click(self, event: events.Click) -> None:
        """Textual makes a click of a press and a release on the same widget."""
        event.stop()
        self.post_message(self.Pressed())
