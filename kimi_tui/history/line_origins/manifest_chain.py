"""Chain of the records that lead to a state, with a search for the records that change a path."""

import contextlib
from collections.abc import Iterator

from kimi_tui.history.line_origins.segment_index import RecordRun, SegmentIndex, load_index
from kimi_tui.history.snapshots.manifest import Manifest, ManifestLog, ManifestMissing


class ManifestChain:
    """Finds records without reading those between them. Its methods block."""

    def __init__(self, manifests: ManifestLog) -> None:
        self._manifests = manifests
        self._indexes: dict[str, SegmentIndex] = {}

    def runs(self, head: str) -> Iterator[RecordRun]:
        """Yield the records from `head` back to the first one that is stored, run by run."""
        current: str | None = head
        while current is not None:
            segment, _, offset = current.rpartition(":")
            run = self.index(segment).run_to(int(offset)) if offset.isdecimal() else None
            if run is None:
                return
            yield run
            current = run.parent

    def index(self, segment: str) -> SegmentIndex:
        """Return the index of a segment."""
        if segment not in self._indexes:
            self._indexes[segment] = load_index(self._manifests, segment)
        return self._indexes[segment]

    def read(self, segment: str, offset: int) -> Manifest:
        """Return a complete record. Raises ManifestMissing."""
        return self._manifests.read(f"{segment}:{offset}")

    def changes(self, segment: str, path: str) -> Iterator[Manifest]:
        """Yield the records of a segment that change a path, oldest first. Skips damaged records."""
        for offset in self.index(segment).find_all_changes(path):
            with contextlib.suppress(ManifestMissing):
                yield self.read(segment, offset)
