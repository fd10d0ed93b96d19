"""Notices what may have weakened a check: changes of tests, of their configuration, and of what runs them."""

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path

from kimi_tui.base.frozen import frozen
from kimi_tui.base.message_text import msg
from kimi_tui.engine.files.checkpoint_views import CheckpointViews
from kimi_tui.engine.files.snapshot_worker import SnapshotWorker
from kimi_tui.engine.goal.environment_files import FileIdentity, changed_files, find_environment_files
from kimi_tui.engine.goal.protected_files import ProtectedFiles, is_cache, suspicious_lines
from kimi_tui.engine.timeline.compare import compare_states
from kimi_tui.history.snapshots.entry import Changes
from kimi_tui.history.snapshots.file_history import FileHistory
from kimi_tui.wire.compared_lines import diff_lines
from kimi_tui.wire.timeline import ComparedFile

_MAX_DIFF_LINES = 200


@frozen(kw_only=True)
class _Start:
    """The files when the guard began."""

    state: str
    environment: Mapping[str, FileIdentity]


@frozen(kw_only=True)
class GuardReport:
    """What changed since the start that may have weakened the check."""

    files: tuple[ComparedFile, ...]
    """Protected files that checkpoints cover."""
    others: tuple[str, ...]
    """Protected files that they don't cover, and programs."""
    lines: tuple[str, ...]
    """Suspicious lines that were added to other files, with the paths."""
    restored: Changes
    """What turns the protected files into those of the start."""

    @property
    def is_empty(self) -> bool:
        """Whether nothing changed that decides the check."""
        return not (self.files or self.others or self.lines)

    @property
    def names(self) -> list[str]:
        """One line for each change."""
        return [*(file.path for file in self.files), *self.others, *self.lines]

    def describe(self) -> list[str]:
        """Return the changes as lines for the user. They are untrusted text."""
        diff = [line for file in self.files for line in diff_lines(file)]
        lines = diff[:_MAX_DIFF_LINES]
        if len(diff) > _MAX_DIFF_LINES:
            lines.append(msg("… {count} more lines", count=len(diff) - _MAX_DIFF_LINES))
        lines += [msg("not covered by checkpoints: {name}", name=name) for name in self.others]
        return lines + [msg("suspicious: {line}", line=line) for line in self.lines]


class CheckGuard:
    """Guards one check from when it begins."""

    def __init__(self, check: str, *, work_dir: Path, views: CheckpointViews, worker: SnapshotWorker) -> None:
        self._protected = ProtectedFiles(check)
        self._work_dir = work_dir
        self._views = views
        self._worker = worker
        self._start = _Start(state="", environment={})

    async def begin(self) -> None:
        """Remember the files. Raises KimiTuiError."""
        state = await self._views.capture_now()
        self._start = _Start(state=state, environment=await self._find_environment_files())

    async def report(self) -> GuardReport:
        """Return what changed since then. Raises KimiTuiError."""
        now = await self._views.capture_now()
        others = changed_files(self._start.environment, await self._find_environment_files())
        return await self._worker.use(
            lambda history: _compare_with_start(history, self._start.state, now, self._protected, others)
        )

    async def _find_environment_files(self) -> Mapping[str, FileIdentity]:
        return await asyncio.to_thread(find_environment_files, self._work_dir, self._protected)


def _compare_with_start(
    history: FileHistory, start: str, now: str, protected: ProtectedFiles, others: Sequence[str]
) -> GuardReport:
    from kimi_tui.workspaces.checkpoint.state_differences import StateDifferences

    to_start = StateDifferences(history.manifests).between(now, start)
    covered = {*history.manifests.entries(start), *history.manifests.entries(now)}
    comparison = compare_states(history, 0, None, start, now, n_diffs=None)
    lines = [
        f"{file.path}: {line}"
        for file in comparison.files
        if not (protected.is_protected(file.path) or is_cache(file.path))
        for line in _suspicious_changes(file)
    ]
    return GuardReport(
        files=tuple(file for file in comparison.files if protected.is_protected(file.path)),
        others=tuple(name for name in others if name not in covered),
        lines=tuple(lines),
        restored={path: entry for path, entry in to_start.items() if protected.is_protected(path)},
    )


def _suspicious_changes(file: ComparedFile) -> list[str]:
    """Return the suspicious lines that were added to a file, or why they can't be seen."""
    if file.no_diff and file.change != "removed":
        return [file.no_diff]
    return suspicious_lines(line[1:].strip() for line in diff_lines(file)[1:] if line.startswith("+"))
