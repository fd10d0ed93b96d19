"""Questions over the Wire."""

from collections.abc import Sequence

from kimi_tui.base.ids import new_id
from kimi_tui.soul.runtime_settings import RuntimeSettings
from kimi_tui.tools.questions import NoUser, QuestionOutcome, QuestionsAnswered, QuestionsDismissed
from kimi_tui.tools.tool import CallContext
from kimi_tui.wire.channel import Wire
from kimi_tui.wire.requests import Question, QuestionRequest, QuestionResponse


class WireQuestions:
    """Asks the user questions through the front end."""

    def __init__(self, wire: Wire, runtime_settings: RuntimeSettings) -> None:
        self._wire = wire
        self._runtime_settings = runtime_settings

    async def ask(self, call: CallContext, questions: Sequence[Question]) -> QuestionOutcome:
        """Ask the questions and wait for the answers. If the user is away, return NoUser immediately."""
        if self._runtime_settings.afk:
            return NoUser()
        response = await self._wire.ask(QuestionRequest(new_id(), call.id, tuple(questions)))
        if not isinstance(response, QuestionResponse):
            raise TypeError(f"a question was answered with {type(response).__name__}")
        if response.unanswerable:
            return NoUser()
        return QuestionsAnswered(response.answers) if response.answers else QuestionsDismissed()
