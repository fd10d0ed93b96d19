"""Detects changes that may weaken a check: to tests, their configuration and the programs that run them."""

import asyncio
from collections.abc import Mapping, Sequence
from difflib import ndiff
from pathlib import Path

from kimi_tui.base.frozen import frozen
from kimi_tui.base.message_text import msg
from kimi_tui.engine.files.checkpoint_views import CheckpointViews
from kimi_tui.engine.files.snapshot_worker import SnapshotWorker
from kimi_tui.engine.goal.environment_files import (
    FileIdentity,
    changed_files,
    find_environment_files,
    installed_modules,
    is_code,
)
from kimi_tui.engine.goal.mentioned_files import MentionedFiles
from kimi_tui.engine.goal.protected_files import ENVIRONMENT_FOLDERS, ProtectedFiles, is_cache
from kimi_tui.engine.goal.suspicious_lines import SuspiciousLines
from kimi_tui.engine.goal.tests_in_code import find_code_tests
from kimi_tui.engine.timeline.compare import compare_states
from kimi_tui.history.snapshots.entry import Changes
from kimi_tui.history.snapshots.file_history import FileHistory
from kimi_tui.wire.compared_lines import diff_lines
from kimi_tui.wire.timeline import ComparedFile

_MAX_DIFF_LINES = 200
_MAX_LINE_CHARS = 10_000


@frozen(kw_only=True)
class _Start:
    """Files when the guard began."""

    state: str
    environment: Mapping[str, FileIdentity]


@frozen(kw_only=True)
class GuardReport:
    """Changes since the start that may have weakened the check."""

    files: tuple[ComparedFile, ...]
    """Changed protected files that checkpoints cover."""
    others: tuple[str, ...]
    """Changed programs, and changed protected files that checkpoints don't cover."""
    lines: tuple[str, ...]
    """Suspicious lines that were added to other files, as `PATH: LINE`."""
    restored: Changes
    """Changes that restore the protected files."""
    fewer_tests: str = ""
    """Numbers of tests, if the check ran fewer tests than at the start; otherwise empty."""

    @property
    def is_empty(self) -> bool:
        """Whether no change may have weakened the check."""
        return not (self.files or self.others or self.lines or self.fewer_tests)

    @property
    def names(self) -> list[str]:
        """One line for each change."""
        return [
            *(file.path for file in self.files),
            *self.others,
            *self.lines,
            *filter(None, [self.fewer_tests]),
        ]

    def describe(self) -> list[str]:
        """Return the changes as lines for the user. The lines are untrusted text."""
        diff = [line for file in self.files for line in diff_lines(file)]
        lines = diff[:_MAX_DIFF_LINES]
        if len(diff) > _MAX_DIFF_LINES:
            lines.append(msg("… {count} more lines", count=len(diff) - _MAX_DIFF_LINES))
        lines += [msg("not covered by checkpoints: {name}", name=name) for name in self.others]
        lines += [msg("suspicious: {line}", line=line) for line in self.lines]
        return [*lines, *filter(None, [self.fewer_tests])]


class CheckGuard:
    """Detects changes that may weaken one check."""

    def __init__(self, check: str, *, work_dir: Path, views: CheckpointViews, worker: SnapshotWorker) -> None:
        self._check = check
        self._protected = ProtectedFiles(check)
        self._work_dir = work_dir
        self._views = views
        self._worker = worker
        self._start = _Start(state="", environment={})

    async def begin(self) -> None:
        """Record the current files as the start. Raises KimiTuiError."""
        state = await self._views.capture_now()
        paths = await self._worker.use(lambda history: list(history.manifests.entries(state)))
        environment = await self._find_environment_files()
        installed = installed_modules(environment)
        self._protected = ProtectedFiles(self._check, paths=paths, installed=installed)
        self._start = _Start(state=state, environment=await self._find_environment_files())

    async def report(self) -> GuardReport:
        """Return the changes since `begin`. Raises KimiTuiError."""
        now = await self._views.capture_now()
        others = changed_files(self._start.environment, await self._find_environment_files())
        comparison = _Comparison(self._check, self._protected, self._start.state, now, self._work_dir)
        return await self._worker.use(lambda history: comparison.report(history, others))

    async def _find_environment_files(self) -> Mapping[str, FileIdentity]:
        return await asyncio.to_thread(find_environment_files, self._work_dir, self._protected)


@frozen
class _Comparison:
    """Compares the files at the start with the current files, for one check."""

    check: str
    protected: ProtectedFiles
    start: str
    now: str
    work_dir: Path

    def report(self, history: FileHistory, others: Sequence[str]) -> GuardReport:
        """Return the changes. `others` are names of changed files that checkpoints may not cover."""
        from kimi_tui.workspaces.checkpoint.state_differences import StateDifferences

        to_start = StateDifferences(history.manifests).between(self.now, self.start)
        at_start = history.manifests.entries(self.start)
        covered = {*at_start, *history.manifests.entries(self.now)}
        files = compare_states(history, 0, None, self.start, self.now, n_diffs=None).files
        mentioned = MentionedFiles(at_start, history.blobs, self.protected)
        decisive = {
            file.path
            for file in files
            if self.protected.is_protected(file.path) or mentioned.is_mentioned(file.path)
        }
        has_doctests = mentioned.has_word(b"doctest") or "doctest" in self.check
        suspicious = SuspiciousLines(self.check)
        lines = [
            f"{file.path}: {line}"
            for file in files
            if not (file.path in decisive or is_cache(file.path))
            for line in _suspicious_changes(file, suspicious, has_doctests=has_doctests)
        ]
        uncovered = [name for name in others if name not in covered]
        code = [name for name in uncovered if self._is_only_code(name)]
        lines += [f"{name}: {line}" for name in code for line in suspicious.find(self._read(name))]
        return GuardReport(
            files=tuple(file for file in files if file.path in decisive),
            others=tuple(name for name in uncovered if name not in code),
            lines=tuple(lines),
            restored={
                path: entry
                for path, entry in to_start.items()
                if path in decisive or self.protected.is_protected(path)
            },
        )

    def _is_only_code(self, name: str) -> bool:
        """Return whether a file is code that isn't protected, such as ignored code."""
        is_outside = name.startswith("/") or ": /" in name
        is_installed = not ENVIRONMENT_FOLDERS.isdisjoint(name.split("/"))
        return is_code(name) and not (is_outside or is_installed or self.protected.is_protected(name))

    def _read(self, name: str) -> list[str]:
        try:
            text = (self.work_dir / name).read_text(errors="replace")
        except OSError:
            return []
        return [line.strip()[:_MAX_LINE_CHARS] for line in text.splitlines()]


def _suspicious_changes(file: ComparedFile, suspicious: SuspiciousLines, *, has_doctests: bool) -> list[str]:
    """Return the suspicious lines added to a file and the changed lines of its tests.

    If the file has no diff, return the reason.
    """
    if file.no_diff and file.change != "removed":
        return [file.no_diff]
    if file.diff is None:
        return []
    before, now = (
        find_code_tests(file.path, text, has_doctests=has_doctests)
        for text in (file.diff.old_text, file.diff.new_text)
    )
    tests = [line.strip() for line in ndiff(before, now) if line[0] in "+-"] if before else []
    return tests + suspicious.find(line[1:].strip() for line in diff_lines(file)[1:] if line.startswith("+"))
