"""The sheets of the question panel: a question, what the user has answered so far, and its lines."""

from dataclasses import dataclass, field
from typing import Literal

from kimi_tui.base.terminal import plain_line
from kimi_tui.language.saying import later, retell, say
from kimi_tui.tui.choices import Choice
from kimi_tui.wire.requests import Question

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

    def tab(self, number: int) -> tuple[str, Literal["answered", "open"]]:
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
