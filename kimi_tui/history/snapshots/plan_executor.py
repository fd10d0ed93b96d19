"""Plan executor that can complete a revert after a kill at any point.

Before the first change, a write-ahead file lists the change of each path. It is removed after the last
change. If the file exists at the next start, its changes are completed. A path in its old state is changed. A
path in its new state is left alone, and so is a path in any other state, since someone has changed it.

A lock shows whether the process that wrote the file is alive, so that no other process completes its revert.
A session that completes another session's revert leaves the outcome in a file for that session.
"""

import contextlib
import json
import logging
import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import field, replace
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from kimi_tui.base.frozen import frozen
from kimi_tui.base.ids import new_temporary_name, new_uid
from kimi_tui.base.paths import make_private_dir
from kimi_tui.history.file_lock import Lock, flock
from kimi_tui.history.filesystem import FileSystem, discard, replace_file
from kimi_tui.history.snapshots.attributes.file_attributes import FileAttributes
from kimi_tui.history.snapshots.blob_store import BlobMissing, BlobStore
from kimi_tui.history.snapshots.change_detection import detect_in_paths
from kimi_tui.history.snapshots.dir_handles import DirectoryHandles, PathRejected
from kimi_tui.history.snapshots.entry import Changes, Entries, Entry
from kimi_tui.history.snapshots.file_writer import PartlyOverwritten, WriteTarget
from kimi_tui.history.snapshots.limits import SnapshotLimits
from kimi_tui.history.snapshots.overwrite_choice import choose_overwrites
from kimi_tui.history.snapshots.partial_overwrite import is_partly_overwritten
from kimi_tui.history.snapshots.plan import PlanItem
from kimi_tui.history.snapshots.plan_step_runner import PlanStep, PlanStepRunner, kind_of
from kimi_tui.history.snapshots.possible_steps import find_occupied_folders, select_possible
from kimi_tui.history.snapshots.read_only_folders import find_read_only_folders
from kimi_tui.history.snapshots.rename_detection import Renames
from kimi_tui.history.snapshots.stat_cache import StatKey, WrittenFile
from kimi_tui.history.snapshots.work_filesystem import LOCAL_WORK_FILE_SYSTEM, WorkFileSystem

logger = logging.getLogger(__name__)

CHANGED_REASON = "changed in the meantime"
_JOURNAL_SUFFIX = ".json"
_OUTCOME_SUFFIX = ".outcome"
_PathChange = tuple[str, Entry | None, Entry | None]
"""A path, its current and its planned entry."""


@frozen
class ExecutionResult:
    """Result of executing a plan."""

    done: tuple[str, ...] = ()
    failed: tuple[tuple[str, str], ...] = ()
    """Paths that were left unchanged, and why."""
    written: Mapping[str, WrittenFile] = field(default_factory=dict)
    """Files and links that were written, by path."""
    planned: Changes = field(default_factory=dict)
    """The entries of the changed paths according to the plan. Someone may have changed them again."""
    renames: Renames = field(default_factory=dict)
    """Renamed files and directories: new path -> old path.

    If both paths are in use, the content of the old path was written to the new path.
    """


class ResultRecorder(Protocol):
    """Records the changes of a revert."""

    def record_result(self, outcome: ExecutionResult, session: str) -> None:
        """Record the changes of a revert by `session`. Raises OSError."""
        ...


@frozen
class _Journal:
    """Content of a write-ahead file."""

    session: str
    """The session that reverts; empty in files of version 0.1.0."""
    steps: list[PlanStep]
    read_only_folders: Mapping[str, int]
    """Directories that are writable only during the revert, with their original modes."""
    whole_folders: Collection[str]
    """Directories that are renamed with everything in them."""


class PlanExecutor:
    """Executes plans in one working directory. The methods block."""

    def __init__(
        self,
        root: Path,
        journals: Path,
        blobs: BlobStore,
        *,
        session: str,
        added_dirs: Collection[str] = (),
        fs: FileSystem,
        work_fs: WorkFileSystem = LOCAL_WORK_FILE_SYSTEM,
        lock: Lock = flock,
    ) -> None:
        self._root = root
        self._journals = journals
        self._blobs = blobs
        self._session = session
        self._lock = lock
        self._fs = fs
        self._added_dirs = added_dirs
        self._target = WriteTarget(root, blobs, work_fs, added_dirs)

    def reachable_paths(self, paths: Iterable[str]) -> list[str]:
        """Return the `paths` with no link or file among their parents. Parents may be missing."""
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
        recorder: ResultRecorder,
        *,
        current_entries: Entries,
        stat_keys: Mapping[str, StatKey],
    ) -> ExecutionResult:
        """Execute `items`, and record the result before the write-ahead file is removed.

        `current_entries` is the state of the paths a moment ago, and `stat_keys` their keys. A path that
        isn't in its expected state, or changes in the meantime, is left alone. Waits while another session
        reverts files. Raises OSError if the write-ahead file can't be written, and any error of `recorder`.
        """
        uid = new_uid()
        items = list(items)
        attributes = {item.path: item.attributes for item in items if item.attributes is not None}
        carried = {item.path: item.carried_to for item in items if item.carried_to}
        kept = {item.path: item.kept_at for item in items if item.kept_at}
        steps = _number_steps(uid, *_split_items(items), attributes, carried=carried, kept=kept)
        if not steps:
            return ExecutionResult()
        make_private_dir(self._journals)
        with self._locked(waits=True):
            journal = self._journals / f"{uid}{_JOURNAL_SUFFIX}"
            read_only_folders = find_read_only_folders(self._target, (step.path for step in steps))
            in_place = choose_overwrites(
                self._root,
                (
                    (step.renamed_from, step.source, step.then)
                    if step.renamed_from
                    else (step.path, step.now, step.then)
                    for step in steps
                ),
            ).in_place
            steps = [
                replace(step, in_place=True) if (step.renamed_from or step.path) in in_place else step
                for step in steps
            ]
            whole_folders = _whole_folders(steps, current_entries)
            intention = {
                "root": str(self._root),
                "session": self._session,
                "steps": [[step.path, step.now, step.then] for step in steps],
                "read_only_folders": read_only_folders,
                "in_place": sorted(step.path for step in steps if step.in_place),
                "renames": {step.path: step.renamed_from for step in steps if step.renamed_from},
                "whole_folders": sorted(whole_folders),
                "carried": carried,
                "kept": kept,
                "attributes": {path: each.to_json() for path, each in attributes.items()},
            }
            self._write_json(journal, intention)
            expected = {step.path: current_entries.get(step.path) for step in steps}
            outcome = self._run_steps(steps, expected, stat_keys, read_only_folders, whole_folders)
            recorder.record_result(outcome, self._session)
            discard(self._fs, journal)
        return outcome

    def complete_interrupted(self, recorder: ResultRecorder) -> ExecutionResult | None:
        """Complete the reverts of killed processes, and record them as in `execute`.

        Return the combined result of this session's reverts; None without such reverts. Raises
        BlockingIOError while another process reverts files, OSError.
        """
        if not self._has_leftovers():
            return None
        outcome: ExecutionResult | None = None
        with self._locked(waits=False):
            for journal in sorted(self._journals.glob(f"*{_JOURNAL_SUFFIX}")):
                if (left := _read_journal(journal, self._root)) is not None:
                    session = left.session or self._session
                    self._remove_temporaries(left.steps)
                    current = self._detect_current(left.steps)
                    completed = self._run_steps(
                        left.steps, *current, left.read_only_folders, left.whole_folders
                    )
                    recorder.record_result(completed, session)
                    if session == self._session:
                        outcome = _combine(outcome, completed)
                    else:
                        self._leave_outcome(journal, session, completed)
                discard(self._fs, journal)
            for file in sorted(self._journals.glob(f"*{_OUTCOME_SUFFIX}")):
                if (completed_elsewhere := _read_outcome(file, self._root, self._session)) is not None:
                    recorder.record_result(completed_elsewhere, self._session)
                    outcome = _combine(outcome, completed_elsewhere)
                    discard(self._fs, file)
        return outcome

    def _has_leftovers(self) -> bool:
        return any(name.endswith((_JOURNAL_SUFFIX, _OUTCOME_SUFFIX)) for name in _names_in(self._journals))

    def _leave_outcome(self, journal: Path, session: str, outcome: ExecutionResult) -> None:
        """Write the outcome of another session's revert. That session reads it when it is opened."""
        record = {
            "root": str(self._root),
            "session": session,
            "done": outcome.done,
            "failed": outcome.failed,
            "planned": outcome.planned,
            "renames": outcome.renames,
        }
        self._write_json(journal.with_suffix(_OUTCOME_SUFFIX), record)

    def _write_json(self, path: Path, record: Mapping[str, Any]) -> None:
        replace_file(self._fs, path, [json.dumps(record, separators=(",", ":")).encode("ascii")])

    @contextlib.contextmanager
    def _locked(self, *, waits: bool) -> Iterator[None]:
        """Hold the lock of the project's reverts. Without support for locks, do nothing.

        Raises BlockingIOError if another process holds the lock and `waits` is false.
        """
        file = os.open(self._journals / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            try:
                self._lock(file, waits=waits)
            except BlockingIOError:
                raise
            except OSError:
                logger.info("can't lock reverts", exc_info=True)
            yield
        finally:
            os.close(file)

    def _run_steps(
        self,
        steps: list[PlanStep],
        current_entries: Changes,
        stat_keys: Mapping[str, StatKey],
        read_only_folders: Mapping[str, int],
        whole_folders: Collection[str],
    ) -> ExecutionResult:
        failed: dict[str, str] = {}
        todo = []
        for step in map(partial(_see_renamed, current_entries), steps):
            current = current_entries.get(step.path, step.now)
            is_removed = current is None and kind_of(step.now) != kind_of(step.then)
            is_made_writable = step.path in read_only_folders and kind_of(current) == "folder"
            if current == step.then and not is_made_writable and not step.renamed_from:
                continue
            is_half_made = is_made_writable or self._is_half_made(current, step)
            if current != step.now and not is_removed and not is_half_made:
                failed[step.path] = CHANGED_REASON
            else:
                key, source_key = stat_keys.get(step.path, ()), stat_keys.get(step.renamed_from, ())
                todo.append(replace(step, now=current, seen=key, source_key=source_key))
        sources = {step.carried_to: step.path for step in steps if step.carried_to}
        occupied = find_occupied_folders(self._target, todo, whole_folders)
        failed |= dict.fromkeys(occupied, "the directory isn't empty")
        todo = select_possible(todo, sources, failed, current_entries)
        whole_folders = {
            folder for folder in whole_folders if not any(path.startswith(f"{folder}/") for path in failed)
        }
        runner = PlanStepRunner(self._target, read_only_folders=read_only_folders)
        if todo:
            self._make_starting_dirs(todo)
        try:
            failed |= runner.run_steps(todo, whole_folders=whole_folders)
        except PartlyOverwritten as error:
            raise OSError(*error.args) from error  # the write-ahead file stays
        not_done = failed.keys() | runner.remaining_folders(steps)
        done = tuple(step.path for step in steps if step.path not in not_done)
        planned = {step.path: step.then for step in steps if step.path not in not_done}
        renames = {**runner.renamed, **_completed_renames(steps, planned)}
        planned = {**_renamed_only(steps, runner.renamed), **planned}
        return ExecutionResult(done, tuple(failed.items()), runner.written, planned, renames)

    def _detect_current(self, steps: list[PlanStep]) -> tuple[Changes, Mapping[str, StatKey]]:
        """Return the current entries of paths that differ from the plan's expectation, and the stat keys."""
        expected = {step.path: step.now for step in steps if step.now is not None}
        paths = self.reachable_paths(step.path for step in steps)
        detected = detect_in_paths(
            self._root, paths, entries=expected, blobs=self._blobs, limits=SnapshotLimits()
        )
        changes = {path: entry for path, entry in detected.changes.items() if path in set(paths)}
        return changes, detected.stat_keys

    def _make_starting_dirs(self, steps: list[PlanStep]) -> None:
        """Recreate the starting directories of restored paths, such as the working directory."""
        restored = [step.path for step in steps if step.then is not None]
        others = {path.partition("//")[0] for path in restored if path.startswith("/")}
        for folder in (self._root, *map(Path, others)):
            with contextlib.suppress(OSError):  # each step then fails, with the reason
                folder.mkdir(parents=True, exist_ok=True)

    def _is_half_made(self, current: Entry | None, step: PlanStep) -> bool:
        """Return whether a killed process left the path partly changed.

        Such a path is a directory that only lacks its final mode, or a file that was being overwritten.
        """
        if current is None or step.now is None or step.then is None or not step.in_place:
            return kind_of(current) == kind_of(step.then) == "folder"
        try:
            contents = [self._blobs.read(entry.ref) for entry in (current, step.now, step.then)]
        except (BlobMissing, OSError):
            return False
        return is_partly_overwritten(*contents)

    def _remove_temporaries(self, steps: list[PlanStep]) -> None:
        """Remove staged files."""
        with self._target.open_writer() as writer:
            for step in steps:
                writer.discard(step.path, temporary=step.temporary)


def _split_items(items: Iterable[PlanItem]) -> tuple[list[_PathChange], dict[str, str]]:
    """Return the changes of paths, and the renames among them: new path -> old path."""
    changes: list[_PathChange] = []
    renames = {}
    for item in items:
        if item.renamed_to:
            changes += [(item.path, item.now, None), (item.renamed_to, item.replaced, item.then)]
            renames[item.renamed_to] = item.path
        else:
            changes.append((item.path, item.now, item.then))
    return changes, renames


def _number_steps(
    uid: str,
    changes: Iterable[_PathChange],
    renames: Renames,
    attributes: Mapping[str, FileAttributes],
    *,
    carried: Mapping[str, str],
    kept: Mapping[str, str],
    in_place: Collection[str] = (),
) -> list[PlanStep]:
    changes = list(changes)
    entries = {path: now for path, now, _ in changes}
    new_names = {old: path for path, old in renames.items()}
    return [
        PlanStep(
            path,
            now,
            then,
            f"{new_temporary_name(uid)}-{number}",
            in_place=path in in_place,
            renamed_from=renames.get(path, ""),
            source=entries.get(renames.get(path, "")),
            renamed_to=new_names.get(path, ""),
            carried_to=carried.get(path, ""),
            kept_at=kept.get(path, ""),
            attributes=attributes.get(path),
        )
        for number, (path, now, then) in enumerate(changes)
    ]


def _see_renamed(current_entries: Changes, step: PlanStep) -> PlanStep:
    """Return `step`, without its rename if a killed process has already renamed the path."""
    if not step.renamed_from or current_entries.get(step.renamed_from, step.source) is not None:
        return step
    if kind_of(step.source) == "folder":
        return replace(step, renamed_from="", source=None)
    return step if current_entries.get(step.path, step.now) is None else step.after_rename()


def _completed_renames(steps: Iterable[PlanStep], done: Collection[str]) -> Renames:
    """Return the renames with both paths in `done`, including renames made by writing the content."""
    renames = {step.path: step.renamed_from for step in steps if step.renamed_from}
    renames |= {step.carried_to: step.path for step in steps if step.carried_to}
    return {path: old for path, old in renames.items() if path in done and old in done}


def _renamed_only(steps: Iterable[PlanStep], renamed: Renames) -> Changes:
    """Return the entries at both names of renamed files, without other changes by their steps."""
    files = {
        step.path: step.source for step in steps if step.path in renamed and kind_of(step.source) != "folder"
    }
    return {**{renamed[path]: None for path in files}, **files}


def _whole_folders(steps: Iterable[PlanStep], current_entries: Entries) -> set[str]:
    """Return the directories that can be renamed with everything in them.

    Each known path in such a directory is deleted, or moves to the same path in the new directory.
    """
    by_path = {step.path: step for step in steps}
    renamed = {
        path: step.renamed_to
        for path, step in by_path.items()
        if step.renamed_to and kind_of(step.now) == "folder" and step.renamed_to not in current_entries
    }
    whole = set()
    for folder, target in renamed.items():
        members = (path for path in current_entries if path.startswith(f"{folder}/"))
        if all(
            (step := by_path.get(path)) is not None
            and step.then is None
            and step.renamed_to in ("", target + path[len(folder) :])
            for path in members
        ):
            whole.add(folder)
    return whole


def _combine(first: ExecutionResult | None, then: ExecutionResult) -> ExecutionResult:
    if first is None:
        return then
    planned, renames = {**first.planned, **then.planned}, {**first.renames, **then.renames}
    return ExecutionResult(
        first.done + then.done, first.failed + then.failed, planned=planned, renames=renames
    )


def _names_in(folder: Path) -> list[str]:
    try:
        return os.listdir(folder)  # noqa: PTH208
    except OSError:
        return []


def _read_journal(journal: Path, root: Path) -> _Journal | None:
    """Return the content of a write-ahead file; None if it isn't usable."""
    try:
        record: dict[str, Any] = json.loads(journal.read_bytes())
        if record["root"] != str(root):
            return None
        recorded = ((path, _to_entry(now), _to_entry(then)) for path, now, then in record["steps"])
        in_place = set(record.get("in_place", ()))
        attributes = {
            str(path): FileAttributes.from_json(fields)
            for path, fields in record.get("attributes", {}).items()
        }
        steps = _number_steps(
            journal.stem,
            recorded,
            record.get("renames", {}),
            attributes,
            carried=record.get("carried", {}),
            kept=record.get("kept", {}),
            in_place=in_place,
        )
        folders = {str(path): int(mode) for path, mode in record.get("read_only_folders", {}).items()}
        whole_folders = list(map(str, record.get("whole_folders", ())))
        return _Journal(str(record.get("session", "")), steps, folders, whole_folders)
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _read_outcome(file: Path, root: Path, session: str) -> ExecutionResult | None:
    """Return the outcome that another session left for `session`; None if it is for another session."""
    try:
        record: dict[str, Any] = json.loads(file.read_bytes())
        if (record["root"], record["session"]) != (str(root), session):
            return None
        failed = tuple((str(path), str(reason)) for path, reason in record["failed"])
        planned = {path: _to_entry(fields) for path, fields in record.get("planned", {}).items()}
        renames = {str(path): str(old) for path, old in record.get("renames", {}).items()}
        return ExecutionResult(tuple(map(str, record["done"])), failed, planned=planned, renames=renames)
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _to_entry(fields: list[Any] | None) -> Entry | None:
    return Entry(*fields) if fields is not None else None
