"""Interface through which tools ask the user questions."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from kimi_tui.base.frozen import frozen
from kimi_tui.tools.tool import CallContext
from kimi_tui.wire.requests import Question


@frozen
class QuestionsAnswered:
    """The user answered."""

    answers: Mapping[str, str]
    """By the question's text. If several options were selected, their labels separated by commas."""


@frozen
class QuestionsDismissed:
    """The user closed the questions without answering."""


@frozen
class NoUser:
    """No user can answer, now or later."""


QuestionOutcome = QuestionsAnswered | QuestionsDismissed | NoUser


class Questions(Protocol):
    """Asks the user questions."""

    async def ask(self, call: CallContext, questions: Sequence[Question]) -> QuestionOutcome:
        """Ask `questions`, which must have distinct texts, and wait for the answers."""
        ...
