"""Carrying out: the steps of a plan, and the phases in which all of them are taken."""

import os
from collections.abc import Iterable, Sequence
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

    def __init__(self, placer: Placer, *, together: bool) -> None:
        self._placer = placer
        self._together = together
        """Whether many files can be brought to the medium together."""
        self.put: dict[str, Put] = {}
        """What was put in place, by its path."""

    def carry_out(self, steps: Iterable[Step]) -> dict[str, str]:
        """Take all steps; the paths of those that can't be taken, which are left as they are, and why."""
        failed: dict[str, str] = {}
        ordered = sorted(steps, key=lambda step: step.path)
        for phase in _PHASES:
            left = [step for step in ordered if step.path not in failed]
            failed |= self._prepare(left) if phase == "prepare" else self._attempted(phase, left)
        return failed

    def stayed(self, steps: Iterable[Step]) -> set[str]:
        """Folders that were to go and are there: what is not covered, as ignored files, is in them."""
        return {step.path for step in steps if step.is_to_go and self._placer.is_there(step.path)}

    def _prepare(self, steps: Sequence[Step]) -> dict[str, str]:
        to_put = [step for step in steps if step.is_put]
        together = self._together and len(to_put) >= _MANY
        failed = self._attempted("prepare", to_put, to_medium=not together)
        try:
            self._placer.sync()
        except OSError as error:
            for step in to_put:
                self._placer.discard(step.path, temporary=step.temporary)
            failed |= {step.path: _reason(error) for step in to_put if step.path not in failed}
        return failed

    def _attempted(self, phase: Phase, steps: Sequence[Step], *, to_medium: bool = True) -> dict[str, str]:
        problems = {}
        for step in reversed(steps) if phase == "remove folders" else steps:
            try:
                self._take(phase, step, to_medium=to_medium)
            except (OSError, Refused) as error:
                self._placer.discard(step.path, temporary=step.temporary)
                problems[step.path] = _reason(error)
        return problems

    def _take(self, phase: Phase, step: Step, *, to_medium: bool) -> None:
        now, then = kind_of(step.now), kind_of(step.then)
        match phase:
            case "remove" if now in {"file", "link"} and not step.is_put:
                self._placer.remove(step.path, seen=step.seen)
            case "remove folders" if now == "folder" and then != "folder":
                if not self._placer.remove_folder(step.path) and then is not None:
                    raise Refused("something is in the folder")
            case "make folders" if step.then is not None and then == "folder":
                self._placer.make_folder(step.path, step.then.mode)
            case "prepare" if step.then is not None and step.is_put:
                key = self._placer.prepare(
                    step.path, step.then, temporary=step.temporary, to_medium=to_medium
                )
                self.put[step.path] = Put(step.then, key)
            case "put" if step.is_put:
                seen = () if now == "folder" else step.seen
                self._placer.put(step.path, temporary=step.temporary, seen=seen)
            case "modes" if step.then is not None and then == "folder":
                self._placer.set_mode(step.path, step.then.mode)
            case _:
                pass


def kind_of(entry: Entry | None) -> str | None:
    """What an entry is; None for nothing."""
    return entry.kind if entry is not None else None


def _reason(error: OSError | Refused) -> str:
    if isinstance(error, OSError) and error.errno is not None:
        return os.strerror(error.errno)
    return str(error)
