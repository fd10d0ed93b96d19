"""TaskOutput: reads a background task's output and status."""

import time

from pydantic import Field

from kimi_tui.base.message_text import msg
from kimi_tui.tools.background.task_text import format_status
from kimi_tui.tools.background.tasks import BackgroundTasks
from kimi_tui.tools.tool import CallContext, Tool, ToolParams, failure, success
from kimi_tui.wire.display_blocks import BackgroundTaskBlock
from kimi_tui.wire.events import ToolReturn

MAX_OUTPUT_BYTES = 30_000
"""Maximum number of bytes the model gets in one call: the end of the output."""
_MAX_WAIT_S = 3600


class TaskOutputParams(ToolParams):
    """Parameters of TaskOutput."""

    task_id: str = Field(description="The id of the task, such as bash-1.")
    block: bool = Field(False, description="Wait for the task to end, at most `timeout` seconds.")
    timeout: int = Field(30, ge=1, le=_MAX_WAIT_S, description="Seconds to wait with `block`.")


class TaskOutput(Tool[TaskOutputParams]):
    """Reads a background task's output."""

    name = "TaskOutput"
    Params = TaskOutputParams

    def __init__(self, tasks: BackgroundTasks) -> None:
        self._tasks = tasks

    async def run(self, params: TaskOutputParams, call: CallContext) -> ToolReturn:
        """Return the end of the output. With `block`, wait until the task has ended first."""
        task = self._tasks.find(params.task_id)
        if task is not None and params.block:
            task = await self._tasks.wait_for(params.task_id, timeout_s=params.timeout)
        if task is None:
            return failure(unknown_task_message(params.task_id, self._tasks), brief="no such task")
        start, text, _ = await self._tasks.read(task.id, -MAX_OUTPUT_BYTES, MAX_OUTPUT_BYTES)
        notes = [f"{format_status(task, now=time.time())}."]
        if start > 0:
            notes.append(
                f"The last {MAX_OUTPUT_BYTES:,} bytes of output follow; the full output is in {task.output}."
            )
        elif not text:
            notes.append("It has printed no output.")
        if task.status != "running":
            await self._tasks.mark_reported(task.id)
        return success(
            text,
            message=" ".join(notes),
            display=(BackgroundTaskBlock(task.id, task.kind, task.status, task.description),),
        )


def unknown_task_message(task_id: str, tasks: BackgroundTasks) -> str:
    """Return the error message for a `task_id` that doesn't exist."""
    known = ", ".join(task.id for task in tasks.all[-20:])
    return msg("Background task “{task_id}” doesn't exist.", task_id=task_id) + (
        f" Known tasks: {known}." if known else ""
    )
