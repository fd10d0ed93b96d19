"""A command that runs behind the conversation, as a background task."""

import signal
from pathlib import Path

from kimi_tui.base.errors import KimiTuiError
from kimi_tui.tools.background.tasks import BackgroundTasks
from kimi_tui.tools.background.work import Ending, Order, RunningTask
from kimi_tui.tools.shell.process import Shell
from kimi_tui.tools.shell.stream import PlainStream
from kimi_tui.tools.tool import failed, ok
from kimi_tui.wire.display import BackgroundTaskBlock
from kimi_tui.wire.events import ToolReturn


class BackgroundCommand:
    """One command. It ends by itself, by its time-out, when its task is stopped, or with the program."""

    def __init__(self, command: str, *, shell: Shell, work_dir: Path, timeout_s: int) -> None:
        self._command = command
        self._shell = shell
        self._work_dir = work_dir
        self._timeout_s = timeout_s

    async def start(self, tasks: BackgroundTasks, *, purpose: str, call_id: str) -> ToolReturn:
        """Start it as one of `tasks`, for a call, and say how to go on."""

        async def work(running: RunningTask) -> Ending:
            return await self._run(running, tasks)

        try:
            task = await tasks.start(
                Order(kind="bash", description=purpose, command=self._command, work=work, call_id=call_id)
            )
        except KimiTuiError as problem:
            return failed(str(problem), brief=problem.what)
        return ok(
            message=f"It runs in the background as {task.id}. You are told when it ends. "
            f'TaskOutput(task_id="{task.id}") shows what it has printed, TaskStop ends it.',
            brief=f"in the background: {task.id}",
            display=(BackgroundTaskBlock(task.id, task.kind, task.status, task.description),),
        )

    async def _run(self, running: RunningTask, tasks: BackgroundTasks) -> Ending:
        stream = PlainStream()
        try:
            exit_ = await self._shell.run(
                self._command,
                work_dir=self._work_dir,
                timeout_s=self._timeout_s,
                on_output=lambda data: running.write(stream.feed(data)),
                on_start=lambda group: tasks.keep_group(running.id, group),
                mark=running.mark,
            )
        finally:
            running.write(stream.end())
        if exit_.timed_out:
            return Ending("timed_out", f"stopped after its time-out of {self._timeout_s} s")
        return Ending("done" if exit_.status == 0 else "failed", ending_in_words(exit_.status))


def ending_in_words(status: int) -> str:
    """How a shell ended: `exit code 1`, `signal 9 (SIGKILL)`."""
    number = -status if status < 0 else status - 128
    name = f" ({signal.Signals(number).name})" if number in set(signal.Signals) else ""
    return f"signal {number}{name}" if status < 0 else f"exit code {status}{name}"
