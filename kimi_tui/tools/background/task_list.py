"""TaskList: the background tasks and how they stand."""

import time

from pydantic import Field

from kimi_tui.tools.background.tasks import BackgroundTasks
from kimi_tui.tools.background.words import status_line
from kimi_tui.tools.tool import RunningCall, Tool, ToolParams, ok
from kimi_tui.wire.events import ToolReturn

_MOST = 50


class TaskListParams(ToolParams):
    """What TaskList takes."""

    active_only: bool = Field(True, description="Leave out the tasks that have ended.")


class TaskList(Tool[TaskListParams]):
    """Lists the background tasks of the session."""

    name = "TaskList"
    Params = TaskListParams

    def __init__(self, tasks: BackgroundTasks) -> None:
        self._tasks = tasks

    async def run(self, params: TaskListParams, call: RunningCall) -> ToolReturn:
        """One line a task, the newest last."""
        tasks = self._tasks.running if params.active_only else self._tasks.all
        if not tasks:
            return ok(message="There are no background tasks.", brief="no tasks")
        now = time.time()
        return ok(
            "\n".join(status_line(task, now=now) for task in tasks[-_MOST:]),
            message=f"{len(tasks)} in all, the newest {_MOST} are listed." if len(tasks) > _MOST else "",
            brief=f"{len(tasks)} task{'' if len(tasks) == 1 else 's'}",
        )
