"""TaskOutput: what a background task has printed, and how it stands."""

import time

from pydantic import Field

from kimi_tui.tools.background.tasks import BackgroundTasks
from kimi_tui.tools.background.words import status_line
from kimi_tui.tools.tool import RunningCall, Tool, ToolParams, failed, ok
from kimi_tui.wire.display import BackgroundTaskBlock
from kimi_tui.wire.events import ToolReturn

LIMIT = 30_000
"""Bytes of output that the model gets at once: the latest."""
_MAX_WAIT_S = 3600


class TaskOutputParams(ToolParams):
    """What TaskOutput takes."""

    task_id: str = Field(description="The id of the task, such as bash-1.")
    block: bool = Field(False, description="Wait for the task to end, at most `timeout` seconds.")
    timeout: int = Field(30, ge=1, le=_MAX_WAIT_S, description="Seconds to wait with `block`.")


class TaskOutput(Tool[TaskOutputParams]):
    """Reads a background task's output."""

    name = "TaskOutput"
    Params = TaskOutputParams

    def __init__(self, tasks: BackgroundTasks) -> None:
        self._tasks = tasks

    async def run(self, params: TaskOutputParams, call: RunningCall) -> ToolReturn:
        """The end of the output; with `block`, once the task has ended."""
        task = self._tasks.find(params.task_id)
        if task is not None and params.block:
            task = await self._tasks.wait(params.task_id, timeout_s=params.timeout)
        if task is None:
            return failed(no_such_task(params.task_id, self._tasks), brief="no such task")
        start, text, _ = await self._tasks.read(task.id, -LIMIT, LIMIT)
        notes = [f"{status_line(task, now=time.time())}."]
        if start > 0:
            notes.append(f"The output's last {LIMIT:,} bytes follow; the whole is in {task.output}.")
        elif not text:
            notes.append("It has printed nothing.")
        if task.status != "running":
            await self._tasks.note_told(task.id)
        return ok(
            text,
            message=" ".join(notes),
            display=(BackgroundTaskBlock(task.id, task.kind, task.status, task.description),),
        )


def no_such_task(task_id: str, tasks: BackgroundTasks) -> str:
    """What to tell the model that named one."""
    known = ", ".join(task.id for task in tasks.all[-20:])
    return f"There is no background task “{task_id}”. {f'There are: {known}.' if known else 'There is none.'}"
