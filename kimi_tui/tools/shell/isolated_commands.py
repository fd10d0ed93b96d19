"""Commands of an agent that works in a workspace of its own until it ends."""

import asyncio
from dataclasses import replace

from kimi_tui.base.errors import ShellUnavailable
from kimi_tui.base.message_text import msg
from kimi_tui.permission.bash.command_line import BashCommandLine
from kimi_tui.tools.path_scope import PathScope
from kimi_tui.tools.shell.captured_output import OutputFolder
from kimi_tui.tools.shell.direct_commands import direct_run_reason
from kimi_tui.tools.shell.foreground_command import ForegroundCommand
from kimi_tui.tools.shell.output_pipe import OutputReceiver
from kimi_tui.tools.shell.private_command import SANDBOX_VARIABLES, PrivateCommands, PrivateRun
from kimi_tui.tools.shell.shell import NO_VARIABLES, Shell
from kimi_tui.workspaces.overlay.lasting_view import LastingView
from kimi_tui.workspaces.workspaces import Workspaces

_BACKGROUND_REASON = (
    "Commands can't run in the background of an isolated workspace. Run it in the foreground, with a timeout."
)


class IsolatedCommands(PrivateCommands):
    """Runs commands in one view, one after another. Nothing is committed, and nothing runs directly."""

    def __init__(
        self,
        view: LastingView,
        workspaces: Workspaces,
        shell: Shell,
        path_scope: PathScope,
        output_folder: OutputFolder,
    ) -> None:
        super().__init__(workspaces, shell, path_scope, output_folder)
        self._view = view
        self._running = asyncio.Lock()

    @property
    def no_background_reason(self) -> str:
        """Extend `PrivateCommands.no_background_reason`: the view ends with the agent."""
        return _BACKGROUND_REASON

    async def run(
        self, line: BashCommandLine, *, output: OutputReceiver, command: ForegroundCommand
    ) -> PrivateRun:
        """Run a command in the view. Raises ShellUnavailable, after which nothing has changed."""
        if reason := direct_run_reason(line):
            raise ShellUnavailable(
                msg("This command can't run in an isolated workspace: {reason}.", reason=reason),
                hint="Do without it, or report that it is needed.",
            )
        is_bounded = self._view.is_bounded
        async with self._running:
            exit_ = await self._shell.run(
                line.text,
                work_dir=self._path_scope.work_dir,
                timeout_s=command.deadline,
                output=output,
                starter=self._view,
                is_bounded=is_bounded,
                variables=SANDBOX_VARIABLES if is_bounded else NO_VARIABLES,
            )
            n_left = await self._view.finish()
        if reason := self._view.stop_reason:
            raise ShellUnavailable(
                msg("The command was stopped: {reason}.", reason=reason),
                hint="Delete the large files before you continue.",
            )
        notes = ("The processes that it left running are stopped.",) if n_left else ()
        return PrivateRun(replace(exit_, left_children=False), notes)
