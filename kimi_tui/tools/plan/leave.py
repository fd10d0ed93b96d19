"""ExitPlanMode: the model shows its plan and asks the user to approve it."""

from pydantic import Field

from kimi_tui.base.errors import FileProblem
from kimi_tui.tools.approval import ToolRejected
from kimi_tui.tools.plan.planning import Planning
from kimi_tui.tools.questions.asking import Answered, Dismissed, NobodyThere, Questions
from kimi_tui.tools.tool import RunningCall, Tool, ToolParams, failed, ok
from kimi_tui.wire.events import ToolReturn
from kimi_tui.wire.requests import Question, QuestionOption

ACCEPT_EDITS = "Yes, and accept edits"
ASK_FOR_EDITS = "Yes, and ask before each edit"
GO_AHEAD = "Yes, go ahead"
KEEP_PLANNING = "No, keep planning"
QUESTION = "Carry out this plan?"

_NO = QuestionOption(KEEP_PLANNING, "then say what should be different")


class ExitPlanModeParams(ToolParams):
    """What ExitPlanMode takes."""

    plan: str = Field(
        "", description="The whole plan as Markdown. Leave it out when it is in the plan file already."
    )


class ExitPlanMode(Tool[ExitPlanModeParams]):
    """Ends plan mode when the user approves the plan."""

    name = "ExitPlanMode"
    Params = ExitPlanModeParams

    def __init__(self, planning: Planning, questions: Questions) -> None:
        self._planning = planning
        self._questions = questions

    async def run(self, params: ExitPlanModeParams, call: RunningCall) -> ToolReturn:
        """Show the plan and ask."""
        if not self._planning.is_on:
            return failed("Plan mode is not on, so there is nothing to leave. Begin with the work.")
        try:
            if params.plan.strip():
                await self._planning.write(params.plan)
            if not (await self._planning.read()).strip():
                return failed(
                    f"There is no plan yet. Write it to {self._planning.file}, then call this again."
                )
            await self._planning.show()
        except FileProblem as problem:
            return failed(str(problem), brief=problem.what)
        outcome = await self._questions.ask(call, (self._question(),))
        match outcome:
            case Answered(answers=answers):
                return await self._follow(answers.get(QUESTION, ""))
            case Dismissed():
                raise ToolRejected
            case NobodyThere() if self._planning.approves_all:
                return await self._approved("The plan is approved, since everything is (yolo).")
            case NobodyThere():
                return ok(
                    message="The user has the plan, but is not here to approve it now. Plan mode stays on: "
                    "change nothing, and end your turn with one or two sentences about the plan.",
                    brief="plan handed over",
                )

    def _question(self) -> Question:
        if self._planning.approves_all:
            return Question(QUESTION, "Plan", (QuestionOption(GO_AHEAD), _NO))
        accept = QuestionOption(ACCEPT_EDITS, "edits in the work dir need no approval any more")
        ask = QuestionOption(ASK_FOR_EDITS, "as usual")
        return Question(QUESTION, "Plan", (accept, ask, _NO))

    async def _follow(self, answer: str) -> ToolReturn:
        if answer == ACCEPT_EDITS:
            await self._planning.set_accept_edits(True)
            return await self._approved("The user approved the plan, and accepts edits from here on.")
        if answer in (ASK_FOR_EDITS, GO_AHEAD):
            return await self._approved("The user approved the plan.")
        if answer in (KEEP_PLANNING, ""):
            raise ToolRejected  # the turn ends, so that the user can say what should be different
        raise ToolRejected(f"the user wants the plan changed first and says: {answer}")

    async def _approved(self, how: str) -> ToolReturn:
        await self._planning.set_plan_mode(False)
        return ok(
            message=f"{how} Carry it out now; it stays in {self._planning.file}.", brief="plan approved"
        )
