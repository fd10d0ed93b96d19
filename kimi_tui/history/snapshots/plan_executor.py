"""Plan executor that can complete a revert after a kill at any point.

A write-ahead file lists the change of each path before the first one is made, and is removed after the last
one. If it exists at the next start, its changes are completed: a path in its old state is changed, one in its
new state is left alone, and so is one in any other state, since someone has changed it.
"""

import contextlib
import json
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from kimi_tui.base.ids import new_uid
from kimi_tui.base.paths import make_private_dir
from kimi_tui.history.filesystem import FileSystem, discard, replace_file
from kimi_tui.history.snapshots.blob_store import BlobStore
from kimi_tui.history.snapshots.change_detection import detect_in_paths
from kimi_tui.history.snapshots.dir_handles import DirectoryHandles, PathRejected
from kimi_tui.history.snapshots.entry import Changes, Entries, Entry
from kimi_tui.history.snapshots.file_writer import AtomicFileWriter
from kimi_tui.history.snapshots.limits import SnapshotLimits
from kimi_tui.history.snapshots.plan import PlanItem
from kimi_tui.history.snapshots.plan_step_runner import PlanStep, PlanStepRunner, kind_of
from kimi_tui.history.snapshots.stat_cache import StatKey, WrittenFile
from kimi_tui.history.snapshots.work_filesystem import LOCAL_WORK_FILE_SYSTEM, WorkFileSystem


@dataclass(frozen=True, slots=True)
class ExecutionResult:
    """Result of executing a plan."""

    done: tuple[str, ...] = ()
    failed: tuple[tuple[str, str], ...] = ()
    """Paths that were left unchanged, and why."""
    written: Mapping[str, WrittenFile] = field(default_factory=dict)
    """Files and links that were written, by path."""


class PlanExecutor:
    """Executes plans in one working directory. The methods block."""

    def __init__(
        self,
        root: Path,
        journals: Path,
        blobs: BlobStore,
        *,
        added_dirs: Collection[str] = (),
        fs: FileSystem,
        work_fs: WorkFileSystem = LOCAL_WORK_FILE_SYSTEM,
    ) -> None:
        self._root = root
        self._journals = journals
        self._blobs = blobs
        self._fs = fs
        self._added_dirs = added_dirs
        self._work_fs = work_fs

    def reachable_paths(self, paths: Iterable[str]) -> list[str]:
        """Return those of `paths` whose parent directories are real directories, not links or files."""
        reachable = []
        with DirectoryHandles(self._root, added_dirs=self._added_dirs) as folders:
            for path in paths:
                with contextlib.suppress(OSError, PathRejected):
                    with contextlib.suppress(FileNotFoundError, NotADirectoryError):
                        folders.open_parent(path)
                    reachable.append(path)
        return reachable

    def execute(
        self,
        items: Iterable[PlanItem],
        record: Callable[[ExecutionResult], object],
        *,
        current_entries: Entries,
        stat_keys: Mapping[str, StatKey],
    ) -> ExecutionResult:
        """Execute `items`, and call `record` with the result before the write-ahead file is removed.

        `current_entries` is the state of the paths a moment ago, and `stat_keys` their keys. A path that
        isn't in its expected state, or changes in the meantime, is left alone. Raises OSError if the
        write-ahead file can't be written, and what `record` raises.
        """
        uid = new_uid()
        steps = _number_steps(uid, ((item.path, item.now, item.then) for item in items))
        if not steps:
            return ExecutionResult()
        journal = self._journals / f"{uid}.json"
        make_private_dir(self._journals)
        intention = {"root": str(self._root), "steps": [[step.path, step.now, step.then] for step in steps]}
        replace_file(self._fs, journal, [json.dumps(intention, separators=(",", ":")).encode("ascii")])
        outcome = self._run_steps(
            steps, {step.path: current_entries.get(step.path) for step in steps}, stat_keys
        )
        record(outcome)
        discard(self._fs, journal)
        return outcome

    def complete_interrupted(self, record: Callable[[ExecutionResult], object]) -> ExecutionResult | None:
        """Complete a revert that a killed process left; None if there isn't one. `record` as in `execute`."""
        outcome: ExecutionResult | None = None
        for journal in sorted(self._journals.glob("*.json")):
            if (steps := _read_steps(journal, self._root)) is not None:
                self._remove_temporaries(steps)
                completed = self._run_steps(steps, *self._detect_current(steps))
                record(completed)
                before = outcome or ExecutionResult()
                outcome = ExecutionResult(before.done + completed.done, before.failed + completed.failed)
            discard(self._fs, journal)
        return outcome

    def _run_steps(
        self, steps: list[PlanStep], current_entries: Changes, stat_keys: Mapping[str, StatKey]
    ) -> ExecutionResult:
        failed: dict[str, str] = {}
        todo = []
        for step in steps:
            current = current_entries.get(step.path, step.now)
            is_removed = current is None and kind_of(step.now) != kind_of(step.then)
            if current == step.then:
                continue
            if current != step.now and not is_removed and not _is_half_made(current, step.then):
                failed[step.path] = "changed in the meantime"
            else:
                todo.append(replace(step, now=current, seen=stat_keys.get(step.path, ())))
        runner = PlanStepRunner(self._new_writer, sync_together=self._work_fs.can_sync())
        failed |= runner.run_steps(todo)
        not_done = failed.keys() | runner.remaining_folders(steps)
        done = tuple(step.path for step in steps if step.path not in not_done)
        return ExecutionResult(done, tuple(failed.items()), runner.written)

    def _new_writer(self) -> AtomicFileWriter:
        return AtomicFileWriter(self._root, self._blobs, self._work_fs, added_dirs=self._added_dirs)

    def _detect_current(self, steps: list[PlanStep]) -> tuple[Changes, Mapping[str, StatKey]]:
        """Return the current entries of paths that differ from the plan's expectation, and the stat keys."""
        expected = {step.path: step.now for step in steps if step.now is not None}
        paths = self.reachable_paths(step.path for step in steps)
        detected = detect_in_paths(
            self._root, paths, entries=expected, blobs=self._blobs, limits=SnapshotLimits()
        )
        changes = {path: entry for path, entry in detected.changes.items() if path in set(paths)}
        return changes, detected.stat_keys

    def _remove_temporaries(self, steps: list[PlanStep]) -> None:
        """Remove staged files."""
        with self._new_writer() as writer:
            for step in steps:
                writer.discard(step.path, temporary=step.temporary)


def _number_steps(uid: str, changes: Iterable[tuple[str, Entry | None, Entry | None]]) -> list[PlanStep]:
    return [
        PlanStep(path, now, then, f".kimi-tui-{uid}-{number}")
        for number, (path, now, then) in enumerate(changes)
    ]


def _is_half_made(current: Entry | None, then: Entry | None) -> bool:
    """Return whether the path is a directory that only lacks its final mode."""
    return kind_of(current) == kind_of(then) == "folder"


def _read_steps(journal: Path, root: Path) -> list[PlanStep] | None:
    """Return the steps in a write-ahead file; None if it isn't usable."""
    try:
        record: dict[str, Any] = json.loads(journal.read_bytes())
        if record["root"] != str(root):
            return None
        recorded = ((path, _to_entry(now), _to_entry(then)) for path, now, then in record["steps"])
        return _number_steps(journal.stem, recorded)
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _to_entry(fields: list[Any] | None) -> Entry | None:
    return Entry(*fields) if fields is not None else None
