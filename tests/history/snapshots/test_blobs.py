"""Contents come back as they were, however large, or are refused."""

import random
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kimi_tui.history.disk import LOCAL_DISK, LocalDisk
from kimi_tui.history.snapshots.blobs import PIECE, BlobMissing, BlobStore, digest_of, piece_name
from kimi_tui.history.snapshots.pack import new_pack
from tests.history.disks import CountingDisk

BITE = 16
AROUND = sorted(
    {max(0, border + more) for border in (0, BITE, 4 * BITE, 5 * BITE, 40 * BITE) for more in (-1, 0, 1)}
)
"""Sizes next to where a piece ends, and where contents begin to be cut."""


class UnsyncedDisk(LocalDisk):
    """Doesn't wait for the medium."""

    def fsync(self, file: int) -> None:
        pass


class Killed(BaseException):
    """The process would be gone."""


class KillingDisk(CountingDisk):
    """Dies at its `at`-th call, and at all that follow; a write is cut in half."""

    def __init__(self, at: int) -> None:
        self._at = at
        self.calls = 0

    def write(self, file: int, data: memoryview) -> int:
        if self._at == self.calls + 1:
            LocalDisk.write(self, file, data[: len(data) // 2])
        return super().write(file, data)

    def fsync(self, file: int) -> None:
        self.count()

    def close(self, file: int) -> None:
        LocalDisk.close(self, file)

    def count(self) -> None:
        self.calls += 1
        if self.calls >= self._at:
            raise Killed


def store_in(folder: Path, *, piece: int = BITE, disk: LocalDisk | None = None) -> BlobStore:
    store = BlobStore(folder, disk=disk or UnsyncedDisk(), piece=piece)
    store.open()
    return store


def cut(content: bytes, size: int = BITE) -> Iterator[bytes]:
    return (content[start : start + size] for start in range(0, len(content), size))


def bytes_in(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def noise(size: int, seed: int = 0) -> bytes:
    return random.Random(seed).randbytes(size)


@st.composite
def versions(draw: st.DrawFn) -> list[bytes]:
    """A file at several moments: what an edit makes of it, from one to the next."""
    content = noise(draw(st.sampled_from(AROUND)), draw(st.integers(0, 3)))
    found = [content]
    for _ in range(draw(st.integers(0, 4))):
        at = draw(st.integers(0, len(content)))
        some = draw(st.sampled_from([b"", b"x", bytes(BITE), noise(3 * BITE), b"line\n" * 20]))
        match draw(st.sampled_from(["append", "insert", "overwrite", "truncate"])):
            case "append":
                content += some
            case "insert":
                content = content[:at] + some + content[at:]
            case "overwrite":
                content = content[:at] + some + content[at + len(some) :]
            case _:
                content = content[:at]
        found.append(content)
    return found


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    versions=versions(),
    ways=st.lists(st.sampled_from(["put", "pieces", "bulk", "haste"]), min_size=5),
    data=st.data(),
)
def test_every_version_of_a_file_comes_back_exactly_until_it_is_let_go(
    tmp_path_factory: pytest.TempPathFactory, versions: list[bytes], ways: list[str], data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("store")
    store = store_in(folder)
    for content, way in zip(versions, ways, strict=False):
        match way:
            case "put":
                digest = store.put(content)
            case "pieces":
                digest, size = store.put_pieces(cut(content))
                assert size == len(content)
            case _:
                with store.bulk(in_haste=way == "haste") as sink:
                    digest, _ = sink.put_pieces(cut(content))
        assert digest == digest_of(content)
    let_go = data.draw(st.sets(st.sampled_from(versions)))
    kept = {digest_of(content): content for content in versions if content not in let_go}
    for again in (store, store_in(folder)):
        assert {digest_of(content): again.read(digest_of(content)) for content in versions} == {
            digest_of(content): content for content in versions
        }
    store.keep_only(kept)
    for again in (store, store_in(folder)):
        assert {digest: again.read(digest) for digest in kept} == kept
        assert not any(again.has(digest_of(content)) for content in let_go)


def test_a_large_content_comes_in_bites(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    content = noise(10 * BITE + 3)
    bites = list(store.bites(store.put(content)))
    assert b"".join(bites) == content
    assert max(map(len, bites)) == BITE


@pytest.mark.parametrize("way", ["compressed", "in haste", "loose"])
def test_a_damaged_content_is_refused_wherever_the_damage_is(way: str, tmp_path: Path) -> None:
    content = noise(6 * BITE) + b"text " * 30 if way != "loose" else noise(3 * BITE)
    store = store_in(tmp_path)
    if way == "loose":
        digest = store.put(content)
    else:
        with store.bulk(in_haste=way == "in haste") as sink:
            digest, _ = sink.put_pieces(cut(content))
    (file,) = (path for path in tmp_path.rglob("*") if path.is_file())
    whole = file.read_bytes()
    refused = 0
    for at in range(0, len(whole), 3):
        file.write_bytes(whole[:at] + bytes([whole[at] ^ 0x41]) + whole[at + 1 :])
        refused += is_refused(store_in(tmp_path), digest, content)
        if at % 24 == 0:
            file.write_bytes(whole[:at])
            assert is_refused(store_in(tmp_path), digest, content)
    assert refused >= 0.8 * len(whole) / 3


def is_refused(store: BlobStore, digest: str, content: bytes) -> bool:
    """Whether a content is; else it is whole."""
    try:
        assert b"".join(store.bites(digest)) == content
    except BlobMissing:
        return True
    return False


def test_a_list_that_leads_to_the_pieces_of_another_content_is_refused(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    one, other = noise(8 * BITE, 1), noise(8 * BITE, 2)
    store.put(other)
    with new_pack(tmp_path / "packs", LOCAL_DISK) as writer:
        writer.add_list(digest_of(one), [piece_name(piece) for piece in cut(other)])
    with pytest.raises(BlobMissing):
        b"".join(store_in(tmp_path).bites(digest_of(one)))


def test_what_a_changed_or_grown_file_costs_is_a_piece_or_two(tmp_path: Path) -> None:
    store = store_in(tmp_path, piece=1024)
    content = noise(200 * 1024)
    store.put(content)
    for changed in (content[:70_000] + b"!" + content[70_001:], content + noise(500)):
        before = bytes_in(tmp_path)
        store.put(changed)
        assert (
            bytes_in(tmp_path) - before < 2 * 1024 + 20 * 201 + 1024
        )  # two pieces, the list, what holds them


def test_what_is_known_already_costs_nothing(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    content = noise(20 * BITE)
    store.put(content)
    before = bytes_in(tmp_path)
    assert store.put_pieces(cut(content))[0] == digest_of(content)
    assert bytes_in(tmp_path) == before


def test_what_no_compression_makes_smaller_is_stored_as_it_is(tmp_path: Path) -> None:
    film, text = (
        noise(6 * PIECE),
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


def test_what_was_kept_whole_though_it_is_large_is_read_and_not_kept_twice(tmp_path: Path) -> None:
    (tmp_path / "packs").mkdir()
    content = noise(50 * BITE)
    with new_pack(tmp_path / "packs", LOCAL_DISK) as writer:
        writer.add(digest_of(content), content)
    store = store_in(tmp_path)
    assert store.read(digest_of(content)) == content
    before = bytes_in(tmp_path)
    store.put(content)
    assert bytes_in(tmp_path) == before
    store.keep_only({digest_of(content)})
    assert store_in(tmp_path).read(digest_of(content)) == content


def test_many_small_packs_become_one(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    contents = [noise(6 * BITE, seed) for seed in range(20)]
    digests = {store.put(content): content for content in contents}
    store.keep_only(digests)
    assert len(list((tmp_path / "packs").iterdir())) == 1
    assert {digest: store_in(tmp_path).read(digest) for digest in digests} == digests


def test_a_collection_leaves_out_what_is_damaged_and_keeps_the_rest(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    with store.bulk() as sink:
        lost, kept, gone = (sink.put_pieces(cut(b"%d" % number * 200))[0] for number in range(3))
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


def test_a_content_that_breaks_off_leaves_nothing_behind(tmp_path: Path) -> None:
    def breaking() -> Iterator[bytes]:
        yield noise(BITE)
        raise ZeroDivisionError

    store = store_in(tmp_path)
    with pytest.raises(ZeroDivisionError):
        store.put_pieces(breaking())
    assert bytes_in(tmp_path) == 0


def test_a_large_content_is_never_in_memory_as_a_whole(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.write_bytes(noise(PIECE) * 50 + noise(4 * PIECE) + b"end\n" * PIECE)
    size = source.stat().st_size
    store = store_in(tmp_path, piece=PIECE)
    tracemalloc.start()
    try:
        with source.open("rb") as file:
            digest, kept = store.put_pieces(iter(lambda: file.read(PIECE), b""))
        assert kept == size
        assert sum(map(len, store.bites(digest))) == size
        assert tracemalloc.get_traced_memory()[1] < size / 2
    finally:
        tracemalloc.stop()


def test_a_store_whose_process_dies_at_any_call_holds_what_it_gave_out(tmp_path: Path) -> None:
    old, new = noise(9 * BITE, 1), noise(4 * BITE, 2) + noise(9 * BITE, 1)
    at, survived = 0, False
    while not survived:
        at += 1
        folder = tmp_path / str(at)
        store_in(folder).put(old)
        store = store_in(folder, disk=KillingDisk(at))
        given_out = {digest_of(old): old}
        try:
            given_out[store.put(new)] = new
            store.keep_only(set(given_out))
            store.keep_only({digest_of(new)})
            given_out = {digest_of(new): new}
            survived = True
        except Killed:
            if digest_of(new) in given_out:
                del given_out[digest_of(old)]  # it may have been let go
        again = store_in(folder)
        assert {digest: again.read(digest) for digest in given_out} == given_out
        assert again.put(new) == digest_of(new)
        assert again.read(digest_of(new)) == new
        again.keep_only({digest_of(new)})
        assert again.read(digest_of(new)) == new
        assert not again.has(digest_of(old))
    assert at > 20
