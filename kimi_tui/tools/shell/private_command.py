"""Commands in workspaces, whose effects are committed when they end."""

import asyncio
import logging
import shutil
from collections.abc import Mapping
from pathlib import Path

from kimi_tui.base.errors import ShellUnavailable
from kimi_tui.base.frozen import frozen
from kimi_tui.base.message_text import msg
from kimi_tui.base.shielding import run_in_thread_shielded, run_shielded
from kimi_tui.permission.bash.command_line import BashCommandLine
from kimi_tui.tools.change_tracker import PendingCommit
from kimi_tui.tools.file.created_files import CreatedFiles
from kimi_tui.tools.path_scope import PathScope, printable_name
from kimi_tui.tools.shell.captured_output import OutputFolder
from kimi_tui.tools.shell.client_terminals import NO_TERMINALS, Terminals
from kimi_tui.tools.shell.direct_commands import direct_run_reason
from kimi_tui.tools.shell.effect_summary import refuse_later_programs
from kimi_tui.tools.shell.foreground_command import ForegroundCommand
from kimi_tui.tools.shell.output_pipe import OutputReceiver
from kimi_tui.tools.shell.output_tail import OutputTail
from kimi_tui.tools.shell.shell import NO_VARIABLES, ExitStatus, Shell
from kimi_tui.workspaces.effects import CommitPlan, PathEffect
from kimi_tui.workspaces.open_record import WorkspaceOwner
from kimi_tui.workspaces.workspace import Workspace
from kimi_tui.workspaces.workspaces import Workspaces

logger = logging.getLogger(__name__)

SANDBOX_VARIABLES = {"GIT_CONFIG_PARAMETERS": "'gc.autodetach=false' 'maintenance.autodetach=false'"}
"""git leaves no process running, which would keep the command from running in a workspace."""
_MAX_SAVED_BYTES = 10 << 20
"""Maximum size of a file whose version is saved if it can't be committed."""
_MAX_NAMED = 10
"""Maximum number of paths that are named because they weren't committed."""


class MustRunDirectly(Exception):
    """A command can't run in a workspace, and has changed nothing; the message is the reason."""


@frozen
class PrivateRun:
    """A command that has run in a workspace."""

    exit: ExitStatus
    left_alone: tuple[str, ...]
    """For each path whose effect wasn't committed, a sentence that says why and where its version is."""

    @property
    def note(self) -> str:
        """What the model and the user should know about the commit; empty if it is complete."""
        if not self.left_alone:
            return ""
        more = len(self.left_alone) - _MAX_NAMED
        rest = [f"{more} more paths were left alone for the same reasons."] if more > 0 else []
        return " ".join([*self.left_alone[:_MAX_NAMED], *rest])


class PrivateCommands:
    """Runs commands in workspaces and commits their effects as those of the tool call."""

    def __init__(
        self,
        workspaces: Workspaces,
        shell: Shell,
        path_scope: PathScope,
        output_folder: OutputFolder,
        terminals: Terminals = NO_TERMINALS,
        created_files: CreatedFiles | None = None,
    ) -> None:
        self._created_files = created_files or CreatedFiles()
        self._terminals = terminals
        self._workspaces = workspaces
        self._shell = shell
        self._path_scope = path_scope
        self._output_folder = output_folder

    async def find_problem(self) -> str:
        """Return why no command can run in a workspace; empty if one can."""
        if self.runs_elsewhere:
            return self.runs_elsewhere
        if self._shell.sandbox is not None and (problem := await self._workspaces.find_bounds_problem()):
            return problem
        scope = self._path_scope
        return (await self._workspaces.status(scope.work_dir, scope.additional_dirs)).problem

    @property
    def runs_elsewhere(self) -> str:
        """Where all allowed commands run; empty if they may run in a workspace."""
        has_terminals = self._terminals.is_available and self._shell.sandbox is None
        return "commands run in the client's terminals" if has_terminals else ""

    @property
    def no_background_reason(self) -> str:
        """Why no command can run in the background; empty if one can."""
        return ""

    async def must_change_git_directly(self) -> bool:
        """Return whether git commands in the sandbox can't run in a workspace, so that none is reviewed."""
        return self._shell.sandbox is not None and bool(await self._workspaces.find_bounds_problem())

    async def run(
        self, line: BashCommandLine, *, output: OutputReceiver, command: ForegroundCommand
    ) -> PrivateRun:
        """Run a command, and commit what it changed, even if it times out or this task is canceled.

        Raises MustRunDirectly and ShellUnavailable, after which nothing has changed.
        """
        if reason := self.runs_elsewhere or direct_run_reason(line):
            raise MustRunDirectly(reason)
        sandbox = self._shell.sandbox
        owner = WorkspaceOwner(author=command.author, is_allowed=True, is_sandboxed=sandbox is not None)
        async with self._workspaces.open(
            self._path_scope.work_dir,
            added_dirs=self._path_scope.additional_dirs,
            owner=owner,
            bounds=sandbox.policy if sandbox is not None else None,
        ) as workspace:
            if not workspace.is_private:
                raise MustRunDirectly(self._workspaces.problem)
            tail = OutputTail(output)
            try:
                exit_ = await self._shell.run(
                    line.text,
                    work_dir=self._path_scope.work_dir,
                    timeout_s=command.deadline,
                    output=tail,
                    starter=workspace,
                    is_bounded=sandbox is not None,
                    variables=SANDBOX_VARIABLES if sandbox is not None else NO_VARIABLES,
                )
                # whatever the exit status: a pipeline hides that of its first commands
                reason = await workspace.finish(tail.text)
            except BaseException:
                await run_shielded(self._commit(workspace, line.text, command))
                raise
            if workspace.stop_reason:
                await workspace.discard()
                raise stopped_command(workspace.stop_reason)
            if reason and not exit_.timed_out:
                await workspace.discard()
                raise MustRunDirectly(reason)
            return PrivateRun(exit_, await run_shielded(self._commit(workspace, line.text, command)))

    async def commit(
        self, workspace: Workspace, plan: CommitPlan, text: str, command: ForegroundCommand
    ) -> tuple[str, ...]:
        """Commit the effects of `plan`, even if this task is canceled.

        Return a sentence for each path that was left alone.
        """
        return await run_shielded(self._commit_plan(workspace, plan, text, command))

    async def _commit(self, workspace: Workspace, text: str, command: ForegroundCommand) -> tuple[str, ...]:
        plan = await workspace.plan()
        if self._shell.sandbox is not None:
            plan = await asyncio.to_thread(refuse_later_programs, plan)
        return await self._commit_plan(workspace, plan, text, command)

    async def _commit_plan(
        self, workspace: Workspace, plan: CommitPlan, text: str, command: ForegroundCommand
    ) -> tuple[str, ...]:
        conflicts = {item.effect.path: item.conflict for item in plan.conflicts}
        saved = await self._save_versions(plan, conflicts)
        paths = tuple(effect.path for effect in plan.takes)
        async with command.tracking_commit(PendingCommit(paths, text, plan.renames)):
            result = await workspace.commit(plan)
        failed = {**conflicts, **result.failed}
        self._created_files.record_commit(plan.takes, failed)
        if failed:
            logger.warning("effects were not committed: %s", failed)
        return tuple(_describe_left_alone(path, reason, saved) for path, reason in failed.items())

    async def _save_versions(self, plan: CommitPlan, conflicts: Mapping[str, str]) -> dict[str, Path]:
        """Save the command's versions of files in conflict, so that they aren't lost."""
        saved: dict[str, Path] = {}
        for effect in [item.effect for item in plan.conflicts][:_MAX_NAMED]:
            if _can_be_saved(effect):
                try:
                    saved[effect.path] = await run_in_thread_shielded(self._save_version, effect)
                except OSError:
                    logger.warning("can't save a version: %s", effect.path, exc_info=True)
        return saved

    def _save_version(self, effect: PathEffect) -> Path:
        path, file = self._output_folder.new_file(suffix=Path(effect.path).suffix or ".txt")
        with file, open(effect.source, "rb") as source:  # noqa: PTH123 - bytes that aren't UTF-8
            shutil.copyfileobj(source, file)
        return path


def stopped_command(reason: str) -> ShellUnavailable:
    """Return the error for a command that was ended since it wrote too much."""
    return ShellUnavailable(
        msg("The command was stopped: {reason}. Its changes were discarded.", reason=reason),
        hint="Write less at a time. The user can set `max_mb` under [workspaces] in the config.",
    )


def _can_be_saved(effect: PathEffect) -> bool:
    after = effect.after
    return bool(effect.source) and after is not None and after.is_file and after.size <= _MAX_SAVED_BYTES


def _describe_left_alone(path: str, reason: str, saved: Mapping[str, Path]) -> str:
    name = printable_name(path)
    where = f" The command's version is in {saved[path]}." if path in saved else ""
    return f"{name} was left alone: {reason.rstrip('.')}.{where}"
