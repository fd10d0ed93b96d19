"""Execution: carrying a plan out, so that a kill at any instruction leaves it to be completed.

A write-ahead file says what is to become of each path before the first one is touched, and goes when all are
done. What is found at the next start is completed: a path that is as it was before is changed, one that is as
it should be is left, and one that is neither was changed by somebody since and is left, too.
"""

import contextlib
import json
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from kimi_tui.base.identity import new_uid
from kimi_tui.base.paths import make_private_dir
from kimi_tui.history.disk import Disk, discard, replace_file
from kimi_tui.history.snapshots.blobs import BlobStore
from kimi_tui.history.snapshots.caps import Caps
from kimi_tui.history.snapshots.carrying import Carrier, Step, kind_of
from kimi_tui.history.snapshots.entry import Changes, Entries, Entry
from kimi_tui.history.snapshots.known import Key, Put
from kimi_tui.history.snapshots.look import look_at_paths
from kimi_tui.history.snapshots.open_folders import OpenFolders, Refused
from kimi_tui.history.snapshots.placing import Placer
from kimi_tui.history.snapshots.plan import PlanItem
from kimi_tui.history.snapshots.work_disk import LOCAL_WORK_DISK, WorkDisk


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a plan."""

    done: tuple[str, ...] = ()
    failed: tuple[tuple[str, str], ...] = ()
    """Paths that were left as they were, and why."""
    put: Mapping[str, Put] = field(default_factory=dict)
    """Files and links that were made at paths."""


class Executor:
    """Carries plans out in one work dir. Its methods block."""

    def __init__(
        self,
        root: Path,
        journals: Path,
        blobs: BlobStore,
        *,
        added: Collection[str] = (),
        disk: Disk,
        work_disk: WorkDisk = LOCAL_WORK_DISK,
    ) -> None:
        self._root = root
        self._journals = journals
        self._blobs = blobs
        self._disk = disk
        self._added = added
        self._work_disk = work_disk

    def reachable(self, paths: Iterable[str]) -> list[str]:
        """Those of `paths` on the way to which lies nothing but folders."""
        reachable = []
        with OpenFolders(self._root, added=self._added) as folders:
            for path in paths:
                with contextlib.suppress(OSError, Refused):
                    with contextlib.suppress(FileNotFoundError, NotADirectoryError):
                        folders.place(path)
                    reachable.append(path)
        return reachable

    def execute(
        self,
        items: Iterable[PlanItem],
        record: Callable[[Outcome], object],
        *,
        found: Entries,
        seen: Mapping[str, Key],
    ) -> Outcome:
        """Carry `items` out, and let `record` keep whose doing it was before that is forgotten.

        `found` is what was at their paths a moment ago, and `seen` its keys; what isn't there as planned, or
        changes meanwhile, is left as it is. Raises OSError when not even the intention could be written down,
        and what `record` raises.
        """
        uid = new_uid()
        steps = _numbered(uid, ((item.path, item.now, item.then) for item in items))
        if not steps:
            return Outcome()
        journal = self._journals / f"{uid}.json"
        make_private_dir(self._journals)
        intention = {"root": str(self._root), "steps": [[step.path, step.now, step.then] for step in steps]}
        replace_file(self._disk, journal, [json.dumps(intention, separators=(",", ":")).encode("ascii")])
        outcome = self._carry_out(steps, {step.path: found.get(step.path) for step in steps}, seen)
        record(outcome)
        discard(self._disk, journal)
        return outcome

    def complete(self, record: Callable[[Outcome], object]) -> Outcome | None:
        """Complete what a killed process left; None when there is nothing. `record` as in `execute`."""
        outcome: Outcome | None = None
        for journal in sorted(self._journals.glob("*.json")):
            if (steps := _steps(journal, self._root)) is not None:
                self._clear_away(steps)
                completed = self._carry_out(steps, *self._found(steps))
                record(completed)
                before = outcome or Outcome()
                outcome = Outcome(before.done + completed.done, before.failed + completed.failed)
            discard(self._disk, journal)
        return outcome

    def _carry_out(self, steps: list[Step], found: Changes, seen: Mapping[str, Key]) -> Outcome:
        failed: dict[str, str] = {}
        todo = []
        for step in steps:
            is_now = found.get(step.path, step.now)
            removed_already = is_now is None and kind_of(step.now) != kind_of(step.then)
            if is_now == step.then:
                continue
            if is_now != step.now and not removed_already and not _is_half_made(is_now, step.then):
                failed[step.path] = "it changed meanwhile"
            else:
                todo.append(replace(step, now=is_now, seen=seen.get(step.path, ())))
        carrier = Carrier(self._placer, together=self._work_disk.can_sync())
        failed |= carrier.carry_out(todo)
        not_done = failed.keys() | carrier.stayed(steps)
        done = tuple(step.path for step in steps if step.path not in not_done)
        return Outcome(done, tuple(failed.items()), carrier.put)

    def _placer(self) -> Placer:
        return Placer(self._root, self._blobs, self._work_disk, added=self._added)

    def _found(self, steps: list[Step]) -> tuple[Changes, Mapping[str, Key]]:
        """What is at the paths now, where that differs from what the plan knew, and the keys."""
        expected = {step.path: step.now for step in steps if step.now is not None}
        paths = self.reachable(step.path for step in steps)
        look = look_at_paths(self._root, paths, entries=expected, blobs=self._blobs, caps=Caps())
        return {path: entry for path, entry in look.changes.items() if path in set(paths)}, look.seen

    def _clear_away(self, steps: list[Step]) -> None:
        """Take away what was written to be renamed."""
        with self._placer() as placer:
            for step in steps:
                placer.discard(step.path, temporary=step.temporary)


def _numbered(uid: str, changes: Iterable[tuple[str, Entry | None, Entry | None]]) -> list[Step]:
    return [
        Step(path, now, then, f".kimi-tui-{uid}-{number}") for number, (path, now, then) in enumerate(changes)
    ]


def _is_half_made(found: Entry | None, then: Entry | None) -> bool:
    """Whether a folder is there that has still to get its mode."""
    return kind_of(found) == kind_of(then) == "folder"


def _steps(journal: Path, root: Path) -> list[Step] | None:
    """What a write-ahead file says; None when it is of no use."""
    try:
        record: dict[str, Any] = json.loads(journal.read_bytes())
        if record["root"] != str(root):
            return None
        recorded = ((path, _entry(now), _entry(then)) for path, now, then in record["steps"])
        return _numbered(journal.stem, recorded)
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _entry(fields: list[Any] | None) -> Entry | None:
    return Entry(*fields) if fields is not None else None
