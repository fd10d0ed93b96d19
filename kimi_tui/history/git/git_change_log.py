"""Log of the changes of a repository during a session.

One file per session, with a JSON object per line: the newest file state before the change (`state`), the
author of the change (`who`, `command`), and the repository's states before and after it (`before`, `after`).
"""

import json
import logging
from collections.abc import Collection, Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from kimi_tui.base.paths import make_private_dir
from kimi_tui.history.git.git_state import GitState, GitStateReader

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class GitChange:
    """A change of a repository."""

    state: str
    """The newest file state before the change; empty if the change is the first one in the log."""
    who: str
    """The kind of the author, as in `ChangeAuthor`."""
    command: str
    before: GitState
    after: GitState


class GitChangeLog:
    """The changes of one working directory's repository. The methods block and don't raise OSError."""

    def __init__(self, folder: Path, session: str, work_dir: Path) -> None:
        self._folder = folder
        self._session = session
        self._reader = GitStateReader(work_dir)
        self._last: GitState | None = None

    def record(self, state: str, *, who: str, command: str) -> None:
        """Record any change since the last call. `state` is the newest file state before the change."""
        now = self._reader.read()
        before = self._last_state()
        if before == now:
            return
        self._last = now
        if before is None and now == GitState():
            return
        change = GitChange(
            state=state if before is not None else "",
            who=who,
            command=command,
            before=before or now,
            after=now,
        )
        try:
            make_private_dir(self._folder)
            with (self._folder / f"{self._session}.jsonl").open("a", encoding="ascii") as file:
                file.write(json.dumps(asdict(change)) + "\n")
        except OSError:
            logger.warning("can't record a change of the Git repository", exc_info=True)

    def changes_since(self, states: Collection[str], sessions: Iterable[str]) -> list[GitChange]:
        """Return the changes in `sessions` that follow one of the file states `states`, oldest first."""
        return [
            change for session in sorted(sessions) for change in self._read(session) if change.state in states
        ]

    def _last_state(self) -> GitState | None:
        if self._last is None:
            for change in self._read(self._session):
                self._last = change.after
        return self._last

    def _read(self, session: str) -> Iterator[GitChange]:
        try:
            lines = (self._folder / f"{session}.jsonl").read_text("ascii").splitlines()
        except (OSError, ValueError):
            return
        for line in lines:
            try:
                record: dict[str, Any] = json.loads(line)
                before, after = _to_state(record.pop("before")), _to_state(record.pop("after"))
                yield GitChange(**record, before=before, after=after)
            except (ValueError, TypeError, KeyError):
                continue  # the process was killed while it wrote the line


def _to_state(fields: dict[str, Any]) -> GitState:
    return GitState(**(fields | {"stashes": tuple(fields["stashes"])}))
