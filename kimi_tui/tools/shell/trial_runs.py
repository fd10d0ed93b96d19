"""Commands that run before they are allowed: in a bounded workspace, whose effects the user approves."""

import asyncio
import logging
import re
from collections.abc import Coroutine
from pathlib import Path
from typing import NoReturn, Protocol

from kimi_tui.base.frozen import frozen
from kimi_tui.base.message_text import msg
from kimi_tui.permission.effect_review import EffectReview
from kimi_tui.permission.network_programs import find_network_program
from kimi_tui.permission.secret_file_index import SecretFileIndex
from kimi_tui.permission.subject import CommandSubject
from kimi_tui.tools.approval import Approval, ToolRejected, TrialSummary
from kimi_tui.tools.background.movable_commands import MovableCommands
from kimi_tui.tools.file.created_files import CreatedFiles
from kimi_tui.tools.path_scope import PathScope, printable_name
from kimi_tui.tools.shell.direct_commands import direct_run_reason
from kimi_tui.tools.shell.effect_summary import build_changes, select_effects, summarize_effects
from kimi_tui.tools.shell.foreground_command import ForegroundCommand
from kimi_tui.tools.shell.output_pipe import OutputReceiver
from kimi_tui.tools.shell.output_tail import OutputTail
from kimi_tui.tools.shell.private_command import PrivateCommands, PrivateRun, stopped_command
from kimi_tui.tools.shell.shell import ExitStatus, Shell
from kimi_tui.wire.display_blocks import ShellBlock
from kimi_tui.workspaces.effects import CommitPlan
from kimi_tui.workspaces.open_record import WorkspaceOwner
from kimi_tui.workspaces.sandbox.policy import SandboxPolicy
from kimi_tui.workspaces.workspace import Workspace
from kimi_tui.workspaces.workspaces import Workspaces

logger = logging.getLogger(__name__)

_VARIABLES = {
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_CONFIG_PARAMETERS": "'diff.autorefreshindex=false' 'gc.autodetach=false' "
    "'maintenance.autodetach=false'",
}
"""`git status` and `git diff` don't write the index, so that they have no effects, and git leaves no process
running."""
_READ_ONLY_ERRORS = ("Read-only file system", "EROFS", "Errno 30]", "os error 30")
_UNREACHABLE_PATH = re.compile(
    r"(?:No such file|Permission denied|cannot access|not found|ENOENT|EACCES|FileNotFound|PermissionError)"
)
PLAN_MODE_NOTE = (
    "Plan mode is on: the command ran in a private copy of the files, and its changes were discarded."
)


class BoundsBuilder(Protocol):
    """Builds the bounds of commands that run before they are allowed."""

    def build(self) -> SandboxPolicy:
        """Return the bounds, for the directories as they are now. Blocks."""
        ...


class MustAskFirst(Exception):
    """A command can't be judged by its effects, and has changed nothing; the message is the reason.

    The message is empty if the reason applies to all commands of the session.
    """


class MovedToBackground(MustAskFirst):
    """The user moved the command to the background. It was stopped, and has changed nothing."""

    def __init__(self) -> None:
        super().__init__(msg("it runs in the background"))


class RunsDirectly(Exception):
    """Raised if the user wants to run the command directly, with their edits if they made any."""

    def __init__(self, edited: str | None) -> None:
        super().__init__(edited or "")
        self.edited = edited


@frozen
class TrialRequest:
    """A command to run first."""

    subject: CommandSubject
    purpose: str
    discards: bool
    """Whether its effects are always discarded."""
    movable: MovableCommands | None
    """The commands that the user may move to the background, if this one can be moved."""


async def _run_unless_moved(
    running: Coroutine[None, None, ExitStatus], movable: MovableCommands | None, call_id: str
) -> ExitStatus:
    """Return how a command ends. If the user moves it, stop it and raise MovedToBackground."""
    if movable is None:
        return await running
    with movable.registered(call_id) as move_requested:
        work, moving = asyncio.ensure_future(running), asyncio.ensure_future(move_requested.wait())
        try:
            await asyncio.wait((work, moving), return_when=asyncio.FIRST_COMPLETED)
            if work.done():
                return work.result()
            raise MovedToBackground
        finally:
            moving.cancel()
            if not work.done():
                work.cancel()
                await asyncio.wait((work,))


class TrialRuns:
    """Runs commands in bounded workspaces, and commits the effects that are allowed."""

    def __init__(
        self,
        workspaces: Workspaces,
        shell: Shell,
        path_scope: PathScope,
        private_commands: PrivateCommands,
        bounds: BoundsBuilder,
        created_files: CreatedFiles,
    ) -> None:
        self._workspaces = workspaces
        self._shell = shell
        self._path_scope = path_scope
        self._private_commands = private_commands
        self._bounds = bounds
        self._created_files = created_files
        self._secret_files = SecretFileIndex()
        self.is_unavailable = False
        """Whether no command can run before it is allowed, as far as that is known."""

    async def run(
        self, trial: TrialRequest, output: OutputReceiver, *, command: ForegroundCommand, approval: Approval
    ) -> PrivateRun:
        """Run a command, get consent for its effects if they need it, and commit them.

        Raises MustAskFirst, RunsDirectly, ToolRejected and ShellUnavailable, after which nothing has changed;
        MovedToBackground if the user moves the command.
        """
        subject = trial.subject
        if self._shell.sandbox is not None:
            self.is_unavailable = True
            raise MustAskFirst
        if problem := await self._workspaces.find_bounds_problem():
            self._handle_unavailable(problem, approval)
        if reason := await asyncio.to_thread(_find_reason, subject, approval):
            raise MustAskFirst(reason)
        bounds = await asyncio.to_thread(self._bounds.build)
        async with self._workspaces.open(
            self._path_scope.work_dir,
            added_dirs=self._path_scope.additional_dirs,
            owner=WorkspaceOwner(author=command.author, is_allowed=False),
            bounds=bounds,
            watched=await asyncio.to_thread(self._secret_files.find, self._roots),
        ) as workspace:
            if not workspace.is_private:
                self._handle_unavailable(self._workspaces.problem, approval)
            tail = OutputTail(output)
            running = self._shell.run(
                trial.subject.line.text,
                work_dir=self._path_scope.work_dir,
                timeout_s=command.deadline,
                output=tail,
                starter=workspace,
                variables=_VARIABLES,
            )
            exit_ = await _run_unless_moved(running, trial.movable, command.call.id)
            await self._check_run(workspace, exit_, tail.text, approval)
            judgement = _Judgement(self, trial, workspace, command=command, approval=approval)
            return await judgement.conclude(exit_, tail.text)

    async def prepare(self, budget_s: float) -> bool:
        """Do part of the work that the first command would wait for, for about `budget_s` seconds.

        Return whether there is more to do.
        """
        if self.is_unavailable or self._shell.sandbox is not None:
            return False
        if await self._workspaces.find_bounds_problem():
            return False
        return await asyncio.to_thread(self._secret_files.prepare, self._roots, budget_s)

    @property
    def _roots(self) -> tuple[Path, ...]:
        return (self._path_scope.work_dir, *self._path_scope.additional_dirs)

    def _handle_unavailable(self, problem: str, approval: Approval) -> NoReturn:
        """Report why no command can run first, unless the user has switched that off. Raises MustAskFirst."""
        self.is_unavailable = True
        if not self._workspaces.is_switched_off:
            approval.report_unavailable_trials(problem)
        raise MustAskFirst

    async def _check_run(
        self, workspace: Workspace, exit_: ExitStatus, output: str, approval: Approval
    ) -> None:
        """Raise MustAskFirst if the command may have failed due to the bounds.

        Raises ShellUnavailable if it wrote too much.
        """
        reason = await workspace.finish(output)
        if workspace.stop_reason:
            raise stopped_command(workspace.stop_reason)
        if reason and not exit_.timed_out:
            raise MustAskFirst(reason)
        if exit_.status == 0:
            return
        if workspace.report.n_network_attempts:
            raise MustAskFirst(msg("it tried to reach the network"))
        if any(error in output for error in _READ_ONLY_ERRORS):
            raise MustAskFirst(msg("it changes files outside the working directory"))
        if _UNREACHABLE_PATH.search(output):
            path = await asyncio.to_thread(approval.find_outside_path_in_text, output)
            if path:
                raise MustAskFirst(msg("it needs {path}, which is outside the working directory", path=path))

    @property
    def created_paths(self) -> frozenset[Path]:
        """The files that the agents have created."""
        return self._created_files.paths

    @property
    def path_scope(self) -> PathScope:
        """The session's directories."""
        return self._path_scope

    async def commit(
        self, workspace: Workspace, plan: CommitPlan, text: str, command: ForegroundCommand
    ) -> tuple[str, ...]:
        """Commit effects; see `PrivateCommands.commit`."""
        return await self._private_commands.commit(workspace, plan, text, command)


class _Judgement:
    """Decides about the effects of one command that has ended."""

    def __init__(
        self,
        runs: TrialRuns,
        trial: TrialRequest,
        workspace: Workspace,
        *,
        command: ForegroundCommand,
        approval: Approval,
    ) -> None:
        self._runs = runs
        self._trial = trial
        self._workspace = workspace
        self._command = command
        self._approval = approval
        self._subject = trial.subject

    async def conclude(self, exit_: ExitStatus, output: str) -> PrivateRun:
        """Commit the effects, or discard them. Raises ToolRejected and RunsDirectly."""
        plan = await self._workspace.plan()
        review = await self._review(plan)
        if review.denied:
            raise ToolRejected(_describe_denied(review), ends_turn=False)
        shown_conflicts: dict[str, str] = {}
        while review.needs_consent:
            await self._request(plan, review, exit_, output)
            if self._discards:
                break
            # the user's files may have changed while the question was open
            shown_conflicts = _conflicts(plan)
            plan = await self._workspace.plan(again=True)
            if _conflicts(plan) == shown_conflicts:
                break
            logger.info("call %s: files changed before the answer", self._command.call.id)
        if self._discards:
            has_changes = bool(review.changes or review.dropped)
            return PrivateRun(exit_, (PLAN_MODE_NOTE,) if has_changes else ())
        selected = select_effects(plan, review.changes)
        if not review.changes:
            return PrivateRun(exit_, ())
        return PrivateRun(
            exit_,
            await self._runs.commit(self._workspace, selected, self._trial.subject.line.text, self._command),
        )

    @property
    def _discards(self) -> bool:
        """Whether the effects are discarded: plan mode may be on now."""
        return self._trial.discards or self._approval.command_mode(self._subject) == "discard"

    async def _review(self, plan: CommitPlan) -> EffectReview:
        changes = build_changes([item.effect for item in plan.items])
        review = await asyncio.to_thread(
            self._approval.review_effects,
            self._subject,
            changes,
            created=self._runs.created_paths,
            opened=self._workspace.report.opened,
            n_network_attempts=self._workspace.report.n_network_attempts,
        )
        return review.without_changes() if self._trial.discards else review

    async def _request(self, plan: CommitPlan, review: EffectReview, exit_: ExitStatus, output: str) -> None:
        summary = await asyncio.to_thread(
            summarize_effects, plan, review, exit_, output, self._runs.path_scope
        )
        command = self._trial.subject.line.text
        purpose = self._trial.purpose
        answer = await self._approval.request_effects(
            self._command.call,
            subject=self._subject,
            review=review,
            summary=TrialSummary(
                description=f"{purpose}: `{command}`" if purpose else f"Run `{command}`",
                effects=summary.effects,
                display=(ShellBlock(command), *summary.display),
            ),
        )
        if answer.action == "run_directly":
            raise RunsDirectly(answer.edited)


def _find_reason(subject: CommandSubject, approval: Approval) -> str:
    """Return why a command needs approval before it runs; empty if it needn't. Blocks."""
    line = subject.line
    if reason := direct_run_reason(line):
        return reason
    if program := find_network_program(line):
        return msg("{program} needs the network", program=program)
    if path := approval.find_outside_path(subject):
        return msg("it names {path}, which is outside the working directory", path=path)
    return ""


def _conflicts(plan: CommitPlan) -> dict[str, str]:
    return {item.effect.path: item.conflict for item in plan.conflicts}


def _describe_denied(review: EffectReview) -> str:
    names = ", ".join(printable_name(str(change.path)) for change in review.denied[:5])
    return (
        f"The user's permission rules deny changes of {names}. The command ran in a private copy of the "
        "files, and all of its changes were discarded."
    )
