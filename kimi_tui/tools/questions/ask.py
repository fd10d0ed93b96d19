"""AskUserQuestion: the model asks the user to choose."""

import json

from pydantic import Field

from kimi_tui.base.terminal import plain_line
from kimi_tui.tools.questions.asking import Answered, Dismissed, NobodyThere, Questions
from kimi_tui.tools.tool import RunningCall, Tool, ToolParams, failed, ok
from kimi_tui.wire.events import ToolReturn
from kimi_tui.wire.requests import Question, QuestionOption


class AskedOption(ToolParams):
    """One answer to choose."""

    label: str = Field(min_length=1, description="The answer in a few words.")
    description: str = Field("", description="What choosing it means.")


class AskedQuestion(ToolParams):
    """One question."""

    question: str = Field(min_length=1, description="The whole question, ending in a question mark.")
    header: str = Field("", description="What it is about, in one or two words: its tab.")
    options: list[AskedOption] = Field(
        min_length=2, max_length=4, description="2 to 4 different answers; the user can always write another."
    )
    multi_select: bool = Field(False, description="Whether several options may be chosen.")


class AskUserQuestionParams(ToolParams):
    """What AskUserQuestion takes."""

    questions: list[AskedQuestion] = Field(
        min_length=1, max_length=4, description="1 to 4 questions, asked together."
    )


class AskUserQuestion(Tool[AskUserQuestionParams]):
    """Asks, and waits for the answers."""

    name = "AskUserQuestion"
    Params = AskUserQuestionParams

    def __init__(self, questions: Questions) -> None:
        self._questions = questions

    async def run(self, params: AskUserQuestionParams, call: RunningCall) -> ToolReturn:
        """Ask the user."""
        if problem := _problem(params.questions):
            return failed(problem, brief="not asked")
        outcome = await self._questions.ask(call, [_asked(question) for question in params.questions])
        match outcome:
            case Answered(answers=answers):
                told = {
                    it.question: answers[it.question] for it in params.questions if it.question in answers
                }
                return ok(
                    json.dumps({"answers": told}, ensure_ascii=False),
                    message=_unanswered(len(params.questions) - len(told)),
                    brief=plain_line("; ".join(told.values())) or "not answered",
                )
            case Dismissed():
                return ok(
                    message="The user closed the questions without answering. Go on as you think best, or "
                    "say what you need to know; don't ask the same again.",
                    brief="not answered",
                )
            case NobodyThere():
                return failed(
                    "Nobody is here who could answer. Don't ask again: decide yourself and say what you "
                    "assumed, or end with the question in your answer.",
                    brief="nobody is here to answer",
                )


def _problem(questions: list[AskedQuestion]) -> str:
    texts = [question.question.strip() for question in questions]
    if not all(texts) or len(set(texts)) < len(texts):
        return "A question is empty or asked twice. Give each question a text of its own."
    for question in questions:
        labels = [plain_line(option.label).strip().casefold() for option in question.options]
        if not all(labels) or len(set(labels)) < len(labels):
            return (
                f"Two options of “{question.question}” look alike, or one is empty. Give each its own label."
            )
    return ""


def _asked(question: AskedQuestion) -> Question:
    options = tuple(QuestionOption(option.label, option.description) for option in question.options)
    return Question(question.question, question.header, options, question.multi_select)


def _unanswered(count: int) -> str:
    return "" if not count else f"{count} of the questions had no answer: decide those yourself."
