"""File history: the snapshots of a working directory in one session, and reverts to them."""

import logging
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.message_text import msg
from kimi_tui.history.git.git_change_log import GitChangeLog
from kimi_tui.history.git.git_facts import git_facts
from kimi_tui.history.snapshots.apply_choice import NotOffered, apply_choice
from kimi_tui.history.snapshots.attribution import USER, ChangeAuthor
from kimi_tui.history.snapshots.blob_store import BlobStore
from kimi_tui.history.snapshots.capturing.capture import Capture
from kimi_tui.history.snapshots.capturing.capture_result import CaptureResult
from kimi_tui.history.snapshots.change_authors import ChangeAuthors
from kimi_tui.history.snapshots.comparable_states import comparable_states
from kimi_tui.history.snapshots.deadline import ScanDeadline, ScanProgress
from kimi_tui.history.snapshots.entry import Entries, Entry
from kimi_tui.history.snapshots.limits import DEFAULT_LIMITS, SnapshotLimits
from kimi_tui.history.snapshots.manifest import ManifestMissing
from kimi_tui.history.snapshots.merge3 import MAX_BYTES
from kimi_tui.history.snapshots.open_calls import InterruptedCall, OpenCallLog
from kimi_tui.history.snapshots.patch import Patch, build_patch
from kimi_tui.history.snapshots.plan import Action, Plan, PlanItem
from kimi_tui.history.snapshots.plan_executor import (
    CHANGED_REASON,
    ExecutionResult,
    PlanExecutor,
    ResultRecorder,
)
from kimi_tui.history.snapshots.planning.adoption import CombinedChanges, plan_adoption
from kimi_tui.history.snapshots.planning.planner import Planner, count_changed_lines, text_of
from kimi_tui.history.snapshots.project_store import ProjectStore
from kimi_tui.history.snapshots.rename_detection import NO_RENAMES, Renames
from kimi_tui.history.snapshots.scanner import TooManyFiles
from kimi_tui.history.snapshots.uncarried_items import find_uncarried
from kimi_tui.history.snapshots.work_filesystem import LOCAL_WORK_FILE_SYSTEM, WorkFileSystem
from kimi_tui.history.snapshots.write_notes import add_write_notes
from kimi_tui.wire.timeline import FileChoice

logger = logging.getLogger(__name__)

_FEW_FILES = 10_000
"""Number of files that a scan looks at in a fraction of a second."""
_LARGE_CACHE_BYTES = 300_000
"""Minimum size of the stat cache of a project with more than `_FEW_FILES` files."""


class FileHistory:
    """Captures snapshots, plans reverts and executes them. Blocks; only one method may run at a time.

    Methods that access the disk raise OSError. If a capture fails, its changes are not covered; nothing else
    is affected.
    """

    def __init__(
        self,
        store: ProjectStore,
        *,
        limits: SnapshotLimits = DEFAULT_LIMITS,
        added_dirs: Sequence[str] = (),
        excluded: Mapping[str, str] = MappingProxyType({}),
        work_fs: WorkFileSystem = LOCAL_WORK_FILE_SYSTEM,
    ) -> None:
        self.limits = limits
        self._excluded = excluded
        """Requested directories that are not covered, and why."""
        self._store = store
        self.manifests = store.manifests
        """The stored states."""
        self.blobs = store.blobs
        """The stored contents of files."""
        self._capture = Capture(store, limits=limits, added_dirs=added_dirs)
        self._executor = PlanExecutor(
            store.work_dir,
            store.folder / "reverts",
            store.blobs,
            session=store.session,
            added_dirs=added_dirs,
            fs=store.fs,
            work_fs=work_fs,
        )
        self._git_changes = GitChangeLog(store.folder / "git", store.session, store.work_dir)
        self._open_calls = OpenCallLog(store.folder / "calls", store.session)
        self._interrupted: InterruptedCall | None = None
        """A call that an earlier process left open, until its changes are recorded."""
        self._authors = ChangeAuthors(store, self._open_calls)
        self._is_complete = True
        self._is_large = False
        """Whether a scan would take long."""
        self._target = ""
        """Target state of the running revert; otherwise empty."""
        self.default_author: Callable[[], ChangeAuthor] = lambda: USER
        """Returns the author of changes since the last state if the caller names no author."""

    @property
    def session(self) -> str:
        """The id of the session that this history belongs to."""
        return self._store.session

    @property
    def partial_coverage_reason(self) -> str:
        """Why only files named by tools are covered; empty if all files are."""
        return self._capture.partial_coverage_reason

    @property
    def not_covered(self) -> dict[str, str]:
        """The paths that are not covered, and why."""
        return {**self._capture.not_covered, **self._excluded}

    def open(self, earlier: Collection[str] = (), *, lazily: bool = False) -> ExecutionResult | None:
        """Continue from the session's last state, or from the last of the `earlier` states.

        Completes an interrupted revert first, and returns its result. The sessions that created the earlier
        states, for example the origin of a fork, count as this session. With `lazily`, the last state of a
        large project is loaded only when it is needed.
        """
        self._store.open()
        self.add_own_sessions(earlier)
        self._is_large = _size_of(self._store.stat_cache_file) > _LARGE_CACHE_BYTES
        self._capture.open(list(earlier)[-1] if earlier else None, lazily=lazily and self._is_large)
        self._interrupted = self._open_calls.interrupted()
        self._is_complete = False
        return self._complete_interrupted()

    def begin_call(self, author: ChangeAuthor) -> Path:
        """Record the start of a call that may change any file; see `OpenCallLog.begin`."""
        return self._open_calls.begin(author)

    def add_own_sessions(self, earlier: Iterable[str]) -> None:
        """Treat the sessions that created the states `earlier` as this session.

        If you only read the history, call this instead of `open`.
        """
        self._authors.add_sessions_of(earlier)

    @property
    def newest(self) -> str | None:
        """The last state recorded by the session, in any process."""
        return self._store.manifests.newest(self._store.session)

    def close(self) -> None:
        """Save the stat cache for the next session and close the store."""
        try:
            self._capture.close()
        except OSError:
            logger.warning("can't save the stat cache", exc_info=True)
        finally:
            self._store.close()

    def capture(
        self,
        author: ChangeAuthor | None = None,
        *,
        paths: Iterable[str] | None = None,
        progress: ScanProgress | None = None,
        register_deadline: Callable[[ScanDeadline], None] = lambda _: None,
    ) -> CaptureResult:
        """Record the changes since the last state as made by `author`, by default `default_author()`.

        `register_deadline` receives an object that can cancel a long scan from another thread. Raises
        ScanCanceled if the scan is canceled.
        """
        self._complete_interrupted()
        always = author is not None and author.who == "call" and bool(author.command)
        author = author or self.default_author()
        deadline = ScanDeadline(limit_s=self._capture.scan_limit_s, progress=progress)
        register_deadline(deadline)
        if paths is not None and self._capture.head is None:
            # The first state comes from a scan, which reaches neither ignored files nor those elsewhere.
            self._capture_all(author, deadline)
        if paths is None:
            return self._capture_all(author, deadline, always=always)
        return self._capture.capture(author, paths=paths, always=always, deadline=deadline)

    def capture_if_small(
        self,
        author: ChangeAuthor,
        *,
        progress: ScanProgress | None = None,
        register_deadline: Callable[[ScanDeadline], None] = lambda _: None,
    ) -> CaptureResult:
        """Record the changes since the last state, unless the project is so large that a scan takes long.

        For a large project, return the last state. Raises ScanCanceled.
        """
        if not self._is_large or self._interrupted is not None:
            deadline = ScanDeadline(limit_s=self._capture.scan_limit_s, progress=progress)
            register_deadline(deadline)
            self._complete_interrupted()
            try:
                return self._capture_all(
                    author, deadline, max_files=None if self._interrupted else _FEW_FILES
                )
            except TooManyFiles:
                self._is_large = True
        return self.capture_paths(author, (), register_deadline=register_deadline)

    def capture_paths(
        self,
        author: ChangeAuthor,
        paths: Collection[str],
        *,
        renames: Renames = NO_RENAMES,
        register_deadline: Callable[[ScanDeadline], None] = lambda _: None,
    ) -> CaptureResult:
        """Record the changes of `paths` only.

        The time depends only on the number of paths; see `Capture.capture_paths`. Raises ScanCanceled.
        """
        self._complete_interrupted()
        deadline = ScanDeadline()
        register_deadline(deadline)
        always = author.who == "call" and bool(author.command)
        before = self._capture.head
        result = self._capture.capture_paths(author, paths, renames=renames, always=always, deadline=deadline)
        self._git_changes.record(before or result.manifest, who=author.who, command=author.command)
        return result

    def _capture_all(
        self,
        author: ChangeAuthor,
        deadline: ScanDeadline,
        *,
        always: bool = False,
        max_files: int | None = None,
    ) -> CaptureResult:
        """Record all changes since the last state. The first changes may be those of an interrupted call."""
        interrupted, before = self._interrupted, self._capture.head
        result = self._capture.capture(
            author, always=always, interrupted=interrupted, max_files=max_files, deadline=deadline
        )
        git_author = interrupted.author if interrupted is not None else author
        self._git_changes.record(before or result.manifest, who=git_author.who, command=git_author.command)
        if interrupted is not None:
            self._interrupted = None
            self._open_calls.clear()
        return result

    def plan(
        self,
        target: str | CombinedChanges,
        *,
        until: str | None = None,
        deadline: ScanDeadline | None = None,
    ) -> Plan:
        """Return the plan of a revert to the state `target`, or of the adoption of changes.

        With `until`, a later state, only the changes between the two are reverted; later changes stay. Raises
        KimiTuiError if a state isn't stored, ScanCanceled if `deadline` is canceled, OSError.
        """
        self._complete_interrupted()
        deadline = deadline or ScanDeadline()
        head = self._capture_all(self.default_author(), deadline).manifest
        if isinstance(target, CombinedChanges):
            adoption = plan_adoption(
                target,
                head=head,
                current_entries=self._capture.entries,
                blobs=self._store.blobs,
                session=self._store.session,
                holds_uncovered=self._capture.holds_uncovered,
                deadline=deadline,
            )
            return add_write_notes(self._store.work_dir, adoption, self._capture.attributes.current)
        manifests = self._store.manifests
        try:
            then = manifests.entries(target)
            records = manifests.records_since(target, head)
            only = None if until is None else {record.id for record in manifests.records_since(target, until)}
            others = self._authors.changes_by_others(target, records)
        except ManifestMissing as error:
            raise _missing_state_error(
                error, hint="Revert only the conversation, or choose another checkpoint."
            ) from error
        planner = Planner(self._store.blobs, sessions=self._authors.sessions)
        plan = planner.plan(
            target,
            head,
            records,
            self._capture.entries,
            then,
            only=only,
            other_session_changes=others,
            holds_uncovered=self._capture.holds_uncovered,
            deadline=deadline,
        )
        states = {target, *(only if only is not None else (record.id for record in records))} - {until}
        changes = self._git_changes.changes_since(states, self._authors.sessions)
        plan = replace(
            plan,
            incomplete=self.partial_coverage_reason or plan.incomplete,
            remarks=tuple(git_facts(self._store.work_dir, changes)),
        )
        return add_write_notes(self._store.work_dir, plan, self._capture.attributes.current)

    def execute(
        self,
        plan: Plan,
        selected: Collection[str],
        *,
        choices: Mapping[str, FileChoice] = MappingProxyType({}),
        shown_state: str | None = None,
        recorder: ResultRecorder | None = None,
    ) -> tuple[ExecutionResult, CaptureResult]:
        """Execute the items of `plan` with `selected` paths. Return the result, and a capture made after it.

        `choices` are decisions by path; they apply even if the path isn't selected. `shown_state` is the
        state of the plan that the user saw. A path is left alone and reported as failed if it has changed
        since that state or since `plan` was made, or if it doesn't offer the choice. `recorder` records the
        changes; by default, they are recorded as changes by a revert.
        """
        self._complete_interrupted()
        items = [
            item
            for item in plan.items
            if (item.path in selected or item.path in choices) and item.is_selectable
        ]
        items += [member for item in items for member in item.members]
        rejected = dict.fromkeys(self._changed_since(shown_state, items), CHANGED_REASON)
        items = [item for item in items if item.path not in rejected]
        for number, item in enumerate(items):
            if item.path in choices:
                try:
                    items[number] = apply_choice(item, choices[item.path], self._store.blobs)
                except NotOffered as reason:
                    rejected[item.path] = str(reason)
        items = [item for item in items if item.path not in rejected and item.has_effect]
        rejected |= find_uncarried(items, plan, rejected)
        items = [item for item in items if item.path not in rejected]
        # Only the selected paths are scanned: other changes since the plan are left to the next capture.
        reachable = self._executor.reachable_paths(path for item in items for path in item.paths)
        with self._capture.keeping_unpacked():
            stat_keys = self._capture.capture(self.default_author(), paths=reachable).stat_keys
            self._is_complete = False
            self._target = plan.target
            try:
                outcome = self._executor.execute(
                    items, recorder or self, current_entries=self._capture.entries, stat_keys=stat_keys
                )
            finally:
                self._target = ""
            self._is_complete = True
            outcome = replace(outcome, failed=(*outcome.failed, *rejected.items()))
            return outcome, self._capture.capture(self._revert, paths=())

    def _changed_since(self, state: str | None, items: Iterable[PlanItem]) -> list[str]:
        """Return the paths of `items` that were different in `state`."""
        if state is None:
            return []
        try:
            entries = self._store.manifests.entries(state)
        except ManifestMissing:
            return []
        return [item.path for item in items if not item.is_as_in(entries)]

    def was_reverted_since(self, state: str) -> bool:
        """Return whether a revert has changed files after `state`. Raises ManifestMissing."""
        self._complete_interrupted()
        head = self._capture.head
        if head is None:
            return False
        records = self._store.manifests.records_since(state, head)
        return any(record.author.who == "revert" and record.changes for record in records)

    def state(self, manifest: str) -> Entries:
        """Return the entries of a state. Raises KimiTuiError if it isn't stored."""
        try:
            return self._store.manifests.entries(manifest)
        except ManifestMissing as error:
            raise _missing_state_error(error, hint="Choose another checkpoint.") from error

    def no_text_reason(self, item: PlanItem) -> str:
        """Return why the current or the planned content of a file can't be shown as text."""
        files = [entry for entry in (item.now, item.then) if entry is not None and entry.kind == "file"]
        if any(entry.size > MAX_BYTES for entry in files):
            return msg("No diff: the file is too long.")
        if not all(self._store.blobs.has(entry.ref) for entry in files):
            return msg("No diff: its content is no longer stored.")
        return msg("No diff: the file is binary.")

    def contents(self, now: Entry | None, then: Entry | None) -> tuple[bytes, bytes] | None:
        """Return two versions of a file, empty where it doesn't exist; None if one of them isn't text."""
        old, new = text_of(self._store.blobs, now), text_of(self._store.blobs, then)
        return (old, new) if old is not None and new is not None else None

    def count_lines(self, captured: CaptureResult) -> tuple[int, int]:
        """Return the numbers of lines that the captured changes added and removed."""
        added = removed = 0
        for path, entry in captured.changes.items():
            more, fewer = _count_lines(self._store.blobs, captured.before.get(path), entry)
            added, removed = added + more, removed + fewer
        return added, removed

    def difference(self, before: str, after: str) -> list[PlanItem]:
        """Return the differences between two states, as plan items of a revert from `before` to `after`.

        Raises KimiTuiError if one of the states isn't stored.
        """
        try:
            old, new = comparable_states(self._store.manifests, before, after)
        except ManifestMissing as error:
            raise _missing_state_error(
                error, hint="Run `kimi-tui checkpoints list` to see which ones are stored."
            ) from error
        who = self._authors.who_changed(before, after)
        items = []
        for path in sorted({*old, *new}):
            now, then = old.get(path), new.get(path)
            if now != then:
                added, removed = _count_lines(self._store.blobs, now, then)
                action: Action = "delete" if then is None else "recreate" if now is None else "restore"
                items.append(
                    PlanItem(
                        path=path,
                        action=action,
                        now=now,
                        then=then,
                        added=added,
                        removed=removed,
                        by=who.get(path, ""),
                    )
                )
        return items

    def patch(
        self,
        before: str,
        after: str,
        *,
        exclude: Callable[[str], object] = lambda _: False,
        deadline: ScanDeadline | None = None,
    ) -> Patch:
        """Return a git patch from the state `before` to `after`, without paths for which `exclude` is true.

        Raises KimiTuiError if one of the states isn't stored, ScanCanceled if `deadline` is canceled.
        """
        try:
            old, new = comparable_states(self._store.manifests, before, after)
        except ManifestMissing as error:
            raise _missing_state_error(error, hint="Choose another checkpoint.") from error
        differing = (path for path in {*old, *new} if old.get(path) != new.get(path))
        paths = sorted(path for path in differing if not exclude(path))
        return build_patch(old, new, paths, self._store.blobs, deadline=deadline or ScanDeadline())

    def _complete_interrupted(self) -> ExecutionResult | None:
        """Complete an interrupted revert before its changes are attributed to anyone else."""
        if self._is_complete:
            return None
        try:
            outcome = self._executor.complete_interrupted(self)
        except BlockingIOError:
            return None  # another session is reverting files; try again before the next capture
        self._is_complete = True
        return outcome

    def record_result(self, outcome: ExecutionResult, session: str) -> None:
        """Record the changes of a revert by `session`. Raises OSError."""
        author = ChangeAuthor(who="revert", session=session, call=self._target)
        self._capture.capture(
            author,
            paths=(*outcome.done, *outcome.renames, *outcome.renames.values()),
            written=outcome.written,
            planned=outcome.planned,
            renames=outcome.renames,
        )

    @property
    def _revert(self) -> ChangeAuthor:
        return ChangeAuthor(who="revert", session=self._store.session)


def _count_lines(blobs: BlobStore, before: Entry | None, after: Entry | None) -> tuple[int, int]:
    old, new = text_of(blobs, before), text_of(blobs, after)
    if old is None or new is None:
        return 0, 0
    return count_changed_lines(old, new)


def _size_of(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _missing_state_error(error: ManifestMissing, *, hint: str) -> KimiTuiError:
    """Return the error for a state that can't be read."""
    if error.was_deleted:
        return KimiTuiError("The file state of that checkpoint was deleted to free space.", hint=hint)
    return KimiTuiError("The file state of that checkpoint is missing or damaged.", hint=hint)
