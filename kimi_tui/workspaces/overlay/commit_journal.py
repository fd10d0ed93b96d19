"""Journal of a commit, from which a commit is completed after a kill at any point.

`commit.json` lists the effects before the first one is applied. `progress` has a line for each phase that is
complete, and for each effect that was begun or is done.
"""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from kimi_tui.base.frozen import frozen
from kimi_tui.workspaces.effects import PathEffect, PathState

_EFFECTS = "commit.json"
_PROGRESS = "progress"


@dataclass(slots=True)
class Progress:
    """How far a commit got."""

    phases: set[str] = field(default_factory=set)
    begun: set[int] = field(default_factory=set)
    """Numbers of effects that may be half applied."""
    done: set[int] = field(default_factory=set)


@frozen
class RecordedCommit:
    """A commit that has begun."""

    effects: tuple[PathEffect, ...]
    read_only_folders: Mapping[str, int]
    """Permission bits of directories that are writable only during the commit."""
    progress: Progress


class CommitJournal:
    """The journal in one directory. The methods block and raise OSError."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._file: int | None = None

    def begin(self, effects: Sequence[PathEffect], read_only_folders: Mapping[str, int]) -> None:
        """Record what the commit will do, and the modes of directories that it makes writable."""
        temporary = self._folder / f".{_EFFECTS}"
        record = {
            "effects": [asdict(effect) for effect in effects],
            "read_only_folders": dict(read_only_folders),
        }
        temporary.write_text(json.dumps(record), "ascii")
        temporary.replace(self._folder / _EFFECTS)

    def read(self) -> "RecordedCommit | None":
        """Return a commit that has begun; None if none has."""
        try:
            record: dict[str, Any] = json.loads((self._folder / _EFFECTS).read_bytes())
            effects = tuple(_to_effect(fields) for fields in record["effects"])
            folders = {str(path): int(mode) for path, mode in record["read_only_folders"].items()}
        except (FileNotFoundError, ValueError, KeyError, TypeError, AttributeError):
            return None
        return RecordedCommit(effects, folders, self._read_progress())

    def note_phase(self, name: str) -> None:
        """Record that a phase is complete."""
        self._append(f"phase {name}")

    def note_begun(self, number: int) -> None:
        """Record that an effect is about to be applied in several operations."""
        self._append(f"begun {number}")

    def note_done(self, number: int) -> None:
        """Record that an effect was applied."""
        self._append(f"done {number}")

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def _append(self, line: str) -> None:
        if self._file is None:
            flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
            self._file = os.open(self._folder / _PROGRESS, flags, 0o600)
        os.write(self._file, f"{line}\n".encode("ascii"))

    def _read_progress(self) -> Progress:
        progress = Progress()
        try:
            lines = (self._folder / _PROGRESS).read_text("ascii").splitlines()
        except FileNotFoundError:
            return progress
        for line in lines:
            kind, _, what = line.partition(" ")
            if kind == "phase":
                progress.phases.add(what)
            else:
                (progress.begun if kind == "begun" else progress.done).add(int(what))
        return progress


def _to_effect(record: dict[str, Any]) -> PathEffect:
    states = {name: _to_state(record[name]) for name in ("before", "after")}
    return PathEffect(**{**record, **states})


def _to_state(fields: dict[str, Any] | None) -> PathState | None:
    return PathState(**{**fields, "owner": tuple(fields["owner"])}) if fields is not None else None
