"""Tabs of the question panel: the questions of one request and their answers so far."""

from dataclasses import dataclass, field

from kimi_tui.base.terminal_text import sanitize_line
from kimi_tui.i18n.translate import tr, tr_lazy, translate_message
from kimi_tui.tui.widgets.choice_list import Choice
from kimi_tui.tui.widgets.tabs import TabState
from kimi_tui.wire.requests import Question, QuestionRequest, QuestionResponse

OTHER = "other"
DONE = "done"
OTHER_LABEL = tr_lazy("Other")


@dataclass(slots=True)
class QuestionTab:
    """One question and the user's answer so far."""

    question: Question
    selected_indexes: set[int] = field(default_factory=set)
    own_answer: str = ""
    """A free-text answer."""
    is_answered: bool = False

    @property
    def answer(self) -> str:
        """The selected labels and the free-text answer, separated by commas."""
        labels = [self.question.options[index].label for index in sorted(self.selected_indexes)]
        return ", ".join([*labels, *filter(None, [self.own_answer])])

    @property
    def choices(self) -> list[Choice]:
        """The options, "Other", and "Continue" if several options can be selected."""
        options = self.question.options
        choices = [
            Choice(
                value=str(index),
                label=f"{index + 1} {self._box(index)}{translate_message(option.label)}",
                detail=translate_message(option.description),
            )
            for index, option in enumerate(options)
        ]
        own_answer = f": {self.own_answer}" if self.own_answer else " …"
        choices.append(Choice(value=OTHER, label=f"{len(options) + 1} {tr(OTHER_LABEL)}{own_answer}"))
        if self.question.multi_select:
            choices.append(Choice(value=DONE, label=f"▸ {tr('Continue')}"))
        return choices

    def tab_label(self, number: int) -> tuple[str, TabState]:
        """Return the tab's label and state."""
        header = sanitize_line(translate_message(self.question.header)) or tr(
            "Question {number}", number=number
        )
        return header, "answered" if self.is_answered else "open"

    def deselect_numbers(self, letters: str) -> None:
        """Undo the selections made by digits in `letters`, which turned out to begin a free-text answer."""
        for letter in letters:
            if letter.isdecimal() and int(letter) <= len(self.question.options):
                self.selected_indexes ^= {int(letter) - 1}

    def _box(self, index: int) -> str:
        if not self.question.multi_select:
            return "● " if index in self.selected_indexes else ""
        return "☑ " if index in self.selected_indexes else "☐ "


class QuestionTabs:
    """The questions of one request, one of which is shown."""

    def __init__(self, request: QuestionRequest) -> None:
        """`request` has at least one question."""
        self.request = request
        self._tabs = [QuestionTab(question) for question in request.questions]
        self.current_index = 0
        """Index of the question that is shown."""

    def __len__(self) -> int:
        return len(self._tabs)

    @property
    def current(self) -> QuestionTab:
        """The question that is shown."""
        return self._tabs[self.current_index]

    @property
    def tab_labels(self) -> list[tuple[str, TabState]]:
        """Labels and states of all tabs."""
        return [tab.tab_label(number) for number, tab in enumerate(self._tabs, 1)]

    @property
    def next_open_index(self) -> int | None:
        """Index of the next unanswered question, wrapping around. None if all are answered."""
        count = len(self._tabs)
        following = ((self.current_index + places) % count for places in range(1, count))
        return next((index for index in following if not self._tabs[index].is_answered), None)

    @property
    def response(self) -> QuestionResponse:
        """The answers to all questions."""
        answers = {tab.question.question: tab.answer for tab in self._tabs}
        return QuestionResponse(self.request.id, answers)
