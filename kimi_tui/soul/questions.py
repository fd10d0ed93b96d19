"""Questions over the Wire."""

from collections.abc import Sequence

from kimi_tui.base.identity import new_id
from kimi_tui.tools.questions.asking import Answered, Dismissed, NobodyThere, Outcome
from kimi_tui.tools.tool import RunningCall
from kimi_tui.wire.channel import Wire
from kimi_tui.wire.requests import Question, QuestionRequest, QuestionResponse


class WireQuestions:
    """Asks whoever sits at the front end."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    async def ask(self, call: RunningCall, questions: Sequence[Question]) -> Outcome:
        """Ask and wait."""
        answer = await self._wire.ask(QuestionRequest(new_id(), call.id, tuple(questions)))
        if not isinstance(answer, QuestionResponse):
            raise TypeError(f"a question was answered with {type(answer).__name__}")
        if answer.unanswerable:
            return NobodyThere()
        return Answered(answer.answers) if answer.answers else Dismissed()
