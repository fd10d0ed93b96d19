"""Contents are read back unchanged, whatever their size, or rejected."""

import random
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kimi_tui.history.filesystem import LOCAL_FILE_SYSTEM, LocalFileSystem
from kimi_tui.history.snapshots.blob_store import PIECE, BlobMissing, BlobStore, digest_of, piece_name
from kimi_tui.history.snapshots.pack import new_pack
from tests.history.file_systems import CountingFileSystem

PIECE_SIZE = 16
BOUNDARY_SIZES = sorted(
    {
        max(0, border + more)
        for border in (0, PIECE_SIZE, 4 * PIECE_SIZE, 5 * PIECE_SIZE, 40 * PIECE_SIZE)
        for more in (-1, 0, 1)
    }
)
"""Sizes around the boundaries of pieces, and around the limit for splitting."""


class UnsyncedFileSystem(LocalFileSystem):
    """Skips fsync to save time."""

    def fsync(self, file: int) -> None:
        pass


class Killed(BaseException):
    """Stands in for the end of the process."""


class KillingFileSystem(CountingFileSystem):
    """Dies at its `at`-th call and at all later ones. If it is a write, half of the data is written."""

    def __init__(self, at: int) -> None:
        self._at = at
        self.calls = 0

    def write(self, file: int, data: memoryview) -> int:
        if self._at == self.calls + 1:
            LocalFileSystem.write(self, file, data[: len(data) // 2])
        return super().write(file, data)

    def fsync(self, file: int) -> None:
        self.count()

    def close(self, file: int) -> None:
        LocalFileSystem.close(self, file)

    def count(self) -> None:
        self.calls += 1
        if self.calls >= self._at:
            raise Killed


def store_in(folder: Path, *, piece: int = PIECE_SIZE, fs: LocalFileSystem | None = None) -> BlobStore:
    store = BlobStore(folder, fs=fs or UnsyncedFileSystem(), piece=piece)
    store.open()
    return store


def split_pieces(content: bytes, size: int = PIECE_SIZE) -> Iterator[bytes]:
    return (content[start : start + size] for start in range(0, len(content), size))


def bytes_in(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def random_bytes(size: int, seed: int = 0) -> bytes:
    return random.Random(seed).randbytes(size)


@st.composite
def versions(draw: st.DrawFn) -> list[bytes]:
    """Draw versions of a file, each created from the previous one by an edit."""
    content = random_bytes(draw(st.sampled_from(BOUNDARY_SIZES)), draw(st.integers(0, 3)))
    contents = [content]
    for _ in range(draw(st.integers(0, 4))):
        at = draw(st.integers(0, len(content)))
        some = draw(
            st.sampled_from([b"", b"x", bytes(PIECE_SIZE), random_bytes(3 * PIECE_SIZE), b"line\n" * 20])
        )
        match draw(st.sampled_from(["append", "insert", "overwrite", "truncate"])):
            case "append":
                content += some
            case "insert":
                content = content[:at] + some + content[at:]
            case "overwrite":
                content = content[:at] + some + content[at + len(some) :]
            case _:
                content = content[:at]
        contents.append(content)
    return contents


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    versions=versions(),
    ways=st.lists(st.sampled_from(["put", "pieces", "bulk", "haste"]), min_size=5),
    data=st.data(),
)
def test_every_version_of_a_file_is_read_back_until_it_is_deleted(
    tmp_path_factory: pytest.TempPathFactory, versions: list[bytes], ways: list[str], data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("store")
    store = store_in(folder)
    for content, way in zip(versions, ways, strict=False):
        match way:
            case "put":
                digest = store.put(content)
            case "pieces":
                digest, size = store.put_pieces(split_pieces(content))
                assert size == len(content)
            case _:
                with store.bulk_writer(uncompressed=way == "haste") as sink:
                    digest, _ = sink.put_pieces(split_pieces(content))
        assert digest == digest_of(content)
    dropped = data.draw(st.sets(st.sampled_from(versions)))
    kept = {digest_of(content): content for content in versions if content not in dropped}
    for reopened in (store, store_in(folder)):
        assert {digest_of(content): reopened.read(digest_of(content)) for content in versions} == {
            digest_of(content): content for content in versions
        }
    store.keep_only(kept)
    for reopened in (store, store_in(folder)):
        assert {digest: reopened.read(digest) for digest in kept} == kept
        assert not any(reopened.has(digest_of(content)) for content in dropped)


def test_a_large_content_is_read_in_chunks(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    content = random_bytes(10 * PIECE_SIZE + 3)
    chunks = list(store.iter_chunks(store.put(content)))
    assert b"".join(chunks) == content
    assert max(map(len, chunks)) == PIECE_SIZE


@pytest.mark.parametrize("way", ["compressed", "in haste", "loose"])
def test_a_damaged_content_is_rejected_wherever_the_damage_is(way: str, tmp_path: Path) -> None:
    content = random_bytes(6 * PIECE_SIZE) + b"text " * 30 if way != "loose" else random_bytes(3 * PIECE_SIZE)
    store = store_in(tmp_path)
    if way == "loose":
        digest = store.put(content)
    else:
        with store.bulk_writer(uncompressed=way == "in haste") as sink:
            digest, _ = sink.put_pieces(split_pieces(content))
    (file,) = (path for path in tmp_path.rglob("*") if path.is_file())
    whole = file.read_bytes()
    n_rejected = 0
    for at in range(0, len(whole), 3):
        file.write_bytes(whole[:at] + bytes([whole[at] ^ 0x41]) + whole[at + 1 :])
        n_rejected += is_rejected(store_in(tmp_path), digest, content)
        if at % 24 == 0:
            file.write_bytes(whole[:at])
            assert is_rejected(store_in(tmp_path), digest, content)
    assert n_rejected >= 0.8 * len(whole) / 3


def is_rejected(store: BlobStore, digest: str, content: bytes) -> bool:
    """Return whether a content is rejected. Otherwise, assert that it is correct."""
    try:
        assert b"".join(store.iter_chunks(digest)) == content
    except BlobMissing:
        return True
    return False


def test_a_list_with_the_pieces_of_another_content_is_rejected(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    one, other = random_bytes(8 * PIECE_SIZE, 1), random_bytes(8 * PIECE_SIZE, 2)
    store.put(other)
    with new_pack(tmp_path / "packs", LOCAL_FILE_SYSTEM) as writer:
        writer.add_list(digest_of(one), [piece_name(piece) for piece in split_pieces(other)])
    with pytest.raises(BlobMissing):
        b"".join(store_in(tmp_path).iter_chunks(digest_of(one)))


def test_a_changed_or_grown_file_needs_one_or_two_new_pieces(tmp_path: Path) -> None:
    store = store_in(tmp_path, piece=1024)
    content = random_bytes(200 * 1024)
    store.put(content)
    for changed in (content[:70_000] + b"!" + content[70_001:], content + random_bytes(500)):
        before = bytes_in(tmp_path)
        store.put(changed)
        assert (
            bytes_in(tmp_path) - before < 2 * 1024 + 20 * 201 + 1024
        )  # two pieces, the list, what holds them


def test_a_stored_content_is_not_stored_again(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    content = random_bytes(20 * PIECE_SIZE)
    store.put(content)
    before = bytes_in(tmp_path)
    assert store.put_pieces(split_pieces(content))[0] == digest_of(content)
    assert bytes_in(tmp_path) == before


def test_an_incompressible_content_is_stored_uncompressed(tmp_path: Path) -> None:
    film, text = (
        random_bytes(6 * PIECE),
        b"a line of a log that says much the same again and again\n" * (6 * PIECE // 56),
    )
    store = store_in(tmp_path, piece=PIECE)
    store.put(film)
    (pack,) = (tmp_path / "packs").iterdir()
    assert film[:PIECE] in pack.read_bytes()
    before = bytes_in(tmp_path)
    store.put(text)
    assert bytes_in(tmp_path) - before < len(text) / 10
    assert [store.read(digest_of(content)) for content in (film, text)] == [film, text]


def test_a_large_content_stored_without_pieces_is_read_and_not_stored_twice(tmp_path: Path) -> None:
    (tmp_path / "packs").mkdir()
    content = random_bytes(50 * PIECE_SIZE)
    with new_pack(tmp_path / "packs", LOCAL_FILE_SYSTEM) as writer:
        writer.add(digest_of(content), content)
    store = store_in(tmp_path)
    assert store.read(digest_of(content)) == content
    before = bytes_in(tmp_path)
    store.put(content)
    assert bytes_in(tmp_path) == before
    store.keep_only({digest_of(content)})
    assert store_in(tmp_path).read(digest_of(content)) == content


def test_many_small_packs_are_merged(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    contents = [random_bytes(6 * PIECE_SIZE, seed) for seed in range(20)]
    digests = {store.put(content): content for content in contents}
    store.keep_only(digests)
    assert len(list((tmp_path / "packs").iterdir())) == 1
    assert {digest: store_in(tmp_path).read(digest) for digest in digests} == digests


def test_damaged_contents_are_dropped_and_the_rest_is_kept(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    with store.bulk_writer() as sink:
        lost, kept, gone = (sink.put_pieces(split_pieces(b"%d" % number * 200))[0] for number in range(3))
    (pack,) = (tmp_path / "packs").iterdir()
    data = bytearray(pack.read_bytes())
    data[2] ^= 0xFF  # amid the first frame
    pack.write_bytes(data)
    store = store_in(tmp_path)
    store.keep_only({lost, kept})
    assert store.read(kept) == b"1" * 200
    assert not store.has(gone)
    with pytest.raises(BlobMissing):
        store.read(lost)


def test_an_incomplete_content_leaves_nothing(tmp_path: Path) -> None:
    def incomplete_pieces() -> Iterator[bytes]:
        yield random_bytes(PIECE_SIZE)
        raise ZeroDivisionError

    store = store_in(tmp_path)
    with pytest.raises(ZeroDivisionError):
        store.put_pieces(incomplete_pieces())
    assert bytes_in(tmp_path) == 0


def test_a_large_content_is_never_completely_in_memory(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.write_bytes(random_bytes(PIECE) * 50 + random_bytes(4 * PIECE) + b"end\n" * PIECE)
    size = source.stat().st_size
    store = store_in(tmp_path, piece=PIECE)
    tracemalloc.start()
    try:
        with source.open("rb") as file:
            digest, kept = store.put_pieces(iter(lambda: file.read(PIECE), b""))
        assert kept == size
        assert sum(map(len, store.iter_chunks(digest))) == size
        assert tracemalloc.get_traced_memory()[1] < size / 2
    finally:
        tracemalloc.stop()


def test_a_store_killed_at_any_call_has_all_contents_whose_digests_it_returned(tmp_path: Path) -> None:
    old, new = (
        random_bytes(9 * PIECE_SIZE, 1),
        random_bytes(4 * PIECE_SIZE, 2) + random_bytes(9 * PIECE_SIZE, 1),
    )
    at, is_done = 0, False
    while not is_done:
        at += 1
        folder = tmp_path / str(at)
        store_in(folder).put(old)
        store = store_in(folder, fs=KillingFileSystem(at))
        returned = {digest_of(old): old}
        try:
            returned[store.put(new)] = new
            store.keep_only(set(returned))
            store.keep_only({digest_of(new)})
            returned = {digest_of(new): new}
            is_done = True
        except Killed:
            if digest_of(new) in returned:
                del returned[digest_of(old)]  # it may have been let go
        reopened = store_in(folder)
        assert {digest: reopened.read(digest) for digest in returned} == returned
        assert reopened.put(new) == digest_of(new)
        assert reopened.read(digest_of(new)) == new
        reopened.keep_only({digest_of(new)})
        assert reopened.read(digest_of(new)) == new
        assert not reopened.has(digest_of(old))
    assert at > 20
