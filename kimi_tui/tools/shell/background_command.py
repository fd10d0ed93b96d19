"""A shell command that runs as a background task."""

import signal
from pathlib import Path

from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.message_text import msg
from kimi_tui.tools.background.task_handle import RunningTask, TaskOutcome, TaskRequest
from kimi_tui.tools.background.tasks import BackgroundTasks
from kimi_tui.tools.shell.command_output import CommandOutput
from kimi_tui.tools.shell.shell import Shell
from kimi_tui.tools.tool import failure, success
from kimi_tui.wire.display_blocks import BackgroundTaskBlock
from kimi_tui.wire.events import ToolReturn


class BackgroundCommand:
    """Runs a command until it ends, times out, its task is stopped, or the program exits."""

    def __init__(self, command: str, *, shell: Shell, work_dir: Path, timeout_s: int) -> None:
        self._command = command
        self._shell = shell
        self._work_dir = work_dir
        self._timeout_s = timeout_s

    async def start(self, tasks: BackgroundTasks, *, purpose: str, call_id: str) -> ToolReturn:
        """Start the command as one of `tasks` and return the tool result."""

        async def work(running: RunningTask) -> TaskOutcome:
            return await self._run(running, tasks)

        try:
            task = await tasks.start(
                TaskRequest(
                    kind="bash", description=purpose, command=self._command, work=work, call_id=call_id
                )
            )
        except KimiTuiError as problem:
            return failure(str(problem), brief=problem.what)
        return success(
            message=f"The command runs in the background as {task.id}. You are notified when it ends. "
            f'TaskOutput(task_id="{task.id}") returns its output, TaskStop stops it.',
            brief=msg("in the background: {task_id}", task_id=task.id),
            display=(BackgroundTaskBlock(task.id, task.kind, task.status, task.description),),
        )

    async def _run(self, running: RunningTask, tasks: BackgroundTasks) -> TaskOutcome:
        output = _TaskOutput(running)
        try:
            exit_ = await self._shell.run(
                self._command,
                work_dir=self._work_dir,
                timeout_s=self._timeout_s,
                output=output,
                on_start=lambda group: tasks.save_process_group(running.id, group),
                marker=running.process_marker,
            )
        finally:
            output.flush()
        if exit_.timed_out:
            return TaskOutcome("timed_out", msg("timed out after {seconds} s", seconds=self._timeout_s))
        return TaskOutcome("done" if exit_.status == 0 else "failed", format_exit_status(exit_.status))


class _TaskOutput(CommandOutput):
    """Writes the output of a command to its background task."""

    def __init__(self, running: RunningTask) -> None:
        super().__init__()
        self._running = running

    def add_text(self, text: str) -> None:
        self._running.write(text)


def format_exit_status(status: int) -> str:
    """Return how a shell ended: `exit code 1`, `signal 9 (SIGKILL)`."""
    number = -status if status < 0 else status - 128
    name = f" ({signal.Signals(number).name})" if number in set(signal.Signals) else ""
    if status < 0:
        return msg("signal {number}", number=f"{number}{name}")
    return msg("exit code {code}", code=f"{status}{name}")
