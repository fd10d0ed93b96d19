"""AskUserQuestion: what the user is asked and what the model gets."""

import json
from collections.abc import Sequence
from typing import Any

import pytest
from pydantic import ValidationError

from kimi_tui.tools.ask_user_question import AskUserQuestion
from kimi_tui.tools.questions import NoUser, QuestionOutcome, QuestionsAnswered, QuestionsDismissed
from kimi_tui.tools.tool import CallContext
from kimi_tui.wire.events import ToolReturn
from kimi_tui.wire.requests import Question, QuestionOption
from tests.tools.call_context import build_context

QUESTION = {
    "question": "Which?",
    "header": "Store",
    "options": [{"label": "A", "description": "a"}, {"label": "B"}],
}


class FakeUser:
    """Answers as the test says, and records the questions."""

    def __init__(self, outcome: QuestionOutcome) -> None:
        self._outcome = outcome
        self.asked: list[Question] = []

    async def ask(self, call: CallContext, questions: Sequence[Question]) -> QuestionOutcome:
        self.asked += questions
        return self._outcome


async def run_ask(user: FakeUser, *questions: dict[str, Any]) -> ToolReturn:
    tool = AskUserQuestion(user)
    return await tool.run(tool.Params.model_validate({"questions": list(questions)}), build_context())


async def test_answers_are_returned_as_json() -> None:
    user = FakeUser(QuestionsAnswered({"Which?": "B"}))
    result = await run_ask(user, QUESTION)
    assert user.asked == [Question("Which?", "Store", (QuestionOption("A", "a"), QuestionOption("B", "")))]
    assert json.loads(str(result.output)) == {"answers": {"Which?": "B"}}


async def test_unanswered_questions_are_counted() -> None:
    other = {**QUESTION, "question": "And?", "multi_select": True}
    result = await run_ask(FakeUser(QuestionsAnswered({"And?": "A, B", "never asked": "x"})), QUESTION, other)
    assert json.loads(str(result.output)) == {"answers": {"And?": "A, B"}}
    assert "1 of the questions" in result.message


async def test_dismissing_questions_is_not_an_error() -> None:
    result = await run_ask(FakeUser(QuestionsDismissed()), QUESTION)
    assert not result.is_error
    assert "without answering" in result.message


async def test_the_error_says_that_no_user_is_available() -> None:
    result = await run_ask(FakeUser(NoUser()), QUESTION)
    assert result.is_error
    assert "No user is available" in result.message


@pytest.mark.parametrize(
    "questions",
    [
        [QUESTION, QUESTION],
        [{**QUESTION, "question": "  "}],
        [{**QUESTION, "options": [{"label": "A"}, {"label": " a "}]}],
        [{**QUESTION, "options": [{"label": "A"}, {"label": "\n"}]}],
    ],
)
async def test_ambiguous_questions_are_not_asked(questions: list[dict[str, Any]]) -> None:
    user = FakeUser(QuestionsDismissed())
    assert (await run_ask(user, *questions)).is_error
    assert user.asked == []


@pytest.mark.parametrize(
    "questions",
    [
        [],
        [{**QUESTION, "question": str(n)} for n in range(5)],
        [{**QUESTION, "options": [{"label": "A"}]}],
        [{**QUESTION, "options": [{"label": str(n)} for n in range(5)]}],
        [{**QUESTION, "question": ""}],
    ],
)
def test_there_are_1_to_4_questions_with_2_to_4_options(questions: list[dict[str, Any]]) -> None:
    with pytest.raises(ValidationError):
        AskUserQuestion(FakeUser(QuestionsDismissed())).Params.model_validate({"questions": questions})
