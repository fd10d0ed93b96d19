"""A running command of a tool call, which the user may move to the background."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, suppress

from kimi_tui.base.message_text import msg
from kimi_tui.history.snapshots.attribution import ChangeAuthor
from kimi_tui.tools.background.task_handle import RunningTask, TaskOutcome, TaskRequest
from kimi_tui.tools.background.tasks import BackgroundTasks
from kimi_tui.tools.change_tracker import PendingCommit
from kimi_tui.tools.shell.background_command import format_exit_status
from kimi_tui.tools.shell.captured_output import CapturedOutput
from kimi_tui.tools.shell.command_deadline import CommandDeadline
from kimi_tui.tools.shell.command_output import CommandOutput
from kimi_tui.tools.shell.shell import ExitStatus
from kimi_tui.tools.tool import CallContext, success
from kimi_tui.wire.display_blocks import BackgroundTaskBlock
from kimi_tui.wire.events import ToolReturn

_MAX_SHOWN_CHARS = 1_000_000
"""Maximum number of characters shown while a command runs."""


class ForegroundCommand:
    """Belongs to a call until it moves to a background task: its output, its time limit and its changes.

    A command in a workspace commits its changes when it ends, as those of the task. Without a view,
    changes before the move stay those of the call.
    """

    def __init__(self, call: CallContext, timeout_s: int) -> None:
        self.call = call
        self.deadline = CommandDeadline(timeout_s)
        self.output: CapturedOutput | None = None
        """All output of the current run."""
        self.exit: ExitStatus | None = None
        self.task: RunningTask | None = None
        self._tracking = AsyncExitStack()
        self._remaining = _MAX_SHOWN_CHARS

    @property
    def author(self) -> ChangeAuthor:
        """The call, as the author of changes."""
        return self.call.author

    def show_output(self, text: str) -> None:
        """Show output with the call, or write it to the task's output."""
        if self.task is not None:
            self.task.write(text)
        elif self._remaining > 0:
            self._remaining -= len(text)
            cut_note = "\n[… the rest of the output is not shown here …]\n"
            self.call.show_output(text if self._remaining > 0 else cut_note)

    def tracking_commit(self, commit: PendingCommit) -> AbstractAsyncContextManager[None]:
        """Return a context in which `commit` is recorded as the call's or the task's."""
        return self.call.tracking(commit) if self.task is None else self.task.tracking_commit(commit)

    @asynccontextmanager
    async def tracking(self) -> AsyncIterator[None]:
        """Record all changes as the call's until it moves; afterwards they are recorded as the task's."""
        if self.task is None:
            await self._tracking.enter_async_context(self.call.tracking())
        try:
            yield
        finally:
            await self._tracking.aclose()

    async def move(
        self,
        work: asyncio.Task[ToolReturn],
        tasks: BackgroundTasks,
        *,
        command: str,
        purpose: str,
        timeout_s: int,
    ) -> ToolReturn:
        """Make the running `work` one of `tasks`. Return the call's result.

        Raises TooManyTasks; KimiTuiError if the task's output can't be saved.
        """

        async def follow(running: RunningTask) -> TaskOutcome:
            await self._tracking.aclose()
            running.write(self.output.text() if self.output is not None else "")
            self.task = running
            self.deadline.restart(timeout_s)
            return await self._follow(work)

        output = self.output.text() if self.output is not None else ""
        task = await tasks.start(
            TaskRequest(kind="bash", description=purpose, command=command, work=follow, call_id=self.call.id)
        )
        return success(
            output,
            message=f"The user moved the command to the background. It continues as {task.id}; its output "
            "until then follows. You are notified when it ends. "
            f'TaskOutput(task_id="{task.id}") returns its output, TaskStop stops it.',
            brief=msg("in the background: {task_id}", task_id=task.id),
            display=(BackgroundTaskBlock(task.id, task.kind, task.status, task.description),),
        )

    async def _follow(self, work: asyncio.Task[ToolReturn]) -> TaskOutcome:
        """Wait for the end of `work`; end it if this task is canceled."""
        try:
            result = await asyncio.shield(work)
        except asyncio.CancelledError:
            work.cancel()
            with suppress(asyncio.CancelledError):
                await work
            raise
        if self.exit is None:
            return TaskOutcome("failed", result.message)
        if self.exit.timed_out:
            return TaskOutcome(
                "timed_out", msg("timed out after {seconds} s", seconds=f"{self.deadline.timeout_s:g}")
            )
        return TaskOutcome(
            "done" if self.exit.status == 0 else "failed", format_exit_status(self.exit.status)
        )


class ShownOutput(CommandOutput):
    """Captures the output of a command for the model, and shows it."""

    def __init__(self, captured: CapturedOutput, command: ForegroundCommand) -> None:
        super().__init__()
        self.captured = command.output = captured
        self._command = command

    def add_text(self, text: str) -> None:
        """Implement `CommandOutput.add_text`."""
        self.captured.add(text)
        self._command.show_output(text)
