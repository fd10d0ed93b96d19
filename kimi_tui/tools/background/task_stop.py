"""TaskStop: ends a background task, once the user agrees."""

from pydantic import Field

from kimi_tui.tools.approval import Approval, TaskSubject
from kimi_tui.tools.background.task_output import no_such_task
from kimi_tui.tools.background.tasks import BackgroundTasks
from kimi_tui.tools.background.words import described
from kimi_tui.tools.tool import RunningCall, Tool, ToolParams, failed, ok
from kimi_tui.wire.display import BackgroundTaskBlock
from kimi_tui.wire.events import ToolReturn


class TaskStopParams(ToolParams):
    """What TaskStop takes."""

    task_id: str = Field(description="The id of the task, such as bash-1.")
    reason: str = Field("", description="Why, in a few words, for the user.")


class TaskStop(Tool[TaskStopParams]):
    """Stops a background task and all that it has started."""

    name = "TaskStop"
    Params = TaskStopParams
    changes_things = True

    def __init__(self, tasks: BackgroundTasks, approval: Approval) -> None:
        self._tasks = tasks
        self._approval = approval

    def changed_files(self, params: TaskStopParams) -> tuple[str, ...]:
        """None: what the task itself changes as it ends is the task's."""
        return ()

    async def run(self, params: TaskStopParams, call: RunningCall) -> ToolReturn:
        """Ask, then stop it."""
        task = self._tasks.find(params.task_id)
        if task is None:
            return failed(no_such_task(params.task_id, self._tasks), brief="no such task")
        if task.status == "running":
            await self._approval.request(
                call,
                action="stop background task",
                description=f"Stop {described(task)}{f': {params.reason}' if params.reason.strip() else ''}",
                subject=TaskSubject(task.id),
                display=(BackgroundTaskBlock(task.id, task.kind, task.status, task.description),),
            )
            async with call.turn():
                task = await self._tasks.stop(task.id, by="by the agent") or task
        await self._tasks.note_told(task.id)
        if task.status == "stopped":
            return ok(message=f"{described(task)} was stopped.", brief="stopped")
        return ok(message=f"{described(task)} had ended already: {task.outcome}.", brief=task.outcome)
