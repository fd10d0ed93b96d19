"""Service that combines everything a session needs for its timeline."""

import asyncio
import logging
import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from kimi_tui.base.child_environment import ChildEnvironment
from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.message_text import msg
from kimi_tui.base.shielding import run_shielded
from kimi_tui.config.settings import CheckpointSettings, CheckSettings
from kimi_tui.engine.attempts.attempt_store import AttemptStore
from kimi_tui.engine.bisect.bisect_service import BisectService
from kimi_tui.engine.checks.check_runner import CheckRunner
from kimi_tui.engine.checks.step_checks import StepChecks
from kimi_tui.engine.files.checkpoint_commands import CheckpointCommands
from kimi_tui.engine.files.checkpoint_views import CheckpointViews
from kimi_tui.engine.files.coverage import covered_dirs, display_path, excluded_dirs
from kimi_tui.engine.files.left_commands import LeftCommands
from kimi_tui.engine.files.session_files import SessionFiles
from kimi_tui.engine.files.snapshot_worker import HistoryFactory, SnapshotWorker
from kimi_tui.engine.review.change_reviewer import ChangeReviewer
from kimi_tui.engine.review.review_service import ReviewService
from kimi_tui.engine.session.notices import Severity, build_notice
from kimi_tui.engine.session.todos import SessionTodos
from kimi_tui.engine.timeline.commands import TimelineCommands
from kimi_tui.engine.timeline.publisher import TimelinePublisher
from kimi_tui.engine.timeline.recovery import recover_revert
from kimi_tui.engine.timeline.revert_executor import RevertExecutor
from kimi_tui.engine.timeline.revert_plan_builder import RevertPlanBuilder
from kimi_tui.engine.timeline.revert_target import RevertTargets, is_state_pending
from kimi_tui.engine.timeline.shown_plans import ShownPlans
from kimi_tui.engine.why.why_service import WhyService
from kimi_tui.history.check_log import CheckLog
from kimi_tui.history.context import Context
from kimi_tui.history.manifest_id import is_manifest
from kimi_tui.history.session import Session, SessionStore
from kimi_tui.history.snapshots.limits import MB, SnapshotLimits
from kimi_tui.tools.path_scope import PathScope
from kimi_tui.tools.shell.private_command import PrivateCommands
from kimi_tui.tools.shell.shell import ShellSandbox
from kimi_tui.wire.event_sender import EventSender
from kimi_tui.workspaces.workspaces import Workspaces

if TYPE_CHECKING:
    from kimi_tui.history.snapshots.file_history import FileHistory
    from kimi_tui.history.snapshots.plan_executor import ExecutionResult

logger = logging.getLogger(__name__)


class TimelineService:
    """Timeline of one session whose conversation has been restored."""

    def __init__(
        self,
        *,
        session: Session,
        context: Context,
        workspace: PathScope,
        data_dir: Path,
        settings: CheckpointSettings,
        todos: SessionTodos,
        sender: EventSender,
        history_factory: HistoryFactory | None = None,
        private_commands: PrivateCommands | None = None,
        workspaces: Workspaces | None = None,
        check_settings: CheckSettings = CheckSettings(),
        environment: ChildEnvironment = ChildEnvironment(),
        sandbox: ShellSandbox | None = None,
    ) -> None:
        """Create the timeline. Without `private_commands`, scans find the changes of commands.

        Searches and checks run commands in `environment` and `sandbox`.
        """
        self._private_commands = private_commands
        self._session = session
        self._context = context
        self._todos = todos
        self._sender = sender
        earlier_states = [checkpoint.files for checkpoint in context.checkpoints]
        worker = SnapshotWorker(
            history_factory or ProjectHistoryFactory(data_dir, session, workspace, snapshot_limits(settings)),
            known_states=[files for files in earlier_states if files is not None and is_manifest(files)],
            sender=sender,
            session=session.id,
        )
        self.files = SessionFiles(worker, workspace=workspace, enabled=settings.files, log=context)
        self._left_commands = (
            LeftCommands(workspaces, work_dir=session.work_dir, files=self.files, sender=sender)
            if workspaces is not None
            else None
        )
        self._step_checks = StepChecks(CheckLog(session.dir))
        self.publisher = TimelinePublisher(
            session=session, context=context, files=self.files, sender=sender, checks=self._step_checks
        )
        shown_plans = ShownPlans()
        self.attempt_store = AttemptStore(session.dir)
        targets = RevertTargets(session, context)
        self.planner = RevertPlanBuilder(
            files=self.files,
            targets=targets,
            shown_plans=shown_plans,
            sender=sender,
            attempts=self.attempt_store,
        )
        self.reverts = RevertExecutor(
            session=session,
            context=context,
            files=self.files,
            todos=todos,
            timeline_publisher=self.publisher,
            targets=targets,
            planner=self.planner,
            sender=sender,
        )
        self.commands = TimelineCommands(
            session=session,
            store=SessionStore(data_dir),
            context=context,
            files=self.files,
            todos=todos,
            timeline_publisher=self.publisher,
            shown_plans=shown_plans,
            sender=sender,
        )
        self.review = ReviewService(
            session=session, files=self.files, workspace=workspace, shown_plans=shown_plans, sender=sender
        )
        self.reviewer = ChangeReviewer(
            session=session,
            context=context,
            files=self.files,
            planner=self.planner,
            reverts=self.reverts,
            shown_plans=shown_plans,
            sender=sender,
        )
        self.why = WhyService(
            session=session,
            store=SessionStore(data_dir),
            context=context,
            files=self.files,
            workspace=workspace,
            sender=sender,
        )
        self.checkpoint_commands = commands = CheckpointCommands(
            CheckpointViews(
                worker,
                workspaces or Workspaces(data_dir, choice="none"),
                work_dir=session.work_dir,
                added_dirs=workspace.additional_dirs,
            ),
            work_dir=session.work_dir,
            environment=environment,
            sandbox=sandbox,
        )
        self.bisect = BisectService(
            session=session, context=context, files=self.files, commands=commands, sender=sender
        )
        self.checks = CheckRunner(
            settings=check_settings,
            session=session,
            context=context,
            files=self.files,
            commands=commands,
            checks=self._step_checks,
            timeline_publisher=self.publisher,
            sender=sender,
        )

    async def recover(self) -> None:
        """Commit the changes of killed commands, and complete or drop a revert that a crash interrupted.

        Must run before any other command.
        """
        await self._step_checks.load()
        if self._left_commands is not None:
            self._request_pending_states()
            await run_shielded(self._left_commands.commit())
        try:
            message = await recover_revert(self._session, self._context, self.files, self._todos)
        except KimiTuiError as error:
            self._notify("An interrupted revert can't be completed", str(error), "error")
        else:
            if message:
                self._notify(message, "", "warning")

    def _request_pending_states(self) -> None:
        """Request the states of the newest checkpoints if kimi-tui was killed before they were captured."""
        for checkpoint in reversed(self._context.checkpoints):
            if not self.files.is_enabled or not is_state_pending(checkpoint.files):
                return
            self.files.request_state(checkpoint.id)

    async def run(self) -> None:
        """Take the first file snapshot, then keep checkpoints and front ends up to date, until canceled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self.publisher.run())
            if self._private_commands is not None:
                problem = await run_shielded(self._private_commands.find_problem())
                if not problem:
                    self.files.avoid_scans()
            recovered = await self.files.capture_initial()
            if recovered is not None:
                self._notify_recovered(recovered)
            group.create_task(self.files.capture_pending())

    async def close(self) -> None:
        """Stop the running search, and save the state of the file snapshots for the next session."""
        await self.bisect.close()
        await self.files.close()

    def _notify_recovered(self, outcome: "ExecutionResult") -> None:
        self._notify("An interrupted revert was completed", _describe_outcome(outcome), "warning")

    def _notify(self, title: str, body: str, severity: Severity) -> None:
        self._sender.send(build_notice(title, body, source_id=self._session.id, severity=severity))


def _describe_outcome(outcome: "ExecutionResult") -> str:
    count = len(outcome.done)
    done = msg("1 file reverted.") if count == 1 else msg("{count} files reverted.", count=count)
    failed = "; ".join(f"{display_path(path)}: {reason}" for path, reason in outcome.failed)
    return msg("{result} Not reverted: {paths}.", result=done, paths=failed) if failed else done


def snapshot_limits(settings: CheckpointSettings) -> SnapshotLimits:
    """Return the limits for file snapshots from the config."""
    return SnapshotLimits(
        file=settings.max_file_mb * MB,
        total=settings.max_total_mb * MB,
        files=settings.max_files,
        first_scan_s=settings.max_first_look_s,
        scan_s=settings.max_look_s,
        exclude=tuple(settings.exclude),
        age_days=settings.max_age_days,
    )


class ProjectHistoryFactory:
    """Builds the history of a session's files in the store of its project."""

    def __init__(
        self, data_dir: Path, session: Session, workspace: PathScope, limits: SnapshotLimits
    ) -> None:
        self._data_dir = data_dir
        self._session = session
        self._workspace = workspace
        self._limits = limits

    def build(self) -> "FileHistory":
        """Return the file history, not yet open. First remove old snapshots if a cleanup is due."""
        from kimi_tui.history.snapshots.file_history import FileHistory
        from kimi_tui.history.snapshots.project_store import ProjectStore

        store = ProjectStore(self._data_dir, self._session.work_dir, self._session.id)
        store.collect_when_due(self._limits)
        return FileHistory(
            store,
            limits=replace(self._limits, own=os.path.realpath(self._data_dir)),
            added_dirs=covered_dirs(self._workspace),
            excluded=excluded_dirs(self._workspace),
        )
