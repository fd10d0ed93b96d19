"""Recorded versions of one file: its contents in the records that lead to a state, newest first."""

from collections.abc import Iterator

from kimi_tui.base.frozen import frozen
from kimi_tui.history.line_origins.manifest_chain import ManifestChain
from kimi_tui.history.line_origins.segment_index import RecordRun
from kimi_tui.history.snapshots.attribution import ChangeAuthor
from kimi_tui.history.snapshots.entry import Entry
from kimi_tui.history.snapshots.manifest import Manifest, ManifestMissing


@frozen(kw_only=True)
class RecordedVersion:
    """The content of a file after a record that changed it."""

    record: str
    """The manifest id."""
    path: str
    """The file's path at that time."""
    entry: Entry | None
    """None if the file didn't exist."""
    author: ChangeAuthor | None
    """Author of the change from the previous version; None if unknown, since the file already existed."""
    time: float
    """Seconds since the epoch."""
    parent: str | None
    """The state before the change."""

    @property
    def restored_state(self) -> str:
        """The state from which a revert took the content; empty if unknown or for other changes."""
        return self.author.call if self.author is not None and self.author.who == "revert" else ""


class RecordedVersions:
    """Reads the versions of a file on demand. Version 0 is the newest; renames are followed."""

    def __init__(self, chain: ManifestChain, path: str, head: str) -> None:
        self._chain = chain
        self._runs = list(chain.runs(head))
        self._found: list[RecordedVersion] = []
        self._source = self._read_versions(path)
        self.is_cut = False
        """Whether older versions were deleted to free space. Known once `get` has returned None."""

    def get(self, number: int) -> RecordedVersion | None:
        """Return version `number`; None if there are fewer versions."""
        while len(self._found) <= number:
            if (version := next(self._source, None)) is None:
                return None
            self._found.append(version)
        return self._found[number]

    def at_state(self, manifest: str) -> int | None:
        """Return the number of the version in a state; None if that state doesn't lead to the newest."""
        age = self._age(manifest)
        if age is None:
            return None
        number = 0
        while (version := self.get(number)) is not None:
            version_age = self._age(version.record)
            if version_age is None or version_age >= age:
                return number
            number += 1
        return None

    def _age(self, manifest: str) -> tuple[int, int] | None:
        """Return a number pair that is larger for older records; None if a record isn't in the chain."""
        segment, _, text = manifest.rpartition(":")
        offset = int(text) if text.isdecimal() else -1
        for number, run in enumerate(self._runs):
            if run.segment == segment and run.first <= offset <= run.last:
                return number, -offset
        return None

    def find_equal(self, number: int) -> int | None:
        """Return the number of the newest older version with the content of version `number`, or None."""
        version = self.get(number)
        if version is None or version.entry is None or version.entry.kind != "file":
            return None
        older = number + 1
        while (other := self.get(older)) is not None:
            if other.entry is not None and other.entry[0::3] == version.entry[0::3]:
                return older
            older += 1
        return None

    def _read_versions(self, path: str) -> Iterator[RecordedVersion]:
        for run in self._runs:
            offsets = self._chain.index(run.segment).find_changes(run, path)
            while offsets:
                offset = offsets.pop(0)
                try:
                    record = self._chain.read(run.segment, offset)
                except ManifestMissing:
                    continue
                entry = record.changes.get(path)
                if record.author.who == "coverage" and entry is None:
                    continue
                yield _to_version(record, path, entry)
                if path in record.renames:
                    path = record.renames[path]
                    later = self._chain.index(run.segment).find_changes(run, path)
                    offsets = [other for other in later if other < offset]
        if self._runs:
            yield from self._read_base(self._runs[-1], path)

    def _read_base(self, run: RecordRun, path: str) -> Iterator[RecordedVersion]:
        """Yield the version in the whole state at the start of the history, if the file existed there."""
        try:
            base = self._chain.read(run.segment, run.first)
        except ManifestMissing:
            self.is_cut = True
            return
        if base.whole is None or (path in base.changes and base.parent is not None):
            self.is_cut = base.parent is not None
        elif path in base.whole:
            yield RecordedVersion(
                record=base.id, path=path, entry=base.whole[path], author=None, time=base.time, parent=None
            )


def _to_version(record: Manifest, path: str, entry: Entry | None) -> RecordedVersion:
    return RecordedVersion(
        record=record.id,
        path=path,
        entry=entry,
        author=record.author if record.author.who != "coverage" else None,
        time=record.time,
        parent=record.parent,
    )
