"""The question panel: what the model asks the user, one question at a time."""

from collections.abc import Callable
from dataclasses import dataclass

from textual import events, getters, on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.reactive import reactive
from textual.widgets import Input, Static

from kimi_tui.base.terminal import plain_line
from kimi_tui.tui.approvals.panel import GRACE_S
from kimi_tui.tui.choices import Choice, Choices
from kimi_tui.tui.keys import QUESTION_KEYS, bindings
from kimi_tui.tui.state import ScreenState
from kimi_tui.wire.requests import Question, QuestionRequest, QuestionResponse

_OTHER = "other"


class QuestionPanel(Vertical, can_focus=True):
    """The open question, while there is one. Options are chosen by number, or by moving the mark."""

    DEFAULT_CSS = """
    QuestionPanel { height: auto; }
    QuestionPanel > Horizontal { height: 1; }
    QuestionPanel #question-header { width: 1fr; height: 1; }
    QuestionPanel #question-count { width: auto; height: 1; }
    QuestionPanel #question-text { height: auto; max-height: 6; }
    QuestionPanel Choices { max-height: 8; }
    QuestionPanel Input { height: 1; border: none; padding: 0; display: none; }
    QuestionPanel.-writing Input { display: block; }
    QuestionPanel #question-hint { height: 1; }
    """
    BINDINGS = bindings(QUESTION_KEYS)

    state: reactive[ScreenState] = reactive(ScreenState(), layout=False)

    options = getters.query_one(Choices)
    field = getters.query_one(Input)

    @dataclass
    class Answered(Message):
        """The user answered every question, or none of them."""

        response: QuestionResponse

    def __init__(self, *, clock: Callable[[], float]) -> None:
        super().__init__()
        self._clock = clock
        self._request: QuestionRequest | None = None
        self._shown_at = 0.0
        self._index = 0
        self._answers: dict[str, str] = {}
        self._ticked: set[int] = set()

    def compose(self) -> ComposeResult:
        """Header, question, options, a field for other answers."""
        with Horizontal():
            yield Static(id="question-header", markup=False)
            yield Static(id="question-count", markup=False)
        yield Static(id="question-text", markup=False)
        yield Choices()
        field = Input(placeholder="your own answer; enter takes it, esc goes back")
        field.cursor_blink = False
        yield field
        yield Static(id="question-hint", markup=False)

    @property
    def question(self) -> Question | None:
        """The question that is shown."""
        return self._request.questions[self._index] if self._request is not None else None

    @property
    def ready(self) -> bool:
        """Whether the request has been on screen long enough for a key to mean it."""
        return self._request is not None and self._clock() - self._shown_at >= GRACE_S

    def on_mount(self) -> None:
        """Show the question for which the panel was made."""
        self._follow(self.state)

    def watch_state(self, state: ScreenState) -> None:
        """Show the request at the head of the queue, if it is a question."""
        if self.is_mounted:
            self._follow(state)

    def _follow(self, state: ScreenState) -> None:
        head = state.requests[0] if state.requests else None
        request = head if isinstance(head, QuestionRequest) and head.questions else None
        if request is not None and request is not self._request:
            self._request, self._shown_at = request, self._clock()
            self._index, self._answers = 0, {}
            self._show()

    def _show(self) -> None:
        request, question = self._request, self.question
        if request is None or question is None:
            return
        self._ticked.clear()
        self.remove_class("-writing")
        count = len(request.questions)
        self.query_one("#question-header", Static).update(plain_line(question.header) or "Question")
        self.query_one("#question-count", Static).update(f"{self._index + 1} of {count}" if count > 1 else "")
        self.query_one("#question-text", Static).update(plain_line(question.question))
        many = "space ticks · enter goes on" if question.multi_select else "enter takes it"
        back = " · ← goes back" if self._index else ""
        self.query_one("#question-hint", Static).update(
            f"↑ ↓ or a number · {many}{back} · esc answers nothing"
        )
        self._list()

    def _list(self, *, marked: int = 0) -> None:
        question = self.question
        if question is None:
            return
        lines = [
            Choice(
                value=str(index),
                label=f"{index + 1} {self._box(index, question)}{option.label}",
                detail=option.description,
            )
            for index, option in enumerate(question.options)
        ]
        number = len(question.options) + 1
        self.options.show([*lines, Choice(value=_OTHER, label=f"{number} something else …")])
        self.options.marked = marked

    def _box(self, index: int, question: Question) -> str:
        if not question.multi_select:
            return ""
        return "☑ " if index in self._ticked else "☐ "

    # keys

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """While an own answer is typed, keys are letters."""
        if action in ("move", "pick", "take", "tick", "back", "dismiss"):
            return not self.has_class("-writing")
        return super().check_action(action, parameters)

    def action_move(self, lines: int) -> None:
        """Move the mark."""
        self.options.move(lines)

    def action_pick(self, number: int) -> None:
        """Choose an option by its number."""
        if self.ready and number <= len(self.options.choices):
            self.options.marked = number - 1
            self._choose()

    def action_tick(self) -> None:
        """Choose the marked option; several may be ticked where the question allows it."""
        if self.ready:
            self._choose()

    def action_take(self) -> None:
        """Take what is ticked, else the marked option."""
        if not self.ready or (question := self.question) is None:
            return
        if self._ticked and self.options.choice is not None and self.options.choice.value != _OTHER:
            self._answer(", ".join(question.options[index].label for index in sorted(self._ticked)))
        else:
            self._choose(at_once=True)

    def action_back(self) -> None:
        """Go back to the question before."""
        if self._index:
            self._index -= 1
            self._show()

    def action_dismiss(self) -> None:
        """Answer nothing."""
        if self.ready and self._request is not None:
            self.post_message(self.Answered(QuestionResponse(self._request.id, {})))

    @on(Choices.Chosen)
    def _clicked(self, event: Choices.Chosen) -> None:
        event.stop()
        if self.ready:
            self._choose()

    def _choose(self, *, at_once: bool = False) -> None:
        question, choice = self.question, self.options.choice
        if question is None or choice is None:
            return
        if choice.value == _OTHER:
            self.add_class("-writing")
            self.field.clear()
            self.field.focus()
        elif question.multi_select and not at_once:
            self._ticked ^= {int(choice.value)}
            self._list(marked=self.options.marked)
        else:
            self._answer(question.options[int(choice.value)].label)

    @on(Input.Submitted)
    def _written(self, event: Input.Submitted) -> None:
        event.stop()
        question = self.question
        if question is not None and (text := event.value.strip()):
            ticked = [question.options[index].label for index in sorted(self._ticked)]
            self.focus()
            self._answer(", ".join([*ticked, text]))

    def on_key(self, event: events.Key) -> None:
        """Escape leaves the field for an own answer."""
        if event.key == "escape" and self.has_class("-writing"):
            event.stop()
            self.remove_class("-writing")
            self.focus()

    def _answer(self, text: str) -> None:
        request, question = self._request, self.question
        if request is None or question is None:
            return
        self._answers[question.question] = text
        if self._index + 1 < len(request.questions):
            self._index += 1
            self._show()
        else:
            self.post_message(self.Answered(QuestionResponse(request.id, self._answers)))
