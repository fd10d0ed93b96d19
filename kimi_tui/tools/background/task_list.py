"""TaskList: lists the background tasks and their status."""

import time

from pydantic import Field

from kimi_tui.base.message_text import msg_n
from kimi_tui.tools.background.task_text import format_status
from kimi_tui.tools.background.tasks import BackgroundTasks
from kimi_tui.tools.tool import CallContext, Tool, ToolParams, success
from kimi_tui.wire.events import ToolReturn

_MAX_LISTED = 50


class TaskListParams(ToolParams):
    """Parameters of TaskList."""

    active_only: bool = Field(True, description="Leave out tasks that have ended.")


class TaskList(Tool[TaskListParams]):
    """Lists the background tasks of the session."""

    name = "TaskList"
    Params = TaskListParams

    def __init__(self, tasks: BackgroundTasks) -> None:
        self._tasks = tasks

    async def run(self, params: TaskListParams, call: CallContext) -> ToolReturn:
        """Return one line per task, newest last."""
        tasks = self._tasks.running if params.active_only else self._tasks.all
        if not tasks:
            return success(message="No background tasks.", brief="no tasks")
        now = time.time()
        return success(
            "\n".join(format_status(task, now=now) for task in tasks[-_MAX_LISTED:]),
            message=f"{len(tasks)} tasks, of which only the newest {_MAX_LISTED} are listed."
            if len(tasks) > _MAX_LISTED
            else "",
            brief=msg_n("{count} task", "{count} tasks", len(tasks)),
        )
