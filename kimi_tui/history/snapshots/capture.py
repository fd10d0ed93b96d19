"""Capture: looking at the work dir and recording what became of it, and by whom."""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import MappingProxyType

from kimi_tui.base.collection import uncollected
from kimi_tui.history.snapshots.caps import DEFAULT_CAPS, Caps
from kimi_tui.history.snapshots.entry import Changes, Entries, Entry, apply, on_disk
from kimi_tui.history.snapshots.known import Key, Known, Put, load_known, save_known, written_key
from kimi_tui.history.snapshots.look import Look, apply_keys, look_at_paths, look_at_scan
from kimi_tui.history.snapshots.manifest import ManifestMissing
from kimi_tui.history.snapshots.owner import COVERAGE, YOU, Owner
from kimi_tui.history.snapshots.patience import Patience, TookTooLong
from kimi_tui.history.snapshots.scan import Scan, Scanner, TooManyFiles
from kimi_tui.history.snapshots.store import ProjectStore

_MANY = 5000
"""So many files are data that the garbage collector had better never look at."""


@dataclass(frozen=True, slots=True)
class Captured:
    """A state that was recorded."""

    manifest: str
    changes: Changes
    """Since the state before it; none when it is the first."""
    before: dict[str, Entry | None] = field(default_factory=dict)
    """What the changed paths were."""
    seen: Mapping[str, Key] = field(default_factory=dict)
    """Of the paths that were asked for, what tells whether they change after this; empty for nothing."""

    def is_folder(self, path: str) -> bool:
        """Whether a changed path was and is no file: a folder, or nothing."""
        states = self.changes.get(path), self.before.get(path)
        return all(entry is None or entry.kind == "folder" for entry in states)


class Capture:
    """The states of one work dir, as one session sees them.

    Its methods block, and are called one at a time. Every one may raise OSError; nothing is recorded then,
    and the next one finds the same changes again.
    """

    def __init__(self, store: ProjectStore, *, caps: Caps = DEFAULT_CAPS, added: Sequence[str] = ()) -> None:
        self._added = added
        """Folders that are covered besides the work dir: absolute, without links, none within another."""
        self._store = store
        self._root = store.work_dir
        self._caps = caps
        self._known = Known()
        self._entries: dict[str, Entry] = {}
        self._head: str | None = None
        self._strays: set[str] | None = None
        """Covered paths that a scan doesn't come by, since only a tool named them; None before a scan."""
        self._unreadable: dict[str, str] = {}
        self.named_only = _why_named_only(store.work_dir)
        """Why only the files that tools name are covered; empty when all are."""

    @property
    def head(self) -> str | None:
        """The newest state."""
        return self._head

    @property
    def entries(self) -> Entries:
        """What the newest state holds."""
        return self._entries

    @property
    def look_limit_s(self) -> float:
        """How long the next look at everything may take."""
        return self._caps.first_look_s if self._strays is None else self._caps.look_s

    @property
    def not_covered(self) -> dict[str, str]:
        """What is not covered, and why."""
        omitted = {path: entry.ref for path, entry in self._entries.items() if entry.kind == "omitted"}
        return omitted | {path or ".": f"the folder: {why}" for path, why in self._unreadable.items()}

    def holds_uncovered(self, folder: str) -> bool:
        """Whether something that is not covered, since it is ignored, lies right in a folder."""
        known = self._known.folders.get(folder)
        whole = on_disk(self._root, folder)
        return known is not None and any(os.path.lexists(f"{whole}/{name}") for name in known.skipped)

    def open(self, earlier: str | None = None) -> None:
        """Go on from where the session ended, else from its state `earlier`, else from the project's last."""
        with uncollected(stays=lambda: len(self._entries) > _MANY):
            self._go_on_from(earlier)

    def _go_on_from(self, earlier: str | None) -> None:
        manifests = self._store.manifests
        saved = load_known(self._store.known_file)
        candidates = [manifests.newest(self._store.session), earlier, saved[1] if saved else None]
        for manifest in candidates:
            if manifest is not None:
                try:
                    self._entries = manifests.entries(manifest)
                except ManifestMissing:
                    continue
                self._head = manifest
                break
        if saved is not None:
            self._known = saved[0]
            self._distrust_others(saved[1])

    def capture(
        self,
        owner: Owner = YOU,
        *,
        paths: Iterable[str] | None = None,
        put: Mapping[str, Put] = MappingProxyType({}),
        always: bool = False,
        patience: Patience | None = None,
    ) -> Captured:
        """Record how the work dir differs from the newest state, if it does or `always`.

        With `paths` only these are looked at, and the folders they lie in, unless there is no state yet; what
        was `put` at some of them and is still there isn't read again.
        Raises Stopped when `patience` is stopped; once a look takes too long, only named files are covered.
        """
        if paths is not None and (self._head is not None or self.named_only):
            paths = list(paths)
            look = look_at_paths(
                self._root,
                paths,
                entries=self._entries,
                blobs=self._store.blobs,
                caps=self._caps,
                recognized=partial(self._recognized, put),
            )
            if self._strays is not None:
                self._strays |= {path for path in (*paths, *look.changes) if self._key(path) is None}
            return self._record(owner, None, look, always=always)
        n_read = 0
        with uncollected(stays=lambda: n_read > _MANY):
            scan, look = self._look_at_all(patience or Patience())
            n_read = look.n_read
            return self._record(owner, scan, look, always=always)

    def save(self) -> None:
        """Let the next session know what is known."""
        if self._head is not None and self._strays is not None and not self.named_only:
            save_known(self._store.disk, self._store.known_file, self._known, self._head)

    def _look_at_all(self, patience: Patience) -> tuple[Scan | None, Look]:
        if not self.named_only:
            try:
                return self._look_at_scan(patience)
            except TooManyFiles:
                self.named_only = f"there are more than {self._caps.files:,} files in it"
            except TookTooLong as error:
                self.named_only = f"looking at all of its files takes longer than {error}"
                self._strays = self._strays or set()
        strays = self._strays if self._strays is not None else self._entries.keys()
        return None, self._look_at_strays(set(strays), Look())

    def _look_at_scan(self, patience: Patience) -> tuple[Scan, Look]:
        scanner = Scanner(
            self._root,
            self._known,
            max_files=self._caps.files,
            added=self._added,
            exclude=self._caps.exclude,
            own=self._caps.own,
            patience=patience,
        )
        scan = scanner.run()
        look = look_at_scan(
            self._root,
            scan,
            entries=self._entries,
            blobs=self._store.blobs,
            caps=self._caps,
            patience=patience,
        )
        self._unreadable = scan.unreadable
        return scan, look

    def _record(self, owner: Owner, scan: Scan | None, look: Look, *, always: bool) -> Captured:
        if scan is not None:
            scan.apply_to(self._known)
            apply_keys(self._known, look)
            strays = self._strays
            if strays is None:
                strays = {path for path in self._entries if self._key(path) is None} - set(scan.ended)
            strays = {path for path in strays if path not in look.changes and not self._is_blind_to(path)}
            self._strays = strays
            self._look_at_strays(strays, look)
        else:
            apply_keys(self._known, look)
            if self._strays is None and self.named_only:
                self._strays = {path for path, entry in look.changes.items() if entry is not None}
        try:
            return self._append(owner, look, always=always)
        except OSError:
            self._known, self._strays = Known(), None  # so that the next one finds the same changes again
            raise

    def _append(self, owner: Owner, look: Look, *, always: bool) -> Captured:
        if look.coverage:
            self._head = self._appended(COVERAGE, look.coverage)
        if self._head is None:
            self._head = self._appended(owner, look.changes)
            return Captured(self._head, {}, seen=look.seen)
        before = {path: self._entries.get(path) for path in look.changes}
        if look.changes or always:
            self._head = self._appended(owner, look.changes)
        return Captured(self._head, look.changes, before, look.seen)

    def _appended(self, owner: Owner, changes: Changes) -> str:
        entries = dict(self._entries)
        apply(changes, entries)
        head = self._store.manifests.append(self._head, owner, changes, entries)
        self._entries = entries
        return head

    def _look_at_strays(self, strays: set[str], look: Look) -> Look:
        if strays:
            found = look_at_paths(
                self._root, strays, entries=self._entries, blobs=self._store.blobs, caps=self._caps
            )
            look.changes |= {path: entry for path, entry in found.changes.items() if path in strays}
        return look

    def _key(self, path: str) -> Key | None:
        folder, _, name = path.rpartition("/")
        known = self._known.folders.get(folder)
        return known.keys.get(name) if known is not None else None

    def _recognized(self, put: Mapping[str, Put], path: str, key: Key) -> Entry | None:
        """What the file at a path is that has a key now, if that is known."""
        if (mine := put.get(path)) is not None and mine.key == written_key(key):
            return mine.entry
        return self._entries.get(path) if self._key(path) == key else None

    def _is_blind_to(self, path: str) -> bool:
        """Whether a path lies in a folder that could not be read: what was known of it stands."""
        return any(path == folder or path.startswith(f"{folder}/") for folder in self._unreadable)

    def _distrust_others(self, manifest: str) -> None:
        """Keep what is known only of what this state and the one it was known of have in common."""
        if manifest == self._head:
            return
        try:
            others = self._store.manifests.entries(manifest)
        except ManifestMissing:
            self._known = Known()
            return
        for path in {*others, *self._entries}:
            if others.get(path) != self._entries.get(path):
                self._known.forget(path)


def _why_named_only(work_dir: Path) -> str:
    real = os.path.realpath(work_dir)
    if real == os.path.realpath(Path.home()):
        return "it is the home folder"
    return "it is the whole file system" if real == os.sep else ""
