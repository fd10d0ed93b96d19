"""Authors of recorded changes, as one session sees them."""

from collections.abc import Collection, Iterable, Sequence

from kimi_tui.history.snapshots.manifest import Manifest, ManifestMissing, session_of
from kimi_tui.history.snapshots.open_calls import OpenCallLog
from kimi_tui.history.snapshots.other_sessions import (
    CLOCK_TOLERANCE_S,
    NO_OTHER_SESSION_CHANGES,
    OtherSessionChanges,
    find_other_session_changes,
)
from kimi_tui.history.snapshots.project_store import ProjectStore
from kimi_tui.wire.timeline import WhoChanged


class ChangeAuthors:
    """Finds out which changes this session, other sessions and the user made."""

    def __init__(self, store: ProjectStore, open_calls: OpenCallLog) -> None:
        self._store = store
        self._open_calls = open_calls
        self.sessions = {store.session}
        """The sessions that count as this one, such as the origin of a fork."""

    def add_sessions_of(self, states: Iterable[str]) -> None:
        """Treat the sessions that created these states as this one."""
        for manifest in states:
            if (session := session_of(manifest)) != "":
                self.sessions.add(session)

    def changes_by_others(self, start: str, records: Sequence[Manifest]) -> OtherSessionChanges:
        """Return the changes in `records` that other sessions made or may have made.

        `records` follow the state `start`. Raises ManifestMissing.
        """
        if all(self._is_own(record) and not record.author.began for record in records):
            return NO_OTHER_SESSION_CHANGES
        manifests = self._store.manifests
        since = manifests.read(start).time
        record_ids = {record.id for record in records}
        others = [
            record
            for record in manifests.from_other_sessions({self._store.session}, since - CLOCK_TOLERANCE_S)
            if record.author.is_program and self._is_other_sessions(record, record_ids, since)
        ]
        return find_other_session_changes(
            records,
            others,
            since=since,
            own_calls={record.id for record in records if record.changes and self._is_own(record)},
            open_calls=self._open_calls.in_other_sessions(),
        )

    def _is_other_sessions(self, record: Manifest, record_ids: Collection[str], since: float) -> bool:
        """Return whether a record belongs to another session, such as a fork's origin after the fork."""
        if (record.author.session or session_of(record.id)) not in self.sessions:
            return True
        return record.id not in record_ids and record.time >= since

    def _is_own(self, record: Manifest) -> bool:
        """Return whether a record has no changes, or only those of this session's tool calls or reverts."""
        author = record.author
        return not record.changes or (author.who in {"call", "revert"} and author.session in self.sessions)

    def who_changed(self, before: str, after: str) -> dict[str, WhoChanged]:
        """Return who changed which paths between two states; empty if `after` doesn't follow `before`."""
        try:
            records = self._store.manifests.records_since(before, after)
        except ManifestMissing:
            return {}
        others = self.changes_by_others(before, records)
        who: dict[str, WhoChanged] = {}
        for record in records:
            is_own = self._is_own(record)
            for path in record.changes if record.author.who != "coverage" else ():
                change = record.id, path
                is_others = change in others.known or record.author.is_tool_of_other_session(self.sessions)
                by: WhoChanged = "another session" if is_others else "agent" if is_own else "you"
                if change in others.possible:
                    by = "agent or another session"
                who[path] = _combine_authors(who.get(path, by), by)
        return who


def _combine_authors(first: WhoChanged, then: WhoChanged) -> WhoChanged:
    """Return the combined author of two changes to a file."""
    if first == then:
        return first
    if "agent or another session" in {first, then}:
        return "agent or another session"
    if {first, then} <= {"agent", "another session", "agent and another session"}:
        return "agent and another session"
    return "you" if {first, then} == {"you", "another session"} else "both"
