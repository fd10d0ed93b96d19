"""Carrying out: the steps of a plan, and the phases in which all of them are taken."""

import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Literal, get_args

from kimi_tui.history.snapshots.entry import Entry
from kimi_tui.history.snapshots.known import Key, Put
from kimi_tui.history.snapshots.open_folders import Refused
from kimi_tui.history.snapshots.placing import Placer

Phase = Literal["remove", "remove folders", "make folders", "prepare", "put", "modes"]
_PHASES: tuple[Phase, ...] = get_args(Phase)
_MANY = 16
"""From so many files on they are brought to the medium together, with whatever else was written there."""
_AT_ONCE = 8
"""In so many threads many files are taken away or put in place: what frees their old content may wait for
the medium each time, or for another machine."""


@dataclass(frozen=True, slots=True)
class Step:
    """What is to become of one path."""

    path: str
    now: Entry | None
    then: Entry | None
    temporary: str
    """The name that what is to be there has before, in the same folder."""
    seen: Key = ()
    """What tells whether what is there is still what was looked at; empty for nothing."""

    @property
    def is_put(self) -> bool:
        """Whether a file or a link is to be there."""
        return kind_of(self.then) in {"file", "link"}

    @property
    def is_to_go(self) -> bool:
        """Whether a folder is to go, and nothing to come in its place."""
        return kind_of(self.now) == "folder" and self.then is None


class Carrier:
    """Takes the steps of one plan."""

    def __init__(self, new_placer: Callable[[], Placer], *, together: bool) -> None:
        self._new_placer = new_placer
        self._together = together
        """Whether many files can be brought to the medium together."""
        self.put: dict[str, Put] = {}
        """What was made to be put at a path; whether it came there its key tells."""

    def carry_out(self, steps: Iterable[Step]) -> dict[str, str]:
        """Take all steps; the paths of those that can't be taken, which are left as they are, and why."""
        failed: dict[str, str] = {}
        ordered = sorted(steps, key=lambda step: step.path)
        with self._new_placer() as placer:
            for phase in _PHASES:
                left = [step for step in ordered if step.path not in failed]
                match phase:
                    case "prepare":
                        failed |= self._prepare(left, placer)
                    case "remove" | "put" if len(left) >= _MANY:
                        failed |= self._shared_out(phase, left)
                    case _:
                        failed |= self._attempted(phase, left, placer)
        return failed

    def stayed(self, steps: Iterable[Step]) -> set[str]:
        """Folders that were to go and are there: what is not covered, as ignored files, is in them."""
        with self._new_placer() as placer:
            return {step.path for step in steps if step.is_to_go and placer.is_there(step.path)}

    def _prepare(self, steps: Sequence[Step], placer: Placer) -> dict[str, str]:
        to_put = [step for step in steps if step.is_put]
        together = self._together and len(to_put) >= _MANY
        failed = self._attempted("prepare", to_put, placer, to_medium=not together)
        try:
            placer.sync()
        except OSError as error:
            for step in to_put:
                placer.discard(step.path, temporary=step.temporary)
            failed |= {step.path: _reason(error) for step in to_put if step.path not in failed}
        return failed

    def _shared_out(self, phase: Phase, steps: Sequence[Step]) -> dict[str, str]:
        """`_attempted` by several threads, each of which has folders of its own to go through."""

        def attempted(share: Sequence[Step]) -> dict[str, str]:
            with self._new_placer() as placer:
                return self._attempted(phase, share, placer)

        each = -(-len(steps) // _AT_ONCE)
        shares = [steps[start : start + each] for start in range(0, len(steps), each)]
        with ThreadPoolExecutor(_AT_ONCE) as threads:
            problems = list(threads.map(attempted, shares))
        return {path: why for share in problems for path, why in share.items()}

    def _attempted(
        self, phase: Phase, steps: Sequence[Step], placer: Placer, *, to_medium: bool = True
    ) -> dict[str, str]:
        problems = {}
        for step in reversed(steps) if phase == "remove folders" else steps:
            try:
                self._take(phase, step, placer, to_medium=to_medium)
            except (OSError, Refused) as error:
                placer.discard(step.path, temporary=step.temporary)
                problems[step.path] = _reason(error)
        return problems

    def _take(self, phase: Phase, step: Step, placer: Placer, *, to_medium: bool) -> None:
        now, then = kind_of(step.now), kind_of(step.then)
        match phase:
            case "remove" if now in {"file", "link"} and not step.is_put:
                placer.remove(step.path, seen=step.seen)
            case "remove folders" if now == "folder" and then != "folder":
                if not placer.remove_folder(step.path) and then is not None:
                    raise Refused("something is in the folder")
            case "make folders" if step.then is not None and then == "folder":
                placer.make_folder(step.path, step.then.mode)
            case "prepare" if step.then is not None and step.is_put:
                key = placer.prepare(step.path, step.then, temporary=step.temporary, to_medium=to_medium)
                self.put[step.path] = Put(step.then, key)
            case "put" if step.is_put:
                seen = () if now == "folder" else step.seen
                placer.put(step.path, temporary=step.temporary, seen=seen)
            case "modes" if step.then is not None and then == "folder":
                placer.set_mode(step.path, step.then.mode)
            case _:
                pass


def kind_of(entry: Entry | None) -> str | None:
    """What an entry is; None for nothing."""
    return entry.kind if entry is not None else None


def _reason(error: OSError | Refused) -> str:
    if isinstance(error, OSError) and error.errno is not None:
        return os.strerror(error.errno)
    return str(error)
