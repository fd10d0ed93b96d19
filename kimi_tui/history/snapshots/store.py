"""A project's store: its folder under the share dir, and that nothing is collected while it is used."""

import contextlib
import logging
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from kimi_tui.base.errors import SessionError
from kimi_tui.base.paths import make_private_dir, work_dir_key
from kimi_tui.history.disk import LOCAL_DISK, Disk
from kimi_tui.history.locks import Lock, flock
from kimi_tui.history.snapshots.blobs import PIECE, BlobStore
from kimi_tui.history.snapshots.caps import Caps
from kimi_tui.history.snapshots.manifest import ManifestLog, segment_of

logger = logging.getLogger(__name__)

_COLLECT_EVERY_S = 86400.0


@dataclass(frozen=True, slots=True)
class Usage:
    """What a store takes on disk, in bytes and files."""

    contents: int
    manifests: int
    states: int


class ProjectStore:
    """`store/<project>`: `blobs/`, `packs/`, `manifests/`, `known` and `reverts/`."""

    def __init__(
        self,
        share_dir: Path,
        work_dir: Path,
        session: str,
        *,
        disk: Disk = LOCAL_DISK,
        lock: Lock = flock,
        piece: int = PIECE,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.folder = share_dir / "store" / work_dir_key(work_dir)
        self.work_dir = work_dir
        self.session = session
        self.blobs = BlobStore(self.folder, disk=disk, piece=piece)
        self.manifests = ManifestLog(self.folder / "manifests", session, disk=disk, clock=clock)
        self.known_file = self.folder / "known"
        self.disk = disk
        self._flock = lock
        self._lock: int | None = None

    def open(self) -> None:
        """Use the store: nothing is collected until `close`. Raises OSError."""
        make_private_dir(self.folder)
        self._lock = self._opened_lock()
        with contextlib.suppress(OSError):  # where there are no locks nothing is collected at all
            self._flock(self._lock, shared=True, waits=True)
        self.blobs.open()

    def close(self) -> None:
        """Let go of the store. To close twice changes nothing."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def usage(self) -> Usage:
        """What the store takes."""
        return Usage(
            contents=_size(self.folder / "blobs") + _size(self.folder / "packs"),
            manifests=_size(self.folder / "manifests"),
            states=sum(1 for _ in self.manifests.all()),
        )

    def prune(self, caps: Caps, *, now: float | None = None) -> int:
        """Collect states that are older than the caps allow, then the oldest while the store is too large.

        `now` is the time that they are held against; None asks the clock. Returns how many bytes that freed.
        Raises SessionError when a session uses the store, OSError.
        """
        with self._alone():
            before = _size(self.folder)
            self._collect((time.time() if now is None else now) - caps.age_days * 86400)
            for oldest in sorted(self._last_times().values())[:-1]:
                if _size(self.folder) <= caps.total:
                    break
                self._collect(oldest)
            return before - _size(self.folder)

    def collect_when_due(self, caps: Caps, *, clock: Callable[[], float] = time.time) -> None:
        """`prune` once a day, unless a session uses the store; what goes wrong is logged. Before `open`.

        States are as old as the newest of them was then: a clock that has jumped ahead costs none.
        """
        stamp, now = self.folder / "collected", clock()
        try:
            if not self.folder.is_dir() or 0 <= now - _modified(stamp) < _COLLECT_EVERY_S:
                return
            stamp.touch(mode=0o600)
            self.prune(caps, now=min(now, max(self._last_times().values(), default=now)))
        except (OSError, SessionError):
            logger.info("old file states could not be collected", exc_info=True)

    def _last_times(self) -> dict[str, float]:
        times: dict[str, float] = {}
        for record in self.manifests.all():
            name = segment_of(record.id)
            times[name] = max(times.get(name, 0.0), record.time)
        return times

    def _collect(self, until: float) -> None:
        """Forget the segments whose newest record is not after `until`, unless a later one builds on them."""
        times = self._last_times()
        builds_on: dict[str, set[str]] = {}
        for record in self.manifests.all():
            if record.whole is None and record.parent is not None:
                builds_on.setdefault(segment_of(record.id), set()).add(segment_of(record.parent))
        kept: set[str] = set()
        todo = [name for name, last in times.items() if last > until]
        while todo:
            if (name := todo.pop()) not in kept:
                kept.add(name)
                todo += builds_on.get(name, ())
        self.manifests.drop(times.keys() - kept)
        self.blobs.keep_only({
            entry.ref
            for record in self.manifests.all()
            for entries in (record.changes, record.whole or {})
            for entry in entries.values()
            if entry is not None and entry.kind == "file"
        })  # fmt: skip

    @contextmanager
    def _alone(self) -> Iterator[None]:
        make_private_dir(self.folder)
        lock = self._opened_lock()
        try:
            self._be_alone(lock)
            yield
        finally:
            os.close(lock)

    def _be_alone(self, lock: int) -> None:
        try:
            self._flock(lock)
        except BlockingIOError:
            raise SessionError(
                f"A session works in {self.work_dir} now.", hint="End it, then collect again."
            ) from None
        except OSError as error:
            raise SessionError(
                "This file system has no locks, so it can't be told whether a session uses the file states.",
                hint=f"While none does, delete {self.folder}; or set KIMI_SHARE_DIR to another disk.",
            ) from error

    def _opened_lock(self) -> int:
        return os.open(self.folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)


def _modified(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except FileNotFoundError:
        return 0.0


def _size(path: Path) -> int:
    total = 0
    for file in path.rglob("*"):
        with contextlib.suppress(OSError):
            if file.is_file():
                total += file.stat().st_size
    return total
