"""Blobs: contents of files, kept once each under the digest of what they hold.

`blobs/ab/cdef…` holds one, zlib-compressed; `packs/` holds many a file. A blob is on the medium before its
digest is given out.

A large content comes and goes in pieces of `PIECE` bytes, which are blobs of their own under `piece_name`,
with a list of them in a pack: no large file is ever in memory as a whole, and a database of which one page
changed, or a log that grew, costs a piece or two. They are cut at fixed places: to look for places that an
insertion doesn't move takes a loop over every byte, and large files that are written in the middle are
databases and images of disks, which insert nothing.
"""

import hashlib
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Protocol

from kimi_tui.base.paths import make_private_dir
from kimi_tui.history.disk import LOCAL_DISK, TEMPORARY, Disk, discard, replace_file
from kimi_tui.history.snapshots.pack import Pack, PackWriter, new_pack

PIECE = 1 << 18
_AT_ONCE = 4
"""Contents of up to so many pieces aren't cut."""
_LEVEL = 6
_DIGEST_BYTES = 20
_SMALL = 1 << 20
_MANY_SMALL = 16
"""So many packs of less than `_SMALL` bytes are put together when others go."""


class BlobMissing(Exception):
    """A content that is not kept any more, or damaged; the text says which."""


class BlobSink(Protocol):
    """What takes in contents."""

    piece: int
    """How many bytes a piece has."""

    def put(self, content: bytes) -> str:
        """Keep `content`, which is no larger than `at_once`; return its digest. Raises OSError."""
        ...

    def put_pieces(self, pieces: Iterable[bytes]) -> tuple[str, int]:
        """Keep a content that comes in pieces, of which only the last may be short; its digest and size.

        Raises OSError, and what `pieces` raises: nothing is kept then.
        """
        ...


def at_once(sink: BlobSink) -> int:
    """How large a content may be that is kept as a whole."""
    return _AT_ONCE * sink.piece


def digest_of(content: bytes) -> str:
    """The name of a content."""
    return _digest(content).hexdigest()


def piece_name(content: bytes) -> str:
    """The name of a piece: by a hash that processors know, since the whole is hashed as well."""
    return hashlib.sha256(content).hexdigest()[: 2 * _DIGEST_BYTES]


def _digest(content: bytes = b"") -> hashlib.blake2b:
    return hashlib.blake2b(content, digest_size=_DIGEST_BYTES)


class BlobStore:
    """The contents kept for one project. Its methods block."""

    def __init__(self, folder: Path, *, disk: Disk = LOCAL_DISK, piece: int = PIECE) -> None:
        self._loose = folder / "blobs"
        self._packed = folder / "packs"
        self._disk = disk
        self.piece = piece
        self.written = 0
        """How many bytes were written here for new contents."""
        self._packs: dict[str, Pack] = {}
        self._looked_at: set[str] = set()
        self._where: dict[str, Pack] = {}
        self._lists: dict[str, Pack] = {}
        self._have: set[str] = set()

    def put(self, content: bytes) -> str:
        """`BlobSink.put`, of any size."""
        digest = digest_of(content)
        if self.has(digest):
            return digest
        if len(content) > at_once(self):
            starts = range(0, len(content), self.piece)
            return self.put_pieces(content[start : start + self.piece] for start in starts)[0]
        path = self._path(digest)
        make_private_dir(path.parent)
        data = zlib.compress(content, _LEVEL)
        replace_file(self._disk, path, [data])
        self.written += len(data)
        self._have.add(digest)
        return digest

    def put_pieces(self, pieces: Iterable[bytes]) -> tuple[str, int]:
        """`BlobSink.put_pieces`."""
        with self.bulk() as sink:
            return sink.put_pieces(pieces)

    @contextmanager
    def bulk(self, *, in_haste: bool = False) -> Iterator[BlobSink]:
        """A sink for many contents, which are kept together when the block ends well. Raises OSError.

        `in_haste` they are compressed at the next `keep_only` only.
        """
        make_private_dir(self._packed)
        with new_pack(self._packed, self._disk, raw=in_haste, frame=self.piece) as writer:
            yield _Bulk(self, writer)
        if writer.index:
            self.written += writer.path.stat().st_size
            self._looked_at.add(writer.path.name)
            self._take_up(Pack(writer.path, bytes(writer.index)))

    def has(self, digest: str) -> bool:
        """Whether the content is kept."""
        return digest in self._have or digest in self._where or digest in self._lists

    def read(self, digest: str) -> bytes:
        """A content. Raises BlobMissing, also when what is there is damaged."""
        return b"".join(self.bites(digest))

    def bites(self, digest: str) -> Iterator[bytes]:
        """A content, in bites that are checked before they are given.

        Raises BlobMissing, after the last one at the latest: nothing of it is to be used before.
        """
        if (pieces := self._pieces_of(digest)) is None:
            yield self._checked(digest, digest_of)
            return
        whole = _digest()
        for piece in pieces:
            bite = self._checked(piece, piece_name)
            whole.update(bite)
            yield bite
        if whole.hexdigest() != digest:
            raise BlobMissing(digest)

    def open(self) -> None:
        """Learn what is kept. Raises OSError."""
        self._have = {path.parent.name + path.name for path in self._loose.glob("??/*")}
        self._look_for_packs()

    def keep_only(self, digests: Collection[str]) -> None:
        """Forget every other content; a pack is written anew without what it needn't hold. Raises OSError.

        Nobody else may use the store meanwhile.
        """
        for path in self._packed.glob(f"*{TEMPORARY}"):
            discard(self._disk, path)
        self._look_for_packs()
        kept = set(digests)
        for pack in self._packs.values():
            for digest in kept.intersection(pack.lists):
                with suppress(zlib.error):
                    kept.update(pack.pieces_of(digest))
        for path in self._loose.glob("??/*"):
            if path.parent.name + path.name not in kept:
                self._disk.unlink(path)
        self._tidy(kept)
        for known in (self._packs, self._looked_at, self._where, self._lists):
            known.clear()
        self.open()

    def _tidy(self, kept: Collection[str]) -> None:
        """Write packs anew that hold what needn't be kept, or weren't compressed, or are many and small."""
        packs = list(self._packs.values())
        small = [pack for pack in packs if pack.path.stat().st_size < _SMALL]
        if len(small) < _MANY_SMALL:
            small = []
        for pack in packs:
            is_whole = all(digest in kept for digests in (pack.digests, pack.lists) for digest in digests)
            if pack not in small and (pack.is_raw or not is_whole):
                self._write_anew([pack], kept)
        if small:
            self._write_anew(small, kept)

    def _write_anew(self, packs: Sequence[Pack], kept: Collection[str]) -> None:
        """Put what is kept of some packs into one. What is damaged in them is lost, and left out."""
        added: set[str] = set()
        with new_pack(self._packed, self._disk, frame=self.piece) as writer:
            for pack in packs:
                for digest in pack.digests:
                    if digest in kept and digest not in added:
                        with suppress(zlib.error):
                            writer.add(digest, pack.read(digest))
                            added.add(digest)
                for digest in pack.lists:
                    if digest in kept and digest not in added:
                        with suppress(zlib.error):
                            writer.add_list(digest, pack.pieces_of(digest))
                            added.add(digest)
        for pack in packs:
            self._disk.unlink(pack.path)

    def _look_for_packs(self) -> None:
        for path in _listed(self._packed):
            if path.suffix != TEMPORARY and path.name not in self._looked_at:
                self._looked_at.add(path.name)
                try:
                    pack = Pack.open(path)
                except ValueError:
                    continue
                self._take_up(pack)

    def _take_up(self, pack: Pack) -> None:
        self._packs[pack.path.name] = pack
        for digest in pack.digests:  # one by one: a hundred thousand at once would hold every thread up
            self._where[digest] = pack
        for digest in pack.lists:
            self._lists[digest] = pack

    def _pieces_of(self, digest: str) -> Sequence[str] | None:
        """The names of a content's pieces; None when it isn't kept in pieces. Raises BlobMissing."""
        if not self.has(digest):
            self._look_for_packs()
        if digest in self._have or digest in self._where or (pack := self._lists.get(digest)) is None:
            return None
        try:
            return pack.pieces_of(digest)
        except (OSError, zlib.error) as error:
            raise BlobMissing(digest) from error

    def _checked(self, digest: str, name_of: Callable[[bytes], str]) -> bytes:
        """A blob that is what its name says. Raises BlobMissing."""
        for content in self._copies(digest):
            if name_of(content) == digest:
                return content
        raise BlobMissing(digest)

    def _copies(self, digest: str) -> Iterator[bytes]:
        if (pack := self._where.get(digest)) is not None:
            with suppress(OSError, zlib.error):
                yield pack.read(digest)
        with suppress(OSError, zlib.error):
            yield zlib.decompress(self._path(digest).read_bytes())
        if pack is None:
            self._look_for_packs()
            if (pack := self._where.get(digest)) is not None:
                with suppress(OSError, zlib.error):
                    yield pack.read(digest)

    def _path(self, digest: str) -> Path:
        return self._loose / digest[:2] / digest[2:]


class _Bulk:
    """Puts what is new into a pack."""

    def __init__(self, store: BlobStore, writer: PackWriter) -> None:
        self._store = store
        self._writer = writer
        self._added: set[str] = set()
        self.piece = store.piece

    def put(self, content: bytes) -> str:
        """`BlobSink.put`."""
        digest = digest_of(content)
        self._add(digest, content)
        return digest

    def put_pieces(self, pieces: Iterable[bytes]) -> tuple[str, int]:
        """`BlobSink.put_pieces`."""
        whole = _digest()
        size = 0
        names: list[str] = []
        for piece in pieces:
            whole.update(piece)
            size += len(piece)
            names.append(piece_name(piece))
            self._add(names[-1], piece)
        digest = whole.hexdigest()
        if digest not in self._added and not self._store.has(digest):
            self._added.add(digest)
            self._writer.add_list(digest, names)
        return digest, size

    def _add(self, digest: str, content: bytes) -> None:
        if digest not in self._added and not self._store.has(digest):
            self._added.add(digest)
            self._writer.add(digest, content)


def _listed(folder: Path) -> Iterable[Path]:
    return sorted(folder.iterdir()) if folder.is_dir() else ()
