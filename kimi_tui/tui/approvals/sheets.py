"""The sheets of the question panel: the questions of a request, and what the user has answered so far."""

from dataclasses import dataclass, field

from kimi_tui.base.terminal import plain_line
from kimi_tui.language.saying import later, retell, say
from kimi_tui.tui.approvals.tabs import TabState
from kimi_tui.tui.choices import Choice
from kimi_tui.wire.requests import Question, QuestionRequest, QuestionResponse

OTHER = "other"
DONE = "done"
SOMETHING_ELSE = later("something else")


@dataclass(slots=True)
class Sheet:
    """One question and what the user has answered so far."""

    question: Question
    ticked: set[int] = field(default_factory=set)
    text: str = ""
    """An answer of the user's own."""
    is_answered: bool = False

    @property
    def answer(self) -> str:
        """The labels that are ticked, and the user's own words, with commas between."""
        labels = [self.question.options[index].label for index in sorted(self.ticked)]
        return ", ".join([*labels, *filter(None, [self.text])])

    @property
    def lines(self) -> list[Choice]:
        """The options, something else, and to go on where several may be ticked."""
        options = self.question.options
        lines = [
            Choice(
                value=str(index),
                label=f"{index + 1} {self._box(index)}{retell(option.label)}",
                detail=retell(option.description),
            )
            for index, option in enumerate(options)
        ]
        own = f": {self.text}" if self.text else " …"
        lines.append(Choice(value=OTHER, label=f"{len(options) + 1} {say(SOMETHING_ELSE)}{own}"))
        if self.question.multi_select:
            lines.append(Choice(value=DONE, label=f"▸ {say('go on')}"))
        return lines

    def tab(self, number: int) -> tuple[str, TabState]:
        """What its tab says."""
        header = plain_line(retell(self.question.header)) or say("Question {number}", number=number)
        return header, "answered" if self.is_answered else "open"

    def begins_own(self, letters: str) -> None:
        """What was typed is the beginning of an own answer: the numbers in it ticked nothing."""
        for letter in letters:
            if letter.isdecimal() and int(letter) <= len(self.question.options):
                self.ticked ^= {int(letter) - 1}

    def _box(self, index: int) -> str:
        if not self.question.multi_select:
            return "● " if index in self.ticked else ""
        return "☑ " if index in self.ticked else "☐ "


class Sheets:
    """The questions of one request, of which one is in front."""

    def __init__(self, request: QuestionRequest) -> None:
        """`request` has at least one question."""
        self.request = request
        self._sheets = [Sheet(question) for question in request.questions]
        self.at = 0
        """Which of them is in front."""

    def __len__(self) -> int:
        return len(self._sheets)

    @property
    def front(self) -> Sheet:
        """The one that is in front."""
        return self._sheets[self.at]

    @property
    def tabs(self) -> list[tuple[str, TabState]]:
        """What their tabs say."""
        return [sheet.tab(number) for number, sheet in enumerate(self._sheets, 1)]

    @property
    def next_open(self) -> int | None:
        """The first after the one in front, or else before it, that isn't answered; None when none is."""
        count = len(self._sheets)
        following = ((self.at + places) % count for places in range(1, count))
        return next((at for at in following if not self._sheets[at].is_answered), None)

    @property
    def response(self) -> QuestionResponse:
        """What the user answered to all of them."""
        answers = {sheet.question.question: sheet.answer for sheet in self._sheets}
        return QuestionResponse(self.request.id, answers)
