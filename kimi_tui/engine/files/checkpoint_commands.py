"""Runs a command in the files of a checkpoint, in a workspace."""

import time
from collections.abc import Mapping
from pathlib import Path

from kimi_tui.base.child_environment import ChildEnvironment
from kimi_tui.base.frozen import frozen
from kimi_tui.base.message_text import msg
from kimi_tui.engine.files.checkpoint_views import CheckpointViews
from kimi_tui.history.snapshots.entry import Changes
from kimi_tui.tools.shell.shell import NO_VARIABLES, Shell, ShellSandbox
from kimi_tui.wire.checks import CheckVerdict

SKIP_STATUS = 125
"""Exit code of a command that can't tell, as in `git bisect run`."""
NO_TIMEOUT_S = 7 * 86_400.0
_MAX_OUTPUT_BYTES = 4_000


@frozen(kw_only=True)
class CheckpointRun:
    """How a command ended."""

    verdict: CheckVerdict
    output: str
    """The end of its output."""
    timed_out: bool
    duration_s: float
    is_copy: bool
    """Whether it ran in a copy at another path."""


class _OutputEnd:
    """Keeps the end of a command's output."""

    def __init__(self) -> None:
        self._data = bytearray()

    def receive(self, data: bytes) -> None:
        """Implement `OutputReceiver.receive`."""
        self._data += data
        del self._data[:-_MAX_OUTPUT_BYTES]

    @property
    def text(self) -> str:
        return self._data.decode("utf-8", "replace").strip("\n")


class CheckpointCommands:
    """Runs commands in the environment, and within the sandbox, of the agent's own."""

    def __init__(
        self,
        views: CheckpointViews,
        *,
        work_dir: Path,
        environment: ChildEnvironment,
        sandbox: ShellSandbox | None,
    ) -> None:
        self.views = views
        self._work_dir = work_dir
        self._environment = environment
        self._sandbox = sandbox

    async def run(
        self,
        command: str,
        state: str | None,
        *,
        timeout_s: float = NO_TIMEOUT_S,
        replaced: Changes | None = None,
        variables: Mapping[str, str] = NO_VARIABLES,
    ) -> CheckpointRun:
        """Run `command` in the files of `state`; None for the current ones. Canceling it ends the command.

        `replaced` are changes of these files, and `variables` are added to the environment.

        Raises StateUnavailable, and KimiTuiError if there can't be a view or the command can't start.
        """
        output = _OutputEnd()
        shell = Shell(environment=self._environment, sandbox=self._sandbox)
        async with self.views.open(state, replaced) as view:
            start = time.monotonic()
            try:
                ended = await shell.run(
                    command,
                    work_dir=self._work_dir,
                    timeout_s=timeout_s,
                    output=output,
                    starter=view,
                    variables=variables,
                )
            finally:
                await shell.close()
            duration_s = time.monotonic() - start
            stopped = (
                msg("The command was stopped: {reason}.", reason=view.stop_reason) if view.stop_reason else ""
            )
        return CheckpointRun(
            verdict=_verdict_of(ended.status),
            output=f"{output.text}\n{stopped}".strip("\n"),
            timed_out=ended.timed_out,
            duration_s=duration_s,
            is_copy=view.is_copy,
        )


def _verdict_of(status: int) -> CheckVerdict:
    if status == SKIP_STATUS:
        return "skip"
    return "pass" if status == 0 else "fail"
