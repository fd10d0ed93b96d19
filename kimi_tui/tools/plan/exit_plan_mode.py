"""ExitPlanMode: shows the model's plan and asks the user to approve it."""

from pydantic import Field

from kimi_tui.base.errors import FileProblem
from kimi_tui.tools.approval import ToolRejected
from kimi_tui.tools.plan.plan_mode_control import PlanModeControl
from kimi_tui.tools.questions import NoUser, Questions, QuestionsAnswered, QuestionsDismissed
from kimi_tui.tools.tool import CallContext, Tool, ToolParams, failure, success
from kimi_tui.wire.events import ToolReturn
from kimi_tui.wire.requests import Question, QuestionOption

ACCEPT_EDITS = "Yes, and accept edits"
ASK_FOR_EDITS = "Yes, and ask before each edit"
GO_AHEAD = "Yes, go ahead"
KEEP_PLANNING = "No, keep planning"
QUESTION = "Carry out this plan?"

_NO = QuestionOption(KEEP_PLANNING, "then say what to change")


class ExitPlanModeParams(ToolParams):
    """Parameters of ExitPlanMode."""

    plan: str = Field(
        "", description="The full plan as Markdown. Omit it if the plan file already contains it."
    )


class ExitPlanMode(Tool[ExitPlanModeParams]):
    """Ends plan mode if the user approves the plan."""

    name = "ExitPlanMode"
    Params = ExitPlanModeParams

    def __init__(self, plan_mode: PlanModeControl, questions: Questions) -> None:
        self._plan_mode = plan_mode
        self._questions = questions

    async def run(self, params: ExitPlanModeParams, call: CallContext) -> ToolReturn:
        """Show the plan and ask the user to approve it."""
        if not self._plan_mode.is_on:
            return failure("Plan mode is not on. Start the work.")
        try:
            if params.plan.strip():
                await self._plan_mode.write(params.plan)
            if not (await self._plan_mode.read()).strip():
                return failure(f"No plan yet. Write it to {self._plan_mode.file}, then call this again.")
            await self._plan_mode.show()
        except FileProblem as problem:
            return failure(str(problem), brief=problem.what)
        outcome = await self._questions.ask(call, (self._build_question(),))
        match outcome:
            case QuestionsAnswered(answers=answers):
                return await self._handle_answer(answers.get(QUESTION, ""))
            case QuestionsDismissed():
                raise ToolRejected
            case NoUser() if self._plan_mode.approves_all:
                return await self._approve("The plan is approved automatically (yolo mode).")
            case NoUser():
                return success(
                    message="The plan was handed over, but no user is available to approve it now. Plan mode "
                    "stays on: change nothing, and end your turn with one or two sentences about the plan.",
                    brief="plan submitted",
                )

    def _build_question(self) -> Question:
        if self._plan_mode.approves_all:
            return Question(QUESTION, "Plan", (QuestionOption(GO_AHEAD), _NO))
        accept = QuestionOption(ACCEPT_EDITS, "edits in the working directory no longer need approval")
        ask = QuestionOption(ASK_FOR_EDITS, "as usual")
        return Question(QUESTION, "Plan", (accept, ask, _NO))

    async def _handle_answer(self, answer: str) -> ToolReturn:
        if answer == ACCEPT_EDITS:
            await self._plan_mode.set_accept_edits(True)
            return await self._approve("The user approved the plan and accepts edits without approval.")
        if answer in (ASK_FOR_EDITS, GO_AHEAD):
            return await self._approve("The user approved the plan.")
        if answer in (KEEP_PLANNING, ""):
            raise ToolRejected  # the turn ends, so that the user can say what to change
        raise ToolRejected(f"the user wants changes to the plan: {answer}")

    async def _approve(self, reason: str) -> ToolReturn:
        await self._plan_mode.set_plan_mode(False)
        return success(
            message=f"{reason} Carry it out now. The plan stays in {self._plan_mode.file}.",
            brief="plan approved",
        )
