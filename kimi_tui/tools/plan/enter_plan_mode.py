"""EnterPlanMode: the model offers to plan before it changes anything."""

from kimi_tui.tools.plan.plan_mode_control import PlanModeControl
from kimi_tui.tools.questions import NoUser, Questions, QuestionsAnswered, QuestionsDismissed
from kimi_tui.tools.tool import CallContext, Tool, ToolParams, failure, success
from kimi_tui.wire.events import ToolReturn
from kimi_tui.wire.requests import Question, QuestionOption

_YES = "Yes, plan first"
_NO = "No, go ahead"
_QUESTION = Question(
    "Make a plan before changing anything?",
    "Plan mode",
    (
        QuestionOption(_YES, "read-only until you approve a plan"),
        QuestionOption(_NO, "start without a plan"),
    ),
)


_NO_PLAN_MESSAGE = "The user doesn't want a plan first. Start right away."


class EnterPlanModeParams(ToolParams):
    """Parameters of EnterPlanMode: none."""


class EnterPlanMode(Tool[EnterPlanModeParams]):
    """Turns on plan mode if the user agrees."""

    name = "EnterPlanMode"
    Params = EnterPlanModeParams

    def __init__(self, plan_mode: PlanModeControl, questions: Questions) -> None:
        self._plan_mode = plan_mode
        self._questions = questions

    async def run(self, params: EnterPlanModeParams, call: CallContext) -> ToolReturn:
        """Ask the user, unless the session is in yolo mode."""
        if self._plan_mode.is_on:
            return failure("Plan mode is already on. Find out what you need and write the plan.")
        if self._plan_mode.approves_all:
            return await self._turn_on()
        outcome = await self._questions.ask(call, (_QUESTION,))
        match outcome:
            case QuestionsAnswered(answers=answers):
                answer = answers.get(_QUESTION.question, "")
                if answer == _YES:
                    return await self._turn_on()
                comment = "" if answer in (_NO, "") else f" They answered: {answer}"
                return success(message=f"{_NO_PLAN_MESSAGE}{comment}", brief="no plan")
            case QuestionsDismissed():
                return success(message=_NO_PLAN_MESSAGE, brief="no plan")
            case NoUser():
                return failure(
                    "No user is available to approve a plan. Continue without plan mode.",
                    brief="no user available",
                )

    async def _turn_on(self) -> ToolReturn:
        await self._plan_mode.set_plan_mode(True)
        return success(message="Plan mode is on.", brief="plan mode is on")
