"""Runner of commands on the files of a checkpoint, in a workspace."""

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
"""Exit code that means "can't tell", as in `git bisect run`."""
NO_TIMEOUT_S = 7 * 86_400.0
_MAX_OUTPUT_BYTES = 4_000


@frozen(kw_only=True)
class CheckpointRun:
    """Result of a command."""

    verdict: CheckVerdict
    output: str
    """The end of the command's output."""
    timed_out: bool
    duration_s: float
    is_copy: bool
    """Whether the command ran in a copy of the files at another path."""


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
    """Runs commands with the environment and the sandbox of the agent's own commands."""

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
        """Run `command` on the files of `state`, or on the current files if None.

        `replaced` are changes to make to these files first. `variables` are added to the environment.
        Cancellation ends the command.
        Raises StateUnavailable. Raises KimiTuiError if the view can't be opened or the command can't start.
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
