"""Execution: carrying a plan out, so that a kill at any instruction leaves it to be completed.

A write-ahead file says what is to become of each path before the first one is touched, and goes when all are
done. What is found at the next start is completed: a path that is as it was before is changed, one that is as
it should be is left, and one that is neither was changed by somebody since and is left, too.
"""

import contextlib
import json
import os
from collections.abc import Callable, Collection, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal, get_args

from kimi_tui.base.identity import new_uid
from kimi_tui.base.paths import make_private_dir
from kimi_tui.history.disk import Disk, discard, replace_file
from kimi_tui.history.snapshots.blobs import BlobStore
from kimi_tui.history.snapshots.caps import Caps
from kimi_tui.history.snapshots.entry import Changes, Entries, Entry, on_disk
from kimi_tui.history.snapshots.look import look_at_paths
from kimi_tui.history.snapshots.placing import LOCAL_WORK_DISK, Placer, Refused, WorkDisk
from kimi_tui.history.snapshots.plan import PlanItem

Phase = Literal["remove", "remove folders", "make folders", "prepare", "put", "modes"]
_PHASES: tuple[Phase, ...] = get_args(Phase)
_AT_ONCE = 4
"""How many files are brought to the medium together. More of them only wait for each other's locks."""
_WORTH_THREADS = 8
"""Files."""


@dataclass(frozen=True, slots=True)
class Step:
    """What is to become of one path."""

    path: str
    now: Entry | None
    then: Entry | None
    temporary: str
    """The name that what is to be there has before, in the same folder."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a plan."""

    done: tuple[str, ...] = ()
    failed: tuple[tuple[str, str], ...] = ()
    """Paths that were left as they were, and why."""


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
        self._placer = Placer(root, blobs, work_disk, added=added)
        self._work_disk = work_disk

    def reachable(self, paths: Iterable[str]) -> list[str]:
        """Those of `paths` on the way to which lies no link and no `..`."""
        return _reachable(self._root, paths)

    def execute(
        self, items: Iterable[PlanItem], record: Callable[[Outcome], object], *, found: Entries
    ) -> Outcome:
        """Carry `items` out, and let `record` keep whose doing it was before that is forgotten.

        `found` is what was at their paths a moment ago; what isn't there as planned is left as it is. Raises
        OSError when not even the intention could be written down, and what `record` raises.
        """
        uid = new_uid()
        steps = _numbered(uid, ((item.path, item.now, item.then) for item in items))
        if not steps:
            return Outcome()
        journal = self._journals / f"{uid}.json"
        make_private_dir(self._journals)
        intention = {"root": str(self._root), "steps": [[step.path, step.now, step.then] for step in steps]}
        replace_file(self._disk, journal, [json.dumps(intention, separators=(",", ":")).encode("ascii")])
        outcome = self._carry_out(steps, {step.path: found.get(step.path) for step in steps})
        record(outcome)
        discard(self._disk, journal)
        return outcome

    def complete(self, record: Callable[[Outcome], object]) -> Outcome | None:
        """Complete what a killed process left; None when there is nothing. `record` as in `execute`."""
        outcome: Outcome | None = None
        for journal in sorted(self._journals.glob("*.json")):
            if (steps := _steps(journal, self._root)) is not None:
                self._clear_away(steps)
                found = self._carry_out(steps, self._found(steps))
                record(found)
                before = outcome or Outcome()
                outcome = Outcome(before.done + found.done, before.failed + found.failed)
            discard(self._disk, journal)
        return outcome

    def _carry_out(self, steps: list[Step], found: Changes) -> Outcome:
        failed: dict[str, str] = {}
        todo = []
        for step in steps:
            is_now = found.get(step.path, step.now)
            removed_already = is_now is None and _kind(step.now) != _kind(step.then)
            if is_now == step.then:
                continue
            if is_now != step.now and not removed_already and not _is_half_made(is_now, step.then):
                failed[step.path] = "it changed meanwhile"
            else:
                todo.append(replace(step, now=is_now))
        todo.sort(key=lambda step: step.path)
        for phase in _PHASES:
            left = [step for step in todo if step.path not in failed]
            failed |= self._go_through(phase, left)
        done = tuple(step.path for step in steps if step.path not in failed and not self._stayed(step))
        return Outcome(done, tuple(failed.items()))

    def _stayed(self, step: Step) -> bool:
        """Whether a folder that was to go is still there: what is not covered, as ignored files, is in it."""
        return (
            _kind(step.now) == "folder"
            and step.then is None
            and os.path.lexists(on_disk(self._root, step.path))
        )

    def _go_through(self, phase: Phase, steps: Sequence[Step]) -> dict[str, str]:
        """Do a phase of all `steps`, which are ordered by path; those that it can't be done of, and why."""
        if phase == "remove folders":
            steps = steps[::-1]
        if phase != "prepare" or len(steps) < _WORTH_THREADS:
            return self._attempted(phase, steps)
        shares = [steps[start::_AT_ONCE] for start in range(_AT_ONCE)]
        with ThreadPoolExecutor(_AT_ONCE) as threads:
            problems = threads.map(partial(self._attempted, phase), shares)
        return {path: why for share in problems for path, why in share.items()}

    def _attempted(self, phase: Phase, steps: Iterable[Step]) -> dict[str, str]:
        """`_go_through`, one after the other."""
        problems = {}
        for step in steps:
            try:
                self._do(phase, step)
            except (OSError, Refused) as error:
                with contextlib.suppress(OSError):
                    self._work_disk.unlink((self._root / step.path).with_name(step.temporary))
                problems[step.path] = getattr(error, "strerror", None) or str(error)
        return problems

    def _do(self, phase: Phase, step: Step) -> None:
        now, then = _kind(step.now), _kind(step.then)
        is_put = then in {"file", "link"}
        match phase:
            case "remove" if now in {"file", "link"} and not is_put:
                self._placer.remove(step.path)
            case "remove folders" if now == "folder" and then != "folder":
                if not self._placer.remove_folder(step.path) and then is not None:
                    raise Refused("something is in the folder")
            case "make folders" if step.then is not None and then == "folder":
                self._placer.make_folder(step.path, step.then.mode)
            case "prepare" if step.then is not None and is_put:
                self._placer.prepare(step.path, step.then, temporary=step.temporary)
            case "put" if step.then is not None and is_put:
                self._placer.put(step.path, step.then, temporary=step.temporary)
            case "modes" if step.then is not None and then == "folder":
                self._placer.set_mode(step.path, step.then.mode)
            case _:
                pass

    def _found(self, steps: list[Step]) -> dict[str, Entry | None]:
        """What is at the paths now, where that differs from what the plan knew."""
        expected = {step.path: step.now for step in steps if step.now is not None}
        paths = self.reachable(step.path for step in steps)
        look = look_at_paths(self._root, paths, entries=expected, blobs=self._blobs, caps=Caps())
        return {path: entry for path, entry in look.changes.items() if path in set(paths)}

    def _clear_away(self, steps: list[Step]) -> None:
        """Take away what was written to be renamed."""
        reachable = set(self.reachable(step.path for step in steps))
        for step in steps:
            if step.path in reachable:
                with contextlib.suppress(OSError):
                    self._work_disk.unlink((self._root / step.path).with_name(step.temporary))


def _reachable(root: Path, paths: Iterable[str]) -> list[str]:
    start = os.path.realpath(root)
    known: dict[str, bool] = {}
    reachable = []
    for path in paths:
        folder = os.path.dirname(on_disk(start, path))  # noqa: PTH120
        if folder not in known:
            known[folder] = os.path.realpath(folder) == folder
        if known[folder]:
            reachable.append(path)
    return reachable


def _numbered(uid: str, changes: Iterable[tuple[str, Entry | None, Entry | None]]) -> list[Step]:
    return [
        Step(path, now, then, f".kimi-tui-{uid}-{number}") for number, (path, now, then) in enumerate(changes)
    ]


def _is_half_made(found: Entry | None, then: Entry | None) -> bool:
    """Whether a folder is there that has still to get its mode."""
    return _kind(found) == _kind(then) == "folder"


def _kind(entry: Entry | None) -> str | None:
    return entry.kind if entry is not None else None


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
