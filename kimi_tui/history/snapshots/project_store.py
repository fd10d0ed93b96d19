"""Snapshot store of a project, with a lock against pruning while it is in use."""

import contextlib
import json
import logging
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path

from kimi_tui.base.errors import SessionError
from kimi_tui.base.frozen import frozen
from kimi_tui.base.message_text import msg
from kimi_tui.base.paths import make_private_dir, work_dir_key
from kimi_tui.history.file_lock import Lock, flock
from kimi_tui.history.filesystem import LOCAL_FILE_SYSTEM, FileSystem
from kimi_tui.history.snapshots.blob_store import PIECE, BlobStore
from kimi_tui.history.snapshots.entry import Entry
from kimi_tui.history.snapshots.limits import SnapshotLimits
from kimi_tui.history.snapshots.manifest import ManifestLog, segment_of

logger = logging.getLogger(__name__)

_COLLECT_EVERY_S = 86400.0


@frozen
class StoreUsage:
    """Disk usage of a store in bytes, and its number of states."""

    contents: int
    manifests: int
    states: int


class ProjectStore:
    """`store/<project>`: `blobs/`, `packs/`, `manifests/`, `known` (the stat cache) and `reverts/`."""

    def __init__(
        self,
        data_dir: Path,
        work_dir: Path,
        session: str,
        *,
        fs: FileSystem = LOCAL_FILE_SYSTEM,
        lock: Lock = flock,
        piece: int = PIECE,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.folder = data_dir / "store" / work_dir_key(work_dir)
        self.work_dir = work_dir
        self.session = session
        self.blobs = BlobStore(self.folder, fs=fs, piece=piece)
        self.manifests = ManifestLog(self.folder / "manifests", session, fs=fs, clock=clock)
        self.stat_cache_file = self.folder / "known"
        self.fs = fs
        self._flock = lock
        self._lock: int | None = None

    def open(self) -> None:
        """Open the store. Nothing is pruned until `close`. Raises OSError."""
        make_private_dir(self.folder)
        self._lock = self._open_lock()
        with contextlib.suppress(OSError):  # without locks, nothing is ever pruned
            self._flock(self._lock, shared=True, waits=True)
        self.blobs.open()

    def close(self) -> None:
        """Close the store. No effect if it is already closed."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def usage(self) -> StoreUsage:
        """Return the disk usage of the store."""
        return StoreUsage(
            contents=_size_of(self.folder / "blobs") + _size_of(self.folder / "packs"),
            manifests=_size_of(self.folder / "manifests"),
            states=sum(1 for _ in self.manifests.outlines()),
        )

    def prune(self, limits: SnapshotLimits, *, now: float | None = None) -> int:
        """Delete states that exceed the age limit, then the oldest ones while the store is too large.

        Records for sessions that weren't resumed within the age limit are deleted too. Ages are relative to
        `now`, in seconds since the epoch; None is the current time. Returns the number of bytes freed. Raises
        SessionError if a session uses the store, OSError.
        """
        with self._exclusive_lock():
            before = _size_of(self.folder)
            oldest_kept = (time.time() if now is None else now) - limits.age_days * 86400
            self._collect(oldest_kept)
            self._remove_session_records(oldest_kept)
            for oldest in sorted(self._last_times().values())[:-1]:
                if _size_of(self.folder) <= limits.total:
                    break
                self._collect(oldest)
            return before - _size_of(self.folder)

    def collect_when_due(self, limits: SnapshotLimits, *, clock: Callable[[], float] = time.time) -> None:
        """Prune once a day, unless a session uses the store. Errors are logged. Call it before `open`.

        Ages are relative to the newest state if the clock is ahead of it, so a wrong clock deletes nothing.
        """
        stamp, now = self.folder / "collected", clock()
        try:
            if not self.folder.is_dir() or 0 <= now - _mtime_of(stamp) < _COLLECT_EVERY_S:
                return
            stamp.touch(mode=0o600)
            self.prune(limits, now=min(now, max(self._last_times().values(), default=now)))
        except (OSError, SessionError):
            logger.info("can't prune old snapshots", exc_info=True)

    def _last_times(self) -> dict[str, float]:
        times: dict[str, float] = {}
        for record in self.manifests.outlines():
            name = segment_of(record.id)
            times[name] = max(times.get(name, 0.0), record.time)
        return times

    def _collect(self, until: float) -> None:
        """Delete segments without records after `until`, unless later segments are based on them."""
        times = self._last_times()
        builds_on: dict[str, set[str]] = {}
        for record in self.manifests.outlines():
            if not record.is_whole and record.parent is not None:
                builds_on.setdefault(segment_of(record.id), set()).add(segment_of(record.parent))
        kept: set[str] = set()
        todo = [name for name, last in times.items() if last > until]
        while todo:
            if (name := todo.pop()) not in kept:
                kept.add(name)
                todo += builds_on.get(name, ())
        self.manifests.drop(times.keys() - kept)
        self.blobs.keep_only(chain(self.manifests.contents(), self._contents_of_interrupted_reverts()))

    def _contents_of_interrupted_reverts(self) -> set[str]:
        """Return the contents that reverts of killed processes still have to write."""
        refs: set[str] = set()
        for journal in (self.folder / "reverts").glob("*.json"):
            with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
                steps = json.loads(journal.read_bytes())["steps"]
                entries = (Entry(*fields) for _, *states in steps for fields in states if fields is not None)
                refs |= {entry.ref for entry in entries if entry.kind == "file"}
        return refs

    def _remove_session_records(self, until: float) -> None:
        """Delete results of reverts and records of open calls that were written before `until`."""
        for pattern in ("reverts/*.outcome", "calls/*.json"):
            for file in self.folder.glob(pattern):
                if _mtime_of(file) < until:
                    file.unlink(missing_ok=True)

    @contextmanager
    def _exclusive_lock(self) -> Iterator[None]:
        make_private_dir(self.folder)
        lock = self._open_lock()
        try:
            self._acquire_exclusive(lock)
            yield
        finally:
            os.close(lock)

    def _acquire_exclusive(self, lock: int) -> None:
        try:
            self._flock(lock)
        except BlockingIOError:
            raise SessionError(
                msg("A session is running in {work_dir}.", work_dir=self.work_dir),
                hint="Quit it, then try again.",
            ) from None
        except OSError as error:
            raise SessionError(
                "This file system doesn't support locks. Can't check whether a session uses the snapshots.",
                hint=msg(
                    "If no session runs, delete {path}, or set KIMI_SHARE_DIR to another disk.",
                    path=self.folder,
                ),
            ) from error

    def _open_lock(self) -> int:
        return os.open(self.folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)


def _mtime_of(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except FileNotFoundError:
        return 0.0


def _size_of(path: Path) -> int:
    total = 0
    for file in path.rglob("*"):
        with contextlib.suppress(OSError):
            if file.is_file():
                total += file.stat().st_size
    return total
