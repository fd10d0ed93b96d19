"""Large files, which are read and kept in pieces, in a session's file history."""

import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

import pytest

from kimi_tui.history.snapshots.blobs import BlobStore
from kimi_tui.history.snapshots.caps import DEFAULT_CAPS, Caps
from kimi_tui.history.snapshots.content import Kept, keep_content
from kimi_tui.history.snapshots.entry import Entries, Entry
from kimi_tui.history.snapshots.known import Known, key_of
from kimi_tui.history.snapshots.look import look_at_scan
from kimi_tui.history.snapshots.patch import patch_between
from kimi_tui.history.snapshots.patience import Patience, Stopped
from kimi_tui.history.snapshots.scan import Scanner
from tests.history.snapshots.place import Place

BITE = 64
LARGE = 10 * BITE + 7


def opened(folder: Path, caps: Caps = DEFAULT_CAPS) -> Place:
    place = Place(folder, caps=caps, piece=BITE)
    place.history.open()
    return place


def noise(size: int, seed: int = 0) -> bytes:
    return random.Random(seed).randbytes(size)


def test_a_large_file_comes_back_byte_by_byte(tmp_path: Path) -> None:
    place = opened(tmp_path)
    database = place.work / "database"
    database.write_bytes(noise(LARGE))
    database.chmod(0o640)
    start = place.checkpoint()
    with place.agent("vacuum"), database.open("r+b") as file:
        file.seek(3 * BITE + 5)
        file.write(b"!")
        file.truncate(7 * BITE)
    head = place.checkpoint()
    assert place.revert(start) == {"database": "restore"}
    assert database.read_bytes() == noise(LARGE)
    assert database.stat().st_mode & 0o777 == 0o640
    place.revert(head)
    assert (
        database.read_bytes() == noise(LARGE)[: 3 * BITE + 5] + b"!" + noise(LARGE)[3 * BITE + 6 : 7 * BITE]
    )


def test_a_large_file_whose_content_is_damaged_is_left_as_it_is(tmp_path: Path) -> None:
    place = opened(tmp_path)
    database = place.work / "database"
    database.write_bytes(noise(LARGE))
    start = place.checkpoint()
    (pack,) = (place.store.folder / "packs").iterdir()
    with place.agent():
        database.write_bytes(b"the agent's")
    data = bytearray(pack.read_bytes())
    data[9 * BITE] ^= 1  # so that most of it can be written before that is found
    pack.write_bytes(data)
    plan = place.history.plan(start)
    outcome, _ = place.history.execute(plan, {"database"})
    assert outcome.failed == (("database", "its content is not kept any more"),)
    assert place.files() == {"database": "the agent's"}


def test_texts_that_are_too_large_to_merge_are_asked_about(place: Place) -> None:
    log = place.work / "log"
    log.write_bytes(b"line\n" * 1_000_000)
    start = place.checkpoint()
    with place.agent(), log.open("ab") as file:
        file.write(b"agent\n")
    with log.open("r+b") as file:
        file.write(b"user\n")
    (item,) = place.history.plan(start).items
    assert (item.action, item.note) == ("conflict", "you and the agent changed the same file")
    assert place.history.texts(item) is None


class Growing:
    """Somebody who writes on while a file is read."""

    def __init__(self, path: Path, more: int) -> None:
        self._path = path
        self._more = noise(more)

    def __call__(self) -> None:
        with self._path.open("ab") as file:
            file.write(self._more)


def kept(path: Path, store: BlobStore, *, limit: int, check: Callable[[], object] = lambda: None) -> Kept:
    """What becomes of a file that was last changed long ago."""
    seen = (1, 1, *key_of(path.stat())[2:])
    return keep_content(str(path), limit, seen, store, check=check)


def test_a_file_that_grows_while_it_is_read_is_looked_at_again(tmp_path: Path) -> None:
    store = BlobStore(tmp_path / "store", piece=16)
    path = tmp_path / "log"
    path.write_bytes(noise(2000))
    assert kept(path, store, limit=10_000).key != ()
    found = kept(path, store, limit=10_000, check=Growing(path, 10))
    assert found.key == ()
    assert found.entry.size > 2000
    assert store.read(found.entry.ref) == path.read_bytes()[: found.entry.size]


def test_a_file_that_grows_beyond_the_cap_while_it_is_read_is_left_out(tmp_path: Path) -> None:
    store = BlobStore(tmp_path / "store", piece=16)
    path = tmp_path / "log"
    path.write_bytes(noise(2000))
    found = kept(path, store, limit=2500, check=Growing(path, 1000))
    assert (found.entry.kind, found.entry.ref) == ("omitted", "it is too large")
    assert not [path for path in (tmp_path / "store").rglob("*") if path.is_file()]


def test_what_changes_its_length_before_it_is_read_is_taken_as_it_is_then(tmp_path: Path) -> None:
    store = BlobStore(tmp_path / "store", piece=16)
    path = tmp_path / "file"
    for before, after in [(10, 1000), (1000, 10), (10, 20), (1000, 0)]:
        path.write_bytes(noise(before))
        seen = key_of(path.stat())
        path.write_bytes(noise(after, seed=1))
        found = keep_content(str(path), 10_000, seen, store)
        assert (found.entry.size, found.key) == (after, ())
        assert store.read(found.entry.ref) == noise(after, seed=1)


class Hurried(Patience):
    """Half of its time is over from the beginning."""

    @property
    def is_half_over(self) -> bool:
        return True


class GivenUp(Patience):
    """Is stopped once a large file is being read."""

    def check(self, done: int, total: int | None = None) -> None:
        if done > 0:
            self.stop()
        super().check(done, total)


def look(
    place: Place, patience: Patience, caps: Caps = DEFAULT_CAPS, *, entries: Entries = MappingProxyType({})
) -> dict[str, Entry | None]:
    """What a look at a work dir finds of which only `entries` are known."""
    scan = Scanner(place.work, Known(), max_files=100, patience=Patience()).run()
    found = look_at_scan(
        place.work, scan, entries=entries, blobs=place.store.blobs, caps=caps, patience=patience
    )
    return found.changes


@pytest.fixture
def mixed(tmp_path: Path) -> Place:
    """Two large files and a small one, which is the last by name."""
    place = opened(tmp_path)
    (place.work / "a").write_bytes(noise(2 * LARGE, 1))
    (place.work / "b").write_bytes(noise(2 * LARGE, 2))
    (place.work / "c").write_bytes(b"small\n")
    return place


def test_large_files_are_left_out_when_the_time_is_half_over(mixed: Place) -> None:
    found = look(mixed, Hurried())
    assert {path: entry.kind for path, entry in found.items() if entry} == {
        "a": "omitted",
        "b": "omitted",
        "c": "file",
    }
    assert {entry.ref for entry in found.values() if entry and entry.kind == "omitted"} == {
        "there is too much at once"
    }


def test_a_large_file_that_is_covered_and_as_long_as_it_was_stays_so_when_the_time_is_half_over(
    mixed: Place,
) -> None:
    known = {path: entry for path, entry in look(mixed, Patience()).items() if entry is not None}
    assert look(mixed, Hurried(), entries=known) == {}
    (mixed.work / "a").write_bytes(noise(3 * LARGE))
    assert list(look(mixed, Hurried(), entries=known)) == ["a"]


def test_what_there_is_room_for_goes_to_the_small_files_first(mixed: Place) -> None:
    found = look(mixed, Patience(), replace(DEFAULT_CAPS, total=2 * LARGE + 10))
    kinds = {path: entry.kind for path, entry in found.items() if entry}
    assert kinds["c"] == "file"
    assert sorted(kinds.values()) == ["file", "file", "omitted"]


def test_a_file_that_is_larger_than_all_states_may_be_is_left_out_though_it_was_covered(mixed: Place) -> None:
    known = {path: entry for path, entry in look(mixed, Patience()).items() if entry is not None}
    found = look(mixed, Patience(), replace(DEFAULT_CAPS, total=LARGE), entries=known)
    assert {path: entry.ref for path, entry in found.items() if entry} == dict.fromkeys(
        ["a", "b"], "there is too much at once"
    )


def test_a_large_file_that_is_written_anew_at_every_step_costs_a_session_no_more_than_twice_its_share(
    tmp_path: Path,
) -> None:
    caps = Caps(total=20 * LARGE)
    place = opened(tmp_path, caps)
    film, note = place.work / "film", place.work / "note"
    steps = 0
    while not place.history.not_covered:
        steps += 1
        film.write_bytes(noise(LARGE, steps))
        note.write_text(f"{steps}\n")
        last = place.checkpoint()
    assert place.history.not_covered == {"film": "this session has kept too much already"}
    assert caps.total < place.store.usage().contents < 2 * caps.total + 3 * LARGE
    with place.agent():
        note.write_text("the agent's\n")
    place.revert(last)
    assert note.read_text() == f"{steps}\n"


def test_a_look_can_be_given_up_before_each_large_file(mixed: Place) -> None:
    with pytest.raises(Stopped):
        look(mixed, GivenUp())
    assert not list(mixed.store.folder.rglob("*.new"))


def test_a_file_that_is_too_large_for_a_patch_is_named(place: Place) -> None:
    before, after = Entry("file", 0o644, 17 << 20, "0" * 40), Entry("file", 0o644, 17 << 20, "1" * 40)
    patch = patch_between({"film": before}, {"film": after}, ["film"], place.store.blobs, patience=Patience())
    assert patch.left_out == (("film", "it is too large for a patch"),)
    assert patch.text == b""
