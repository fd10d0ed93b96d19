"""AskUserQuestion: lets the model ask the user multiple-choice questions."""

import json

from pydantic import Field

from kimi_tui.base.terminal_text import sanitize_line
from kimi_tui.tools.questions import NoUser, Questions, QuestionsAnswered, QuestionsDismissed
from kimi_tui.tools.tool import CallContext, Tool, ToolParams, failure, success
from kimi_tui.wire.events import ToolReturn
from kimi_tui.wire.requests import Question, QuestionOption


class OptionParams(ToolParams):
    """An answer to choose from."""

    label: str = Field(min_length=1, description="The answer, in a few words.")
    description: str = Field("", description="What choosing this option means.")


class QuestionParams(ToolParams):
    """One question."""

    question: str = Field(min_length=1, description="The full question, ending with a question mark.")
    header: str = Field("", description="The question's tab label: one or two words.")
    options: list[OptionParams] = Field(
        min_length=2,
        max_length=4,
        description="2 to 4 distinct answers. The user can always type a different one.",
    )
    multi_select: bool = Field(False, description="Whether several options may be selected.")


class AskUserQuestionParams(ToolParams):
    """Parameters of AskUserQuestion."""

    questions: list[QuestionParams] = Field(
        min_length=1, max_length=4, description="1 to 4 questions, shown together."
    )


class AskUserQuestion(Tool[AskUserQuestionParams]):
    """Asks the user questions and waits for the answers."""

    name = "AskUserQuestion"
    Params = AskUserQuestionParams

    def __init__(self, questions: Questions) -> None:
        self._questions = questions

    async def run(self, params: AskUserQuestionParams, call: CallContext) -> ToolReturn:
        """Ask the questions and return the answers as JSON."""
        if problem := _find_problem(params.questions):
            return failure(problem, brief="not asked")
        outcome = await self._questions.ask(call, [_to_question(question) for question in params.questions])
        match outcome:
            case QuestionsAnswered(answers=answers):
                answered = {
                    it.question: answers[it.question] for it in params.questions if it.question in answers
                }
                return success(
                    json.dumps({"answers": answered}, ensure_ascii=False),
                    message=_format_unanswered(len(params.questions) - len(answered)),
                    brief=sanitize_line("; ".join(answered.values())) or "not answered",
                )
            case QuestionsDismissed():
                return success(
                    message="The user closed the questions without answering. Continue as you think best, or "
                    "say what you need to know. Don't ask the same questions again.",
                    brief="not answered",
                )
            case NoUser():
                return failure(
                    "No user is available to answer. Don't ask again: decide yourself and state your "
                    "assumptions, or end your response with the question.",
                    brief="no user available",
                )


def _find_problem(questions: list[QuestionParams]) -> str:
    texts = [question.question.strip() for question in questions]
    if not all(texts) or len(set(texts)) < len(texts):
        return "A question is empty or duplicated. Make every question distinct."
    for question in questions:
        labels = [sanitize_line(option.label).strip().casefold() for option in question.options]
        if not all(labels) or len(set(labels)) < len(labels):
            return (
                f"Two options of “{question.question}” have the same label, or a label is empty. "
                "Give each option its own label."
            )
    return ""


def _to_question(question: QuestionParams) -> Question:
    options = tuple(QuestionOption(option.label, option.description) for option in question.options)
    return Question(question.question, question.header, options, question.multi_select)


def _format_unanswered(count: int) -> str:
    return "" if not count else f"{count} of the questions were not answered: decide those yourself."
