"""AskUserQuestion: what is asked, and what the model gets to read."""

import json
from collections.abc import Sequence
from typing import Any

import pytest
from pydantic import ValidationError

from kimi_tui.tools.questions.ask import AskUserQuestion
from kimi_tui.tools.questions.asking import Answered, Dismissed, NobodyThere, Outcome
from kimi_tui.tools.tool import RunningCall
from kimi_tui.wire.events import ToolReturn
from kimi_tui.wire.requests import Question, QuestionOption
from tests.tools.calls import running_call

WHICH = {
    "question": "Which?",
    "header": "Store",
    "options": [{"label": "A", "description": "a"}, {"label": "B"}],
}


class User:
    """Answers what a test tells it to, and remembers what it was asked."""

    def __init__(self, outcome: Outcome) -> None:
        self._outcome = outcome
        self.asked: list[Question] = []

    async def ask(self, call: RunningCall, questions: Sequence[Question]) -> Outcome:
        self.asked += questions
        return self._outcome


async def asked(user: User, *questions: dict[str, Any]) -> ToolReturn:
    tool = AskUserQuestion(user)
    return await tool.run(tool.Params.model_validate({"questions": list(questions)}), running_call())


async def test_answers_come_as_json() -> None:
    user = User(Answered({"Which?": "B"}))
    result = await asked(user, WHICH)
    assert user.asked == [Question("Which?", "Store", (QuestionOption("A", "a"), QuestionOption("B", "")))]
    assert json.loads(str(result.output)) == {"answers": {"Which?": "B"}}


async def test_a_question_that_was_passed_over_is_said() -> None:
    other = {**WHICH, "question": "And?", "multi_select": True}
    result = await asked(User(Answered({"And?": "A, B", "never asked": "x"})), WHICH, other)
    assert json.loads(str(result.output)) == {"answers": {"And?": "A, B"}}
    assert "1 of the questions" in result.message


async def test_dismissing_them_is_no_error() -> None:
    result = await asked(User(Dismissed()), WHICH)
    assert not result.is_error
    assert "without answering" in result.message


async def test_the_model_is_told_when_nobody_can_answer() -> None:
    result = await asked(User(NobodyThere()), WHICH)
    assert result.is_error
    assert "Nobody is here" in result.message


@pytest.mark.parametrize(
    "questions",
    [
        [WHICH, WHICH],
        [{**WHICH, "question": "  "}],
        [{**WHICH, "options": [{"label": "A"}, {"label": " a "}]}],
        [{**WHICH, "options": [{"label": "A"}, {"label": "\n"}]}],
    ],
)
async def test_questions_that_can_not_be_told_apart_are_not_asked(questions: list[dict[str, Any]]) -> None:
    user = User(Dismissed())
    assert (await asked(user, *questions)).is_error
    assert user.asked == []


@pytest.mark.parametrize(
    "questions",
    [
        [],
        [{**WHICH, "question": str(n)} for n in range(5)],
        [{**WHICH, "options": [{"label": "A"}]}],
        [{**WHICH, "options": [{"label": str(n)} for n in range(5)]}],
        [{**WHICH, "question": ""}],
    ],
)
def test_there_are_1_to_4_questions_with_2_to_4_options(questions: list[dict[str, Any]]) -> None:
    with pytest.raises(ValidationError):
        AskUserQuestion(User(Dismissed())).Params.model_validate({"questions": questions})
