"""The door between a tool and the user's answers."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from kimi_tui.base.value import value
from kimi_tui.tools.tool import RunningCall
from kimi_tui.wire.requests import Question


@value
class Answered:
    """The user answered."""

    answers: Mapping[str, str]
    """By the question's text. Of several options chosen, the labels with commas between them."""


@value
class Dismissed:
    """The user did not want to answer."""


@value
class NobodyThere:
    """There is nobody who could answer, now or later."""


Outcome = Answered | Dismissed | NobodyThere


class Questions(Protocol):
    """Asks the user."""

    async def ask(self, call: RunningCall, questions: Sequence[Question]) -> Outcome:
        """Ask `questions`, whose texts differ, and wait for the answers."""
        ...
