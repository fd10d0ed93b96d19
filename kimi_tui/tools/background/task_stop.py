"""TaskStop: stops a background task."""

from pydantic import Field

from kimi_tui.base.message_text import msg
from kimi_tui.permission.subject import TaskSubject
from kimi_tui.tools.approval import Approval
from kimi_tui.tools.background.task_output import unknown_task_message
from kimi_tui.tools.background.task_text import task_label
from kimi_tui.tools.background.tasks import BackgroundTasks
from kimi_tui.tools.tool import CallContext, Tool, ToolParams, failure, success
from kimi_tui.wire.display_blocks import BackgroundTaskBlock
from kimi_tui.wire.events import ToolReturn


class TaskStopParams(ToolParams):
    """Parameters of TaskStop."""

    task_id: str = Field(description="The id of the task, such as bash-1.")
    reason: str = Field("", description="The reason in a few words, for the user.")


class TaskStop(Tool[TaskStopParams]):
    """Stops a background task and everything it started."""

    name = "TaskStop"
    Params = TaskStopParams
    has_side_effects = True

    def __init__(self, tasks: BackgroundTasks, approval: Approval) -> None:
        self._tasks = tasks
        self._approval = approval

    def target_files(self, params: TaskStopParams) -> tuple[str, ...]:
        """Return no files: what the task changes while it ends is attributed to the task."""
        return ()

    async def run(self, params: TaskStopParams, call: CallContext) -> ToolReturn:
        """Request approval, then stop the task."""
        task = self._tasks.find(params.task_id)
        if task is None:
            return failure(unknown_task_message(params.task_id, self._tasks), brief="no such task")
        if task.status == "running":
            await self._approval.request(
                call,
                action="stop background task",
                description=f"Stop {task_label(task)}{f': {params.reason}' if params.reason.strip() else ''}",
                subject=TaskSubject(task.id),
                display=(BackgroundTaskBlock(task.id, task.kind, task.status, task.description),),
            )
            async with call.exclusive():
                task = await self._tasks.stop(task.id, outcome=msg("stopped by the agent")) or task
        await self._tasks.mark_reported(task.id)
        if task.status == "stopped":
            return success(message=f"{task_label(task)} was stopped.", brief="stopped")
        return success(message=f"{task_label(task)} has already ended: {task.outcome}.", brief=task.outcome)
