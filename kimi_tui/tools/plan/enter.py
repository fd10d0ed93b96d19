"""EnterPlanMode: the model offers to plan before it changes anything."""

from kimi_tui.tools.plan.planning import Planning
from kimi_tui.tools.questions.asking import Answered, Dismissed, NobodyThere, Questions
from kimi_tui.tools.tool import RunningCall, Tool, ToolParams, failed, ok
from kimi_tui.wire.events import ToolReturn
from kimi_tui.wire.requests import Question, QuestionOption

_YES = "Yes, plan first"
_NO = "No, go ahead"
_QUESTION = Question(
    "Plan this before anything is changed?",
    "Plan mode",
    (
        QuestionOption(_YES, "only reading, until you have approved a plan"),
        QuestionOption(_NO, "begin without a plan"),
    ),
)


class EnterPlanModeParams(ToolParams):
    """It takes nothing."""


class EnterPlanMode(Tool[EnterPlanModeParams]):
    """Turns plan mode on, if the user likes."""

    name = "EnterPlanMode"
    Params = EnterPlanModeParams

    def __init__(self, planning: Planning, questions: Questions) -> None:
        self._planning = planning
        self._questions = questions

    async def run(self, params: EnterPlanModeParams, call: RunningCall) -> ToolReturn:
        """Ask the user; a yolo session isn't asked."""
        if self._planning.is_on:
            return failed("Plan mode is on already. Find out what you need and write the plan.")
        if self._planning.approves_all:
            return await self._enter()
        outcome = await self._questions.ask(call, (_QUESTION,))
        match outcome:
            case Answered(answers=answers):
                answer = answers.get(_QUESTION.question, "")
                if answer == _YES:
                    return await self._enter()
                said = "" if answer in (_NO, "") else f" They said: {answer}"
                return ok(message=f"The user wants no plan first. Begin right away.{said}", brief="no plan")
            case Dismissed():
                return ok(message="The user wants no plan first. Begin right away.", brief="no plan")
            case NobodyThere():
                return failed(
                    "Nobody is here who could approve a plan. Go on without plan mode.",
                    brief="nobody is here to approve a plan",
                )

    async def _enter(self) -> ToolReturn:
        await self._planning.set_plan_mode(True)
        return ok(message="Plan mode begins.", brief="plan mode is on")
