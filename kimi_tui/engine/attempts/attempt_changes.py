"""Changes that an attempt made in its view: reading, comparing and planning their adoption."""

import os
import stat
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.message_text import msg
from kimi_tui.engine.attempts.attempt_store import AttemptStore, StoredAttempt
from kimi_tui.engine.files.coverage import HistoryPaths, unique_path
from kimi_tui.engine.timeline.compare import compare_items, find_changed_items
from kimi_tui.engine.timeline.file_diff import MAX_DIFFS
from kimi_tui.history.snapshots.blob_store import BlobMissing, BlobStore
from kimi_tui.history.snapshots.coverage_rules import CoverageRules, IgnoredPaths
from kimi_tui.history.snapshots.deadline import ScanDeadline
from kimi_tui.history.snapshots.entry import Changes, Entries, Entry
from kimi_tui.history.snapshots.file_content import store_content
from kimi_tui.history.snapshots.file_history import FileHistory
from kimi_tui.history.snapshots.plan import Plan
from kimi_tui.history.snapshots.planning.adoption import AdoptedChanges, combine_adopted
from kimi_tui.history.snapshots.scanner import entry_without_content
from kimi_tui.history.snapshots.stat_cache import key_of
from kimi_tui.tools.path_scope import PathScope
from kimi_tui.wire.timeline import ComparedFile
from kimi_tui.workspaces.checkpoint.private_view import ChangedPath


def read_attempt_changes(
    history: FileHistory,
    *,
    workspace: PathScope,
    store: AttemptStore,
    state: str,
    changed: Iterable[ChangedPath],
) -> tuple[Changes, Changes, tuple[int, int]]:
    """Store an attempt's changes since `state`. Return the new entries, old entries and line counts.

    The line counts are the numbers of added and removed lines. Blocks.
    """
    base = history.manifests.entries(state)
    reader = AttemptChangeReader(history, workspace, base=base, contents=store.contents)
    changes = reader.read(changed)
    before = reader.keep_base(changes)
    store.lend_contents((changes, before), history.blobs)
    items = find_changed_items(history, before, changes)
    return changes, before, (sum(item.added for item in items), sum(item.removed for item in items))


def build_changed_files(
    history: FileHistory,
    *,
    stored: StoredAttempt,
    store: AttemptStore,
    path: str = "",
    n_diffs: int | None = MAX_DIFFS,
) -> tuple[ComparedFile, ...]:
    """Return the files that an attempt changed, or only the file at `path`, as shown by front ends. Blocks.

    At most `n_diffs` files have a diff; None: all files.
    Raises KimiTuiError if the attempt didn't change the file at `path`.
    """
    changes = _select(stored, [path] if path else None)
    store.lend_contents((changes, {each: stored.base[each] for each in changes}), history.blobs)
    items = find_changed_items(history, stored.base, changes)
    return compare_items(history, items, n_diffs=n_diffs)


def plan_attempts(
    history: FileHistory,
    deadline: ScanDeadline,
    *,
    attempts: Sequence[StoredAttempt],
    files: Mapping[int, Sequence[str]],
    store: AttemptStore,
) -> Plan:
    """Return the plan that applies the changes of attempts to the files. Blocks.

    `files` maps attempt numbers to the paths to adopt, as shown by front ends. Other attempts are adopted
    completely.
    Raises KimiTuiError if an attempt didn't change one of its paths.
    """
    adopted = []
    for each in attempts:
        store.lend_contents((each.changes, each.base), history.blobs)
        changes = _select(each, files.get(each.attempt.number))
        adopted.append(
            AdoptedChanges(
                name=msg("attempt {number}", number=each.attempt.number),
                changes=changes,
                base={path: each.base[path] for path in changes},
            )
        )
    return history.plan(combine_adopted(adopted, history.blobs), deadline=deadline)


def _select(stored: StoredAttempt, shown_paths: Sequence[str] | None) -> Changes:
    if shown_paths is None:
        return stored.changes
    shown = {path.rstrip("/") for path in shown_paths}
    selected = {path: entry for path, entry in stored.changes.items() if unique_path(path) in shown}
    if missing := shown - {unique_path(path) for path in selected}:
        raise KimiTuiError(
            msg("Attempt {number} didn't change {path}.", number=stored.attempt.number, path=min(missing)),
            hint=msg("Type /attempts --show {number}.", number=stored.attempt.number),
        )
    return selected


class AttemptChangeReader:
    """Turns the changed paths of a view into changes since its checkpoint. Blocks."""

    def __init__(
        self, history: FileHistory, workspace: PathScope, *, base: Entries, contents: BlobStore
    ) -> None:
        self._history = history
        self._paths = HistoryPaths(workspace)
        self._base = base
        self._contents = contents
        self._limit = history.limits.file
        rules = CoverageRules(
            Path(os.path.realpath(workspace.work_dir)),
            added_dirs=self._paths.added_dirs,
            exclude=history.limits.exclude,
            own_dir=history.limits.own,
        )
        self._ignored = IgnoredPaths(rules)

    def read(self, changed: Iterable[ChangedPath]) -> dict[str, Entry | None]:
        """Return the changes and store their contents. Raises OSError.

        Ignored files and files outside of the workspace are left out.
        """
        changes: dict[str, Entry | None] = {}
        for each in changed:
            path = self._paths.path_of(each.path)
            if path is None:
                continue
            before = self._base.get(path)
            is_folder = stat.S_ISDIR(each.mode)
            if before is None and (not each.mode or self._ignored.contains(path, is_folder=is_folder)):
                continue
            entry = self._read_entry(each) if each.mode else None
            if entry != before:
                changes[path] = entry
        self._add_members(changes)
        return changes

    def keep_base(self, changes: Changes) -> dict[str, Entry | None]:
        """Return the entries of the changed paths at the checkpoint, and store their contents."""
        base = {path: self._base.get(path) for path in changes}
        for path, entry in base.items():
            if entry is not None and entry.kind == "file" and not self._contents.has(entry.ref):
                try:
                    self._contents.put_pieces(self._history.blobs.iter_chunks(entry.ref))
                except BlobMissing:
                    base[path] = Entry("omitted", entry.mode, entry.size, "its content is no longer stored")
        return base

    def _read_entry(self, changed: ChangedPath) -> Entry | None:
        """Return the entry of a path in the view; None if it vanished."""
        mode = stat.S_IMODE(changed.mode)
        if stat.S_ISDIR(changed.mode):
            return Entry("folder", mode, 0, "")
        try:
            info = os.lstat(changed.source)
        except FileNotFoundError:
            return None
        if not stat.S_ISREG(info.st_mode) or not stat.S_ISREG(changed.mode):
            return entry_without_content(changed.source, info.st_mode)
        stored = store_content(changed.source, self._limit, key_of(info), self._contents)
        return stored.entry._replace(mode=mode)

    def _add_members(self, changes: dict[str, Entry | None]) -> None:
        """Add the files in directories that the attempt removed or replaced."""
        gone = {
            path
            for path, entry in changes.items()
            if (entry is None or entry.kind != "folder")
            and (before := self._base.get(path)) is not None
            and before.kind == "folder"
        }
        if gone:
            for path in self._base:
                if path not in changes and any(path.startswith(f"{folder}/") for folder in gone):
                    changes[path] = None
