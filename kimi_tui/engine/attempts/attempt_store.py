"""Stored attempts of a session.

`attempts/N.json` in the session directory describes attempt N and its changes. `attempts/contents` has the
contents of the changed files, before and after. The project's store keeps only contents that its own states
use.
"""

import json
import logging
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path
from typing import Any

from kimi_tui.base.atomic_file import write_private_atomic
from kimi_tui.base.errors import KimiTuiError, UsageError
from kimi_tui.base.frozen import frozen
from kimi_tui.base.json_codec import from_jsonable, to_jsonable
from kimi_tui.base.message_text import msg
from kimi_tui.base.paths import make_private_dir
from kimi_tui.history.session_state import SessionState
from kimi_tui.history.snapshots.blob_store import BlobMissing, BlobStore
from kimi_tui.history.snapshots.entry import Changes, Entry
from kimi_tui.wire.attempts import Attempt

logger = logging.getLogger(__name__)

_FOLDER = "attempts"


@frozen(kw_only=True)
class StoredAttempt:
    """An attempt and its changes."""

    attempt: Attempt
    changes: Changes = field(default_factory=dict)
    """The changed paths with their new entries. None: deleted."""
    base: Changes = field(default_factory=dict)
    """The same paths with their entries at the checkpoint. None: missing."""


class AttemptStore:
    """The attempts of one session. The methods block, and may raise OSError."""

    def __init__(self, session_dir: Path) -> None:
        self.folder = session_dir / _FOLDER
        self._contents: BlobStore | None = None

    @property
    def contents(self) -> BlobStore:
        """The contents of changed files."""
        if self._contents is None:
            make_private_dir(self.folder)
            self._contents = BlobStore(self.folder / "contents")
            self._contents.open()
        return self._contents

    def read_all(self) -> dict[int, StoredAttempt]:
        """Return the attempts by number. Files that can't be read are skipped."""
        stored = {}
        for path in self.folder.glob("*.json"):
            try:
                data = json.loads(path.read_bytes())
                attempt = from_jsonable(Attempt, data["attempt"])
                stored[attempt.number] = StoredAttempt(
                    attempt=attempt,
                    changes=_decode(data["changes"]),
                    base=_decode(data["base"]),
                )
            except (OSError, ValueError, TypeError, KeyError):
                logger.warning("can't read %s", path, exc_info=True)
        return dict(sorted(stored.items()))

    def write(self, stored: StoredAttempt) -> None:
        """Store an attempt."""
        make_private_dir(self.folder)
        record = {
            "attempt": to_jsonable(stored.attempt),
            "changes": _encode(stored.changes),
            "base": _encode(stored.base),
        }
        write_private_atomic(self._path_of(stored.attempt.number), json.dumps(record))

    def remove(self, numbers: Iterable[int]) -> None:
        """Remove attempts. Once no attempts are left, remove all contents."""
        for number in numbers:
            self._path_of(number).unlink(missing_ok=True)
            self.remove_run(number)
        if self.folder.is_dir() and not any(self.folder.glob("*.json")):
            self._contents = None
            shutil.rmtree(self.folder, ignore_errors=True)

    def remove_run(self, number: int) -> None:
        """Remove the files of an attempt's process."""
        shutil.rmtree(self.run_folder(number), ignore_errors=True)

    def run_folder(self, number: int) -> Path:
        """Return the directory with the files of a running attempt's process."""
        return self.folder / f"run-{number}"

    def select(self, numbers: Sequence[int]) -> list[StoredAttempt]:
        """Return the attempts `numbers`.

        Raises UsageError if `numbers` is empty, or if an attempt doesn't exist or hasn't ended.
        """
        stored = self.read_all()
        if not numbers:
            raise UsageError("No attempt specified.", hint="/attempts --list lists them.")
        selected = []
        for number in dict.fromkeys(numbers):
            if number not in stored:
                raise missing_attempt(number)
            if stored[number].attempt.is_active:
                raise UsageError(
                    msg("Attempt {number} hasn't ended.", number=number),
                    hint="Wait for it, or stop it with /attempts --stop.",
                )
            selected.append(stored[number])
        return selected

    def lend_contents(self, changes: Iterable[Changes], target: BlobStore) -> None:
        """Copy the contents of changed files that `target` doesn't have.

        Raises KimiTuiError if a content is missing or damaged.
        """
        for entries in changes:
            for entry in entries.values():
                if entry is None or entry.kind != "file" or target.has(entry.ref):
                    continue
                try:
                    target.put_pieces(self.contents.iter_chunks(entry.ref))
                except BlobMissing as error:
                    raise KimiTuiError(
                        "The files of the attempt are no longer stored.", hint="Run it again."
                    ) from error

    def _path_of(self, number: int) -> Path:
        return self.folder / f"{number}.json"


def mark_adopted(attempts: Iterable[Attempt], state: SessionState) -> tuple[Attempt, ...]:
    """Return attempts with `is_adopted` set from a session's state."""
    numbers = {each.number for each in state.adopted}
    return tuple(replace(attempt, is_adopted=attempt.number in numbers) for attempt in attempts)


def missing_attempt(number: int) -> UsageError:
    """Return the error about an attempt that doesn't exist."""
    return UsageError(
        msg("Attempt {number} doesn't exist.", number=number), hint="/attempts --list lists them."
    )


def _encode(changes: Changes) -> dict[str, list[Any] | None]:
    return {path: None if entry is None else list(entry) for path, entry in changes.items()}


def _decode(data: Mapping[str, list[Any] | None]) -> dict[str, Entry | None]:
    return {path: None if values is None else Entry(*values) for path, values in data.items()}
