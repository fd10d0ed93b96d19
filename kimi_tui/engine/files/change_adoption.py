"""Adoption of changes that were made in a workspace, while the session continues."""

import os
from functools import partial

from kimi_tui.base.frozen import frozen
from kimi_tui.base.message_text import msg
from kimi_tui.engine.files.coverage import joined_path
from kimi_tui.engine.files.session_files import SessionFiles
from kimi_tui.history.snapshots.attribution import ChangeAuthor
from kimi_tui.history.snapshots.deadline import ScanDeadline
from kimi_tui.history.snapshots.file_history import FileHistory
from kimi_tui.history.snapshots.plan import Plan
from kimi_tui.history.snapshots.plan_executor import ExecutionResult
from kimi_tui.history.snapshots.planning.adoption import AdoptedChanges, combine_adopted
from kimi_tui.tools.change_tracker import PendingCommit
from kimi_tui.tools.path_scope import PathScope


@frozen(kw_only=True)
class AdoptionResult:
    """Result of an adoption. Paths are in the file history's format."""

    adopted: tuple[str, ...]
    """The paths that changed."""
    left: dict[str, str]
    """The paths that weren't changed, with the reasons."""


async def adopt_changes(
    files: SessionFiles, workspace: PathScope, changes: AdoptedChanges, *, author: ChangeAuthor
) -> AdoptionResult:
    """Apply changes to the files, and record `author` as their author. Raises KimiTuiError.

    Files with conflicting later changes stay unchanged.
    """
    plan = await files.worker.run_query(partial(_plan_adoption, changes=changes))
    selected = [item for item in plan.items if item.is_selected]
    changing = {path for item in selected for each in (item, *item.members) for path in each.paths}
    work_dir = os.path.realpath(workspace.work_dir)
    paths = tuple(os.path.join(work_dir, joined_path(path)) for path in sorted(changing))  # noqa: PTH118
    async with files.tracking_by(author, PendingCommit(paths, "")):
        outcome = await files.worker.use(_execute, plan, [item.path for item in selected])
    left = {
        item.path: item.note or msg("its new content isn't covered")
        for item in plan.items
        if not item.is_selected and item.has_effect
    }
    return AdoptionResult(adopted=tuple(sorted(outcome.done)), left={**left, **dict(outcome.failed)})


def _plan_adoption(history: FileHistory, deadline: ScanDeadline, *, changes: AdoptedChanges) -> Plan:
    return history.plan(combine_adopted([changes], history.blobs), deadline=deadline)


class _NoRecorder:
    """Records nothing, because the caller captures the changed paths. Implements `ResultRecorder`."""

    def record_result(self, outcome: ExecutionResult, session: str) -> None:
        """Implement `ResultRecorder.record_result`."""


def _execute(history: FileHistory, plan: Plan, selected: list[str]) -> ExecutionResult:
    return history.execute(plan, selected, recorder=_NoRecorder())[0]
