"""Large files in a file history: they are read and stored in pieces."""

import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

import pytest

from kimi_tui.history.snapshots.blob_store import BlobStore
from kimi_tui.history.snapshots.capturing.change_watcher import ChangeWatcher
from kimi_tui.history.snapshots.change_detection import detect_from_scan
from kimi_tui.history.snapshots.coverage_rules import CoverageRules
from kimi_tui.history.snapshots.deadline import ScanCanceled, ScanDeadline
from kimi_tui.history.snapshots.entry import Entries, Entry
from kimi_tui.history.snapshots.file_content import StoredContent, store_content
from kimi_tui.history.snapshots.limits import DEFAULT_LIMITS, SnapshotLimits
from kimi_tui.history.snapshots.patch import build_patch
from kimi_tui.history.snapshots.scanner import Scanner
from kimi_tui.history.snapshots.stat_cache import StatCache, key_of
from tests.history.snapshots.file_history_fixture import FileHistoryFixture

PIECE_SIZE = 64
LARGE = 10 * PIECE_SIZE + 7


def open_history(folder: Path, limits: SnapshotLimits = DEFAULT_LIMITS) -> FileHistoryFixture:
    project = FileHistoryFixture(folder, limits=limits, piece=PIECE_SIZE)
    project.history.open()
    return project


def random_bytes(size: int, seed: int = 0) -> bytes:
    return random.Random(seed).randbytes(size)


def test_a_large_file_is_restored_byte_by_byte(tmp_path: Path) -> None:
    project = open_history(tmp_path)
    database = project.work / "database"
    database.write_bytes(random_bytes(LARGE))
    database.chmod(0o640)
    start = project.checkpoint()
    with project.agent("vacuum"), database.open("r+b") as file:
        file.seek(3 * PIECE_SIZE + 5)
        file.write(b"!")
        file.truncate(7 * PIECE_SIZE)
    head = project.checkpoint()
    assert project.revert(start) == {"database": "restore"}
    assert database.read_bytes() == random_bytes(LARGE)
    assert database.stat().st_mode & 0o777 == 0o640
    project.revert(head)
    assert (
        database.read_bytes()
        == random_bytes(LARGE)[: 3 * PIECE_SIZE + 5]
        + b"!"
        + random_bytes(LARGE)[3 * PIECE_SIZE + 6 : 7 * PIECE_SIZE]
    )


def test_a_large_file_whose_stored_content_is_damaged_is_not_touched(tmp_path: Path) -> None:
    project = open_history(tmp_path)
    database = project.work / "database"
    database.write_bytes(random_bytes(LARGE))
    start = project.checkpoint()
    (pack,) = (project.store.folder / "packs").iterdir()
    with project.agent():
        database.write_bytes(b"the agent's")
    data = bytearray(pack.read_bytes())
    data[9 * PIECE_SIZE] ^= 1  # so that most of it is written before the damage is found
    pack.write_bytes(data)
    plan = project.history.plan(start)
    outcome, _ = project.history.execute(plan, {"database"})
    assert outcome.failed == (("database", "its content is no longer stored"),)
    assert project.files() == {"database": "the agent's"}


def test_texts_that_are_too_large_to_merge_are_conflicts(project: FileHistoryFixture) -> None:
    log = project.work / "log"
    log.write_bytes(b"line\n" * 1_000_000)
    start = project.checkpoint()
    with project.agent(), log.open("ab") as file:
        file.write(b"agent\n")
    with log.open("r+b") as file:
        file.write(b"user\n")
    (item,) = project.history.plan(start).items
    assert (item.action, item.note) == ("conflict", "you and the agent changed the same file")
    assert project.history.contents(item.now, item.then) is None


class GrowingFile:
    """Appends to a file each time it is called, as another process may do while the file is read."""

    def __init__(self, path: Path, more: int) -> None:
        self._path = path
        self._more = random_bytes(more)

    def __call__(self) -> None:
        with self._path.open("ab") as file:
            file.write(self._more)


def store_file(
    path: Path, store: BlobStore, *, limit: int, check: Callable[[], object] = lambda: None
) -> StoredContent:
    """Store a file with a stat key that says it was last changed long ago."""
    stat_key = (1, 1, *key_of(path.stat())[2:])
    return store_content(str(path), limit, stat_key, store, check=check)


def test_a_file_that_grows_while_it_is_read_is_read_again_next_time(tmp_path: Path) -> None:
    store = BlobStore(tmp_path / "store", piece=16)
    path = tmp_path / "log"
    path.write_bytes(random_bytes(2000))
    assert store_file(path, store, limit=10_000).key != ()
    result = store_file(path, store, limit=10_000, check=GrowingFile(path, 10))
    assert result.key == ()
    assert result.entry.size > 2000
    assert store.read(result.entry.ref) == path.read_bytes()[: result.entry.size]


def test_a_file_that_grows_beyond_the_limit_while_it_is_read_is_omitted(tmp_path: Path) -> None:
    store = BlobStore(tmp_path / "store", piece=16)
    path = tmp_path / "log"
    path.write_bytes(random_bytes(2000))
    result = store_file(path, store, limit=2500, check=GrowingFile(path, 1000))
    assert (result.entry.kind, result.entry.ref) == ("omitted", "too large")
    assert not [path for path in (tmp_path / "store").rglob("*") if path.is_file()]


def test_a_file_resized_before_it_is_read_is_stored_with_its_new_content(tmp_path: Path) -> None:
    store = BlobStore(tmp_path / "store", piece=16)
    path = tmp_path / "file"
    for before, after in [(10, 1000), (1000, 10), (10, 20), (1000, 0)]:
        path.write_bytes(random_bytes(before))
        stat_key = key_of(path.stat())
        path.write_bytes(random_bytes(after, seed=1))
        result = store_content(str(path), 10_000, stat_key, store)
        assert (result.entry.size, result.key) == (after, ())
        assert store.read(result.entry.ref) == random_bytes(after, seed=1)


class HalfExpiredDeadline(ScanDeadline):
    """A deadline of which half has passed from the start."""

    @property
    def is_half_over(self) -> bool:
        return True


class CanceledDeadline(ScanDeadline):
    """A deadline that is canceled while a large file is read."""

    def check(self, done: int, total: int | None = None) -> None:
        if done > 0:
            self.cancel()
        super().check(done, total)


def detect_all(
    project: FileHistoryFixture,
    deadline: ScanDeadline,
    limits: SnapshotLimits = DEFAULT_LIMITS,
    *,
    entries: Entries = MappingProxyType({}),
) -> dict[str, Entry | None]:
    """Return the changes found by a full scan of a working directory in which only `entries` are known."""
    scan = Scanner(
        project.work,
        StatCache(),
        max_files=100,
        rules=CoverageRules(project.work),
        deadline=ScanDeadline(),
        watcher=ChangeWatcher(()),
    ).run()
    result = detect_from_scan(
        project.work, scan, entries=entries, blobs=project.store.blobs, limits=limits, deadline=deadline
    )
    return result.changes


@pytest.fixture
def mixed(tmp_path: Path) -> FileHistoryFixture:
    """A working directory with two large files and a small one, which is the last by name."""
    project = open_history(tmp_path)
    (project.work / "a").write_bytes(random_bytes(2 * LARGE, 1))
    (project.work / "b").write_bytes(random_bytes(2 * LARGE, 2))
    (project.work / "c").write_bytes(b"small\n")
    return project


def test_large_files_are_omitted_when_half_of_the_time_has_passed(mixed: FileHistoryFixture) -> None:
    changes = detect_all(mixed, HalfExpiredDeadline())
    assert {path: entry.kind for path, entry in changes.items() if entry} == {
        "a": "omitted",
        "b": "omitted",
        "c": "file",
    }
    assert {entry.ref for entry in changes.values() if entry and entry.kind == "omitted"} == {
        "too much new data at once"
    }


def test_a_covered_large_file_of_the_same_size_stays_covered_when_half_of_the_time_has_passed(
    mixed: FileHistoryFixture,
) -> None:
    known = {path: entry for path, entry in detect_all(mixed, ScanDeadline()).items() if entry is not None}
    assert detect_all(mixed, HalfExpiredDeadline(), entries=known) == {}
    (mixed.work / "a").write_bytes(random_bytes(3 * LARGE))
    assert list(detect_all(mixed, HalfExpiredDeadline(), entries=known)) == ["a"]


def test_small_files_get_the_available_space_first(mixed: FileHistoryFixture) -> None:
    changes = detect_all(mixed, ScanDeadline(), replace(DEFAULT_LIMITS, total=2 * LARGE + 10))
    kinds = {path: entry.kind for path, entry in changes.items() if entry}
    assert kinds["c"] == "file"
    assert sorted(kinds.values()) == ["file", "file", "omitted"]


def test_a_file_larger_than_the_total_limit_is_omitted_even_if_it_was_covered(
    mixed: FileHistoryFixture,
) -> None:
    known = {path: entry for path, entry in detect_all(mixed, ScanDeadline()).items() if entry is not None}
    changes = detect_all(mixed, ScanDeadline(), replace(DEFAULT_LIMITS, total=LARGE), entries=known)
    assert {path: entry.ref for path, entry in changes.items() if entry} == dict.fromkeys(
        ["a", "b"], "too much new data at once"
    )


def test_a_large_file_rewritten_at_every_step_uses_at_most_twice_the_total_limit(
    tmp_path: Path,
) -> None:
    limits = SnapshotLimits(total=20 * LARGE)
    project = open_history(tmp_path, limits)
    film, note = project.work / "film", project.work / "note"
    steps = 0
    while not project.history.not_covered:
        steps += 1
        film.write_bytes(random_bytes(LARGE, steps))
        note.write_text(f"{steps}\n")
        last = project.checkpoint()
    assert project.history.not_covered == {"film": "this session has already stored too much"}
    assert limits.total < project.store.usage().contents < 2 * limits.total + 3 * LARGE
    with project.agent():
        note.write_text("the agent's\n")
    project.revert(last)
    assert note.read_text() == f"{steps}\n"


def test_a_scan_can_be_canceled_before_each_large_file(mixed: FileHistoryFixture) -> None:
    with pytest.raises(ScanCanceled):
        detect_all(mixed, CanceledDeadline())
    assert not list(mixed.store.folder.rglob("*.new"))


def test_a_file_that_is_too_large_for_a_patch_is_reported(project: FileHistoryFixture) -> None:
    before, after = Entry("file", 0o644, 17 << 20, "0" * 40), Entry("file", 0o644, 17 << 20, "1" * 40)
    patch = build_patch(
        {"film": before}, {"film": after}, ["film"], project.store.blobs, deadline=ScanDeadline()
    )
    assert patch.omitted == (("film", "too large for a patch"),)
    assert patch.text == b""


def test_a_recreated_sparse_file_is_sparse_again(tmp_path: Path) -> None:
    project = FileHistoryFixture(tmp_path)
    project.history.open()
    file = project.work / "sparse"
    with file.open("wb") as stream:
        stream.write(b"start")
        stream.truncate(8 << 20)
    blocks = file.stat().st_blocks
    if blocks * 512 >= 8 << 20:
        pytest.skip("the file system has no sparse files")
    content = file.read_bytes()
    start = project.checkpoint()
    with project.agent():
        file.unlink()
    project.revert(start)
    assert file.read_bytes() == content
    assert file.stat().st_blocks * 512 < 1 << 20
