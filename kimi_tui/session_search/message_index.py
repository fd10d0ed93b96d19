"""Index of the messages of all sessions: an SQLite database in the data directory.

The database has no texts, only the terms of each message (FTS5, contentless) and the location of its line.
So it takes a fraction of the journals' size. It can be deleted at any time: the next search rebuilds it from
the journals. A line that several branches of a session share is indexed once.
"""

import contextlib
import sqlite3
import time
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import UnionType

from kimi_tui.base.disk_errors import reason_of
from kimi_tui.base.errors import KimiTuiError, SessionError
from kimi_tui.base.frozen import frozen
from kimi_tui.base.message_text import msg
from kimi_tui.base.paths import make_private_dir
from kimi_tui.history.journal import raw_lines
from kimi_tui.session_search.journal_message import CheckpointMark, read_line
from kimi_tui.session_search.journal_segments import SegmentFile, read_shared_part
from kimi_tui.session_search.search_query import to_index_text

_VERSION = 2
_TRANSACTION_BYTES = 1_000_000
"""Bytes of journals between two commits; a kill loses at most this much work."""
_BUSY_TIMEOUT_S = 5.0
_BUSY_DELAY_S = 0.02
_DAMAGED_SCHEMA = (
    "no such",
    "malformed",
    "vtable constructor failed",
    "Could not decode",
    "unsupported file format",
)
"""Prefixes of error messages that mean damage, although SQLite doesn't report them as damage."""
_MAX_REMOVED_SHARE = 0.25
"""The index is rebuilt if deleted sessions have more than this share of its messages."""

_SCHEMA = """
CREATE TABLE segments (
    id INTEGER PRIMARY KEY, session TEXT, path TEXT, inode INTEGER, is_current INTEGER,
    indexed INTEGER,    -- bytes
    checkpoint INTEGER, -- the last one before `indexed`
    time REAL,
    parent INTEGER,     -- the segment whose first `shared` bytes are the same
    shared INTEGER
);
CREATE TABLE messages (
    id INTEGER PRIMARY KEY, segment INTEGER, start INTEGER, length INTEGER, checkpoint INTEGER, time REAL
);
CREATE VIRTUAL TABLE words USING fts5(text, content='', detail=none, columnsize=0);
"""

_SEGMENT_TYPES: Mapping[str, type | UnionType] = {
    "id": int, "session": str, "path": str, "inode": int, "is_current": int, "indexed": int,
    "checkpoint": int | None, "time": float, "parent": int | None, "shared": int,
}  # fmt: skip
_MESSAGE_TYPES = (int, int, int, int | None, float)


@frozen(kw_only=True)
class IndexedMessage:
    """Location of a message: its line in a journal, by start and length in bytes."""

    session_id: str
    path: Path
    start: int
    length: int
    checkpoint: int | None
    time: float
    is_on_current_branch: bool


@frozen(kw_only=True)
class _Segment:
    """A row of `segments`."""

    id: int
    session: str
    path: str
    inode: int
    is_current: int
    indexed: int
    checkpoint: int | None
    time: float
    parent: int | None
    shared: int

    @property
    def folder(self) -> str:
        """Directory of the session or sub-agent."""
        return str(Path(self.path).parent)


class _DamagedIndex(KimiTuiError):
    """The database was damaged and has been deleted."""


class MessageIndex:
    """The index in one file. The methods block, and can be called by one thread at a time.

    Other processes may use the same file.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._connection: sqlite3.Connection | None = None

    def close(self) -> None:
        """Close the database."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def update(self, files: Sequence[SegmentFile], *, deadline: float | None = None) -> float:
        """Index the new lines of `files`. Return the indexed part, from 0 to 1.

        `files` must list all journals; others are removed from the index. Stops at `deadline`, a time of the
        monotonic clock in seconds. Raises KimiTuiError.
        """
        try:
            with self._reporting_errors():
                return self._update(files, deadline)
        except _DamagedIndex:
            with self._reporting_errors():
                return self._update(files, deadline)

    def _update(self, files: Sequence[SegmentFile], deadline: float | None) -> float:
        segments, has_removed = self._update_segments(files)
        if has_removed and _removed_share(self._open()) > _MAX_REMOVED_SHARE:
            self._delete()
            segments, _ = self._update_segments(files)
        total = sum(file.size for file in files)
        missing = sum(max(file.size - segment.indexed, 0) for file, segment in segments)
        for file, segment in segments:
            if segment.indexed < file.size:
                missing -= self._index_file(file, segment, deadline)
                if deadline is not None and time.monotonic() >= deadline:
                    break
        return 1.0 if missing <= 0 or not total else 1 - missing / total

    def find(self, expression: str) -> Generator[IndexedMessage, None, None]:
        """Yield the messages that match an FTS5 expression, last indexed first. Raises KimiTuiError."""
        with self._reporting_errors():
            database = self._open()
            segments = {segment.id: segment for segment in _read_segments(database)}
            current = {segment.folder: segment for segment in segments.values() if segment.is_current}
            places = {
                segment.id: (Path(segment.path), current.get(segment.folder)) for segment in segments.values()
            }
            rows = database.execute(
                "SELECT segment, start, length, messages.checkpoint, messages.time FROM words"
                " JOIN messages ON messages.id = words.rowid WHERE words MATCH ? ORDER BY words.rowid DESC",
                (expression,),
            )
            for row in rows:
                _check_types(row, _MESSAGE_TYPES)
                segment_id, start, length, checkpoint, when = row
                segment = segments.get(segment_id)
                if segment is None or not 0 <= start < start + length <= segment.indexed:
                    continue  # its session was deleted, or the row is damaged
                path, branch = places[segment_id]
                yield IndexedMessage(
                    session_id=segment.session,
                    path=path,
                    start=start,
                    length=length,
                    checkpoint=checkpoint,
                    time=when,
                    is_on_current_branch=_contains(branch, segment, start, segments),
                )

    @contextlib.contextmanager
    def _reporting_errors(self) -> Iterator[None]:
        """Raise errors of the database as KimiTuiError. A damaged database is deleted."""
        try:
            yield
        except sqlite3.OperationalError as error:
            if str(error).startswith(_DAMAGED_SCHEMA):
                self._delete()
                raise self._build_damage_error() from error
            self.close()
            raise KimiTuiError(
                msg("Can't use the search index {path}: {reason}.", path=self._path, reason=error),
                hint="Try again. If it still fails, delete this file. The next search builds a new index.",
            ) from error
        except OSError as error:
            self.close()
            raise KimiTuiError(
                msg("Can't use the search index {path}: {reason}.", path=self._path, reason=reason_of(error)),
                hint="The index needs a directory that can be written to, and free space.",
            ) from error
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:  # messages of SQLite quote damaged names
            self._delete()
            raise self._build_damage_error() from error

    def _build_damage_error(self) -> "_DamagedIndex":
        return _DamagedIndex(
            msg("The search index {path} was damaged.", path=self._path),
            hint="It was deleted. Search again to build a new one.",
        )

    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            make_private_dir(self._path.parent)
            self._path.touch(mode=0o600)
            self._connection = self._connect()
            if _version(self._connection) not in (0, _VERSION):
                self._delete()
                self._path.touch(mode=0o600)
                self._connection = self._connect()
            if _version(self._connection) == 0:
                _create_tables(self._connection)
        return self._connection

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self._path, timeout=_BUSY_TIMEOUT_S, isolation_level=None, check_same_thread=False
        )
        _switch_to_wal(connection)
        connection.execute("PRAGMA synchronous = NORMAL")
        return connection

    def _delete(self) -> None:
        self.close()
        for suffix in ("", "-wal", "-shm"):
            self._path.with_name(self._path.name + suffix).unlink(missing_ok=True)

    # indexing

    def _update_segments(
        self, files: Sequence[SegmentFile]
    ) -> tuple[list[tuple[SegmentFile, _Segment]], bool]:
        """Match `files` to the known segments by inode, since a rotation renames a file. Add and remove rows.

        Return each file with its segment, and whether rows were removed.
        """
        database = self._open()
        with _transaction(database):
            known, removed = _split_removed(_read_segments(database), files)
            database.executemany("DELETE FROM segments WHERE id = ?", [(it.id,) for it in removed])
            matched: list[tuple[SegmentFile, _Segment]] = []
            newest: dict[Path, _Segment] = {}
            for file in files:
                segment = known.get((file.session_id, file.inode))
                if segment is None:
                    segment = _add_segment(database, file, newest.get(file.path.parent))
                elif (segment.path, bool(segment.is_current)) != (str(file.path), file.is_current):
                    segment = replace(segment, path=str(file.path), is_current=file.is_current)
                    database.execute(
                        "UPDATE segments SET path = ?, is_current = ? WHERE id = ?",
                        (segment.path, segment.is_current, segment.id),
                    )
                newest[file.path.parent] = segment
                matched.append((file, segment))
        return matched, bool(removed)

    def _index_file(self, file: SegmentFile, segment: _Segment, deadline: float | None) -> int:
        """Index the new lines of a file. Return their size in bytes."""
        database = self._open()
        position, checkpoint, when = segment.indexed, segment.checkpoint, segment.time
        lines = raw_lines(file.path, start=position)
        is_done = False
        while not is_done:
            is_done = True
            chunk_end = position + _TRANSACTION_BYTES
            with _transaction(database):
                if _indexed_size(database, segment.id) != position:  # another process was faster
                    return file.size - segment.indexed
                try:
                    for raw in lines:
                        if not raw.has_line_end:
                            break
                        found = read_line(raw.data)
                        if isinstance(found, CheckpointMark):
                            checkpoint, when = found.id, found.time or when
                        elif found is not None:
                            _add_message(
                                database,
                                (segment.id, raw.offset, len(raw.data), checkpoint, when),
                                to_index_text(found.text),
                            )
                        position = raw.end
                        if position >= chunk_end:
                            is_done = False
                            break
                except SessionError:  # the file was deleted or can't be read: the next update tries again
                    return file.size - segment.indexed
                database.execute(
                    "UPDATE segments SET indexed = ?, checkpoint = ?, time = ? WHERE id = ?",
                    (position, checkpoint, when, segment.id),
                )
            if deadline is not None and time.monotonic() >= deadline:
                break
        return position - segment.indexed


@contextlib.contextmanager
def _transaction(database: sqlite3.Connection) -> Iterator[None]:
    database.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        database.execute("ROLLBACK")
        raise
    database.execute("COMMIT")


def _switch_to_wal(database: sqlite3.Connection) -> None:
    """Set the journal mode. SQLite itself doesn't wait for other processes that set it."""
    deadline = time.monotonic() + _BUSY_TIMEOUT_S
    while True:
        try:
            database.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() >= deadline:
                raise
            time.sleep(_BUSY_DELAY_S)
        else:
            return


def _create_tables(database: sqlite3.Connection) -> None:
    """Create the tables, unless another process has just created them."""
    with _transaction(database):
        if _version(database) == 0:
            for statement in _SCHEMA.split(";\n"):
                database.execute(statement)
            database.execute(f"PRAGMA user_version = {_VERSION}")


def _version(database: sqlite3.Connection) -> int:
    (version,) = database.execute("PRAGMA user_version").fetchone()
    return int(version)


def _read_segments(database: sqlite3.Connection) -> list[_Segment]:
    """Return the rows of `segments`. Raises sqlite3.DatabaseError if a row is damaged."""
    rows = list(database.execute(f"SELECT {', '.join(_SEGMENT_TYPES)} FROM segments"))
    for row in rows:
        _check_types(row, _SEGMENT_TYPES.values())
    segments = [_Segment(**dict(zip(_SEGMENT_TYPES, row, strict=True))) for row in rows]
    if any(it.indexed < 0 or it.shared < 0 for it in segments):
        raise sqlite3.DatabaseError("a segment has impossible values")
    return segments


def _check_types(row: Iterable[object], types: Iterable[type | UnionType]) -> None:
    if not all(isinstance(value, type_) for value, type_ in zip(row, types, strict=True)):
        raise sqlite3.DatabaseError("a row has values of other types")


def _split_removed(
    segments: Sequence[_Segment], files: Iterable[SegmentFile]
) -> tuple[dict[tuple[str, int], _Segment], list[_Segment]]:
    """Return the segments that still exist, by session and inode, and the removed segments.

    Segments that share lines with a removed segment count as removed, since they must be indexed again.
    """
    sizes = {(file.session_id, file.inode): file.size for file in files}
    known: dict[tuple[str, int], _Segment] = {}
    removed: dict[int, _Segment] = {}
    for segment in sorted(segments, key=lambda it: it.id):  # parents first
        key = (segment.session, segment.inode)
        is_same_file = sizes.get(key, -1) >= segment.indexed
        if is_same_file and segment.parent not in removed:
            known[key] = segment
        else:
            removed[segment.id] = segment
    return known, list(removed.values())


def _indexed_size(database: sqlite3.Connection, segment_id: int) -> int | None:
    row = database.execute("SELECT indexed FROM segments WHERE id = ?", (segment_id,)).fetchone()
    return row[0] if row is not None else None


def _add_segment(database: sqlite3.Connection, file: SegmentFile, parent: _Segment | None) -> _Segment:
    """Add a row for a file. Lines that the file shares with `parent` aren't indexed again."""
    shared, mark = 0, None
    if parent is not None:
        with contextlib.suppress(SessionError):
            shared, mark = read_shared_part(file.path, Path(parent.path))
    checkpoint = mark.id if mark is not None else None
    cursor = database.execute(
        "INSERT INTO segments (session, path, inode, is_current, indexed, checkpoint, time, parent, shared)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            file.session_id,
            str(file.path),
            file.inode,
            file.is_current,
            shared,
            checkpoint,
            file.modified,
            parent.id if parent is not None else None,
            shared,
        ),
    )
    assert cursor.lastrowid is not None
    return _Segment(
        id=cursor.lastrowid,
        session=file.session_id,
        path=str(file.path),
        inode=file.inode,
        is_current=file.is_current,
        indexed=shared,
        checkpoint=checkpoint,
        time=file.modified,
        parent=parent.id if parent is not None else None,
        shared=shared,
    )


def _add_message(
    database: sqlite3.Connection, location: tuple[int, int, int, int | None, float], text: str
) -> None:
    cursor = database.execute(
        "INSERT INTO messages (segment, start, length, checkpoint, time) VALUES (?, ?, ?, ?, ?)", location
    )
    database.execute("INSERT INTO words (rowid, text) VALUES (?, ?)", (cursor.lastrowid, text))


def _removed_share(database: sqlite3.Connection) -> float:
    """Return the share of messages in segments that no longer exist, from 0 to 1."""
    (total,) = database.execute("SELECT COALESCE(MAX(id), 0) FROM messages").fetchone()
    if not total:
        return 0.0
    (kept,) = database.execute(
        "SELECT COUNT(*) FROM messages WHERE segment IN (SELECT id FROM segments)"
    ).fetchone()
    return 1 - float(kept) / float(total)


def _contains(current: _Segment | None, segment: _Segment, start: int, segments: dict[int, _Segment]) -> bool:
    """Return whether the current branch of a session contains the line at `start` of `segment`."""
    while current is not None and current.id != segment.id:
        if current.parent is None or start >= current.shared:
            return False
        current = segments.get(current.parent)
    return current is not None
