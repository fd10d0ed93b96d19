"""Line tracer: finds the recorded changes that wrote the lines of a file."""

import heapq
from collections.abc import Iterable, Iterator

from kimi_tui.base.frozen import frozen
from kimi_tui.history.line_origins.line_mapping import LineMatch, Lines, is_significant, map_lines
from kimi_tui.history.line_origins.manifest_chain import ManifestChain
from kimi_tui.history.line_origins.recorded_versions import RecordedVersion, RecordedVersions
from kimi_tui.history.snapshots.attribution import ChangeAuthor
from kimi_tui.history.snapshots.blob_store import BlobMissing, BlobStore
from kimi_tui.history.snapshots.hunk import split_lines
from kimi_tui.history.snapshots.manifest import Manifest, ManifestLog, ManifestMissing
from kimi_tui.history.snapshots.merge3 import is_text

_MAX_OLDER_VERSIONS = 30
"""Number of older versions that are searched for the lines of a revert with an unknown target state."""
_MARGIN_LINES = 100
"""Number of lines from the changed part of a text beyond which no line is affected."""


@frozen(kw_only=True)
class LineOrigin:
    """The change that wrote a line."""

    version: RecordedVersion
    line: int
    """Number of the line in that version, from 0."""
    is_known: bool = True
    """Whether the author is known. False, for example, if the stored history begins later."""
    time_before: float = 0.0
    """Time of the previous version, in seconds since the epoch; 0 without a previous version."""
    time_after: float = float("inf")
    """Time of the next version, in seconds since the epoch; infinite without a next version."""

    @property
    def is_users(self) -> bool:
        """Whether the user may have written the line."""
        author = self.version.author
        return not self.is_known or author is None or _may_be_users(author)


@frozen
class _Pursuit:
    """A line that is followed back to its origin."""

    wanted: int
    """Number of the line in the newest version."""
    otherwise: LineOrigin | None = None
    """The origin to use unless the line turns out to be the user's."""


class LineTracer:
    """Finds the origins of lines. Its methods block.

    A line stays the same if only its layout changes or if it moves. If a revert or another change restores
    earlier content, the lines get their earlier origins again.
    """

    def __init__(self, manifests: ManifestLog, blobs: BlobStore) -> None:
        self._manifests = manifests
        self._chain = ManifestChain(manifests)
        self._blobs = blobs

    def trace(self, path: str, head: str, lines: Iterable[int] | None = None) -> dict[int, LineOrigin]:
        """Return the origins of `lines` (from 0) of a file in the state `head`; by default, of all lines.

        Lines that don't exist are missing in the result.
        """
        versions = RecordedVersions(self._chain, path, head)
        newest = versions.get(0)
        if newest is None or (content := self._content(newest)) is None:
            return {}
        count = len(split_lines(content))
        wanted = range(count) if lines is None else [line for line in lines if 0 <= line < count]
        return _Trace(self, versions, wanted).run()

    def content(self, path: str, head: str) -> bytes | None:
        """Return the content of a file in a state; None if it isn't a stored text."""
        newest = RecordedVersions(self._chain, path, head).get(0)
        return self._content(newest) if newest is not None else None

    def renamed_path(self, path: str, state: str, head: str) -> str:
        """Return the path in the state `head` of a file that had `path` in the earlier `state`."""
        try:
            records = self._manifests.records_since(state, head)
        except ManifestMissing:
            return path
        for record in records:
            path = next((new for new, old in record.renames.items() if old == path), path)
        return path

    def changes(self, segment: str, path: str) -> Iterator[Manifest]:
        """Yield the records of a segment that change a path, oldest first."""
        yield from self._chain.changes(segment, path)

    def _content(self, version: RecordedVersion) -> bytes | None:
        entry = version.entry
        if entry is None or entry.kind != "file":
            return None
        try:
            content = self._blobs.read(entry.ref)
        except (BlobMissing, OSError):
            return None
        return content if is_text(content) else None


class _Trace:
    """One run of `LineTracer.trace`."""

    def __init__(self, tracer: LineTracer, versions: RecordedVersions, wanted: Iterable[int]) -> None:
        self._tracer = tracer
        self._versions = versions
        self._pending: dict[int, dict[int, list[_Pursuit]]] = {}
        """The lines to follow, by version and line number."""
        self._queue: list[int] = []
        self._origins: dict[int, LineOrigin] = {}
        self._contents: dict[int, bytes | None] = {}
        for line in wanted:
            self._follow(0, line, [_Pursuit(line)])

    def run(self) -> dict[int, LineOrigin]:
        """Return the origin of each line."""
        while self._queue:
            number = heapq.heappop(self._queue)
            version = self._versions.get(number)
            assert version is not None  # only existing versions are followed
            self._trace_version(number, version, self._pending.pop(number))
            self._contents.pop(number, None)
        return self._origins

    def _follow(self, number: int, line: int, pursuits: list[_Pursuit]) -> None:
        if number not in self._pending:
            self._pending[number] = {}
            heapq.heappush(self._queue, number)
        self._pending[number].setdefault(line, []).extend(pursuits)

    def _trace_version(
        self, number: int, version: RecordedVersion, wanted: dict[int, list[_Pursuit]]
    ) -> None:
        """Follow the wanted lines to older versions. Lines without an older source are from this version."""
        is_known = True
        for older in self._predecessors(number, version):
            if not wanted:
                return
            if (content := self._content(older)) is None:
                is_known &= not self._is_lost(older)
                continue
            sources = self._sources(content, self._content(number) or b"", wanted, version)
            for line, source in sources.items():
                if source.line is not None:
                    pursuits = wanted.pop(line)
                    if source.is_doubtful and (version.author is None or version.author.who != "revert"):
                        origin = self._origin(number, version, line)
                        pursuits = [_Pursuit(it.wanted, it.otherwise or origin) for it in pursuits]
                    self._follow(older, source.line, pursuits)
        if self._versions.get(number + 1) is None and self._versions.is_cut:
            is_known = False
        if version.author is not None and version.author.who == "revert":
            self._find_equal_lines(number, version, wanted)
            is_known = False  # a revert writes nothing new
        for line, pursuits in wanted.items():
            origin = self._origin(number, version, line, is_known=is_known)
            for pursuit in pursuits:
                is_other = pursuit.otherwise is not None and not origin.is_users
                self._origins[pursuit.wanted] = (pursuit.otherwise or origin) if is_other else origin

    def _origin(
        self, number: int, version: RecordedVersion, line: int, *, is_known: bool = True
    ) -> LineOrigin:
        older = self._versions.get(number + 1)
        newer = self._versions.get(number - 1) if number else None
        return LineOrigin(
            version=version,
            line=line,
            is_known=is_known,
            time_before=older.time if older is not None else 0.0,
            time_after=newer.time if newer is not None else float("inf"),
        )

    def _predecessors(self, number: int, version: RecordedVersion) -> Iterator[int]:
        """Yield the versions that lines may come from, the most probable first."""
        author = version.author
        if author is not None and author.who == "revert":
            yield from self._restored_versions(number, version)
            return
        is_edit = author is not None and author.who == "call" and not author.command
        if self._versions.get(number + 1) is None:
            return
        equal = self._versions.find_equal(number) if not is_edit else None
        is_by_hand = author is not None and author.who == "you" and not author.command
        if equal is not None and is_by_hand and not self._adds_significant_lines(number):
            equal = None  # it is as likely that the user typed it
        yield number + 1 if equal is None else equal

    def _restored_versions(self, number: int, version: RecordedVersion) -> Iterator[int]:
        """Yield the versions that a revert may have taken lines from."""
        target = self._versions.at_state(version.restored_state) if version.restored_state else None
        if target is None or target <= number or self._versions.get(target) is None:
            target = self._versions.find_equal(number)
        else:
            if (old := self._versions.get(target)) is not None and not _has_same_content(old, version):
                yield number + 1  # lines that the revert kept
            yield target
            return
        if target is not None:
            yield target
        for older in range(number + 1, number + 1 + _MAX_OLDER_VERSIONS):
            if self._versions.get(older) is None:
                return
            yield older

    def _find_equal_lines(
        self, number: int, version: RecordedVersion, wanted: dict[int, list[_Pursuit]]
    ) -> None:
        """Follow lines of a revert to equal lines anywhere in the versions that the revert combined."""
        lines = split_lines(self._content(number) or b"")
        for older in self._restored_versions(number, version):
            if (content := self._content(older)) is None:
                continue
            places = {line: place for place, line in enumerate(split_lines(content))}
            for line in [line for line in wanted if lines[line] in places]:
                self._follow(older, places[lines[line]], wanted.pop(line))

    def _adds_significant_lines(self, number: int) -> bool:
        """Return whether a version has new lines that are longer than a few letters."""
        before = set(split_lines(self._content(number + 1) or b""))
        return any(is_significant(it) for it in split_lines(self._content(number) or b"") if it not in before)

    def _is_lost(self, number: int) -> bool:
        """Return whether a version was a file with content that isn't known."""
        version = self._versions.get(number)
        return version is not None and version.entry is not None and version.entry.kind in {"file", "omitted"}

    def _content(self, number: int) -> bytes | None:
        if number not in self._contents:
            version = self._versions.get(number)
            self._contents[number] = self._tracer._content(version) if version is not None else None
        return self._contents[number]

    def _sources(
        self, old: bytes, new: bytes, wanted: Iterable[int], version: RecordedVersion
    ) -> dict[int, LineMatch]:
        if (quick := _sources_outside_change(old, new, wanted)) is not None:
            return quick
        is_by_user = version.author is None or _may_be_users(version.author)
        old_lines: Lines = split_lines(old)
        mapped = map_lines(old_lines, split_lines(new), is_by_user=is_by_user)
        return {line: mapped[line] for line in wanted}


def _may_be_users(author: ChangeAuthor) -> bool:
    """Return whether the user may have made a change. A scan after a call also finds the user's changes."""
    return author.who in {"you", "background"} or bool(author.began)


def _has_same_content(first: RecordedVersion, second: RecordedVersion) -> bool:
    entries = first.entry, second.entry
    return entries[0] is not None and entries[1] is not None and entries[0].ref == entries[1].ref


def _sources_outside_change(old: bytes, new: bytes, wanted: Iterable[int]) -> dict[int, LineMatch] | None:
    """Return the sources of `wanted` if all of them are far from the changed part; otherwise None."""
    if old == new:
        return {line: LineMatch(line) for line in wanted}
    prefix = _common_prefix(old, new)
    suffix = _common_suffix(old[prefix:], new[prefix:])
    before = new.count(b"\n", 0, prefix) - _MARGIN_LINES
    after = new.count(b"\n", 0, len(new) - suffix) + _MARGIN_LINES
    shift = old.count(b"\n") - new.count(b"\n")
    sources = {}
    for line in wanted:
        if line < before:
            sources[line] = LineMatch(line)
        elif line > after:
            sources[line] = LineMatch(line + shift)
        else:
            return None
    return sources


def _common_prefix(old: bytes, new: bytes) -> int:
    low, high = 0, min(len(old), len(new))
    while low < high:
        middle = (low + high + 1) // 2
        if old[low:middle] == new[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _common_suffix(old: bytes, new: bytes) -> int:
    low, high = 0, min(len(old), len(new))
    while low < high:
        middle = (low + high + 1) // 2
        if old[len(old) - middle : len(old) - low] == new[len(new) - middle : len(new) - low]:
            low = middle
        else:
            high = middle - 1
    return low
