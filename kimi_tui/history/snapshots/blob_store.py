"""Blob store: contents of files, each stored once under its digest.

`blobs/ab/cdef…` contains one blob, zlib-compressed; `packs/` contains many blobs per file. A blob is synced
to disk before its digest is returned.

Large contents are read and written in pieces of `PIECE` bytes. Each piece is a blob named by `piece_name`; a
pack lists the pieces of a content. No large file is ever completely in memory. A database with one changed
page, or a log that grew, needs only one or two new pieces.

Pieces have a fixed size. Boundaries that survive insertions would need a loop over every byte. Large files
that change in the middle are mostly databases and disk images, and those overwrite data instead of inserting.
"""

import hashlib
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Protocol

from kimi_tui.base.paths import make_private_dir
from kimi_tui.history.filesystem import LOCAL_FILE_SYSTEM, TEMPORARY_SUFFIX, FileSystem, discard, replace_file
from kimi_tui.history.snapshots.digest_set import DigestSet
from kimi_tui.history.snapshots.pack import Pack, PackWriter, new_pack

PIECE = 1 << 18
_MAX_WHOLE_PIECES = 4
"""Contents of up to this many pieces aren't split."""
_LEVEL = 6
_DIGEST_BYTES = 20
_SMALL = 1 << 20
_MANY_SMALL = 16
"""A collection merges packs smaller than `_SMALL` bytes once there are this many."""
_MANY_BLOBS = 2000
"""Packs with more blobs are searched, since a list of all digests would take too much memory."""


class BlobMissing(Exception):
    """Content that is no longer stored, or is damaged; the exception text is its digest."""


class BlobSink(Protocol):
    """Something that stores contents."""

    piece: int
    """Size of a piece in bytes."""

    def put(self, content: bytes) -> str:
        """Store `content`, which must not exceed `max_whole_size`; return its digest. Raises OSError."""
        ...

    def put_pieces(self, pieces: Iterable[bytes]) -> tuple[str, int]:
        """Store content given in pieces; return its digest and size. Only the last piece may be shorter.

        Raises OSError and any error of `pieces`. After an error, nothing is stored.
        """
        ...


def max_whole_size(sink: BlobSink) -> int:
    """Return the maximum size of content that is stored without splitting, in bytes."""
    return _MAX_WHOLE_PIECES * sink.piece


def digest_of(content: bytes) -> str:
    """Return the digest of some content."""
    return _digest(content).hexdigest()


def piece_name(content: bytes) -> str:
    """Return the digest of a piece: SHA-256, for its speed in hardware. The whole content is hashed, too."""
    return hashlib.sha256(content).hexdigest()[: 2 * _DIGEST_BYTES]


def _digest(content: bytes = b"") -> hashlib.blake2b:
    return hashlib.blake2b(content, digest_size=_DIGEST_BYTES)


class BlobStore:
    """The contents stored for one project. The methods block."""

    def __init__(self, folder: Path, *, fs: FileSystem = LOCAL_FILE_SYSTEM, piece: int = PIECE) -> None:
        self._loose_dir = folder / "blobs"
        self._packs_dir = folder / "packs"
        self._fs = fs
        self.piece = piece
        self.bytes_written = 0
        """Number of bytes written by this object for new contents."""
        self._packs: dict[str, Pack] = {}
        self._scanned_packs: set[str] = set()
        self._pack_by_digest: dict[str, Pack] = {}
        """The packs with few blobs."""
        self._large_packs: list[Pack] = []
        self._pack_by_list: dict[str, Pack] = {}
        self._loose_digests: set[str] = set()

    def put(self, content: bytes) -> str:
        """Implement `BlobSink.put` for contents of any size."""
        digest = digest_of(content)
        if self.has(digest):
            return digest
        if len(content) > max_whole_size(self):
            starts = range(0, len(content), self.piece)
            return self.put_pieces(content[start : start + self.piece] for start in starts)[0]
        path = self._path(digest)
        make_private_dir(path.parent)
        data = zlib.compress(content, _LEVEL)
        replace_file(self._fs, path, [data])
        self.bytes_written += len(data)
        self._loose_digests.add(digest)
        return digest

    def put_pieces(self, pieces: Iterable[bytes]) -> tuple[str, int]:
        """Implement `BlobSink.put_pieces`."""
        with self.bulk_writer() as sink:
            return sink.put_pieces(pieces)

    @contextmanager
    def bulk_writer(self, *, uncompressed: bool = False) -> Iterator[BlobSink]:
        """Yield a sink for many contents, which are stored together if the block succeeds. Raises OSError.

        With `uncompressed`, the contents are compressed only by the next `keep_only`.
        """
        make_private_dir(self._packs_dir)
        with new_pack(self._packs_dir, self._fs, raw=uncompressed, frame=self.piece) as writer:
            yield _BulkSink(self, writer)
        if writer.index:
            self.bytes_written += writer.path.stat().st_size
            self._scanned_packs.add(writer.path.name)
            index = bytes(writer.index)
            writer.index.clear()  # the index may have 100,000 records
            self._register_pack(Pack(writer.path, index))

    def has(self, digest: str) -> bool:
        """Return whether the content is stored."""
        return (
            digest in self._loose_digests
            or digest in self._pack_by_list
            or self._pack_with(digest) is not None
        )

    def read(self, digest: str) -> bytes:
        """Return stored content. Raises BlobMissing if it is missing or damaged."""
        return b"".join(self.iter_chunks(digest))

    def iter_chunks(self, digest: str) -> Iterator[bytes]:
        """Yield stored content in verified chunks.

        May raise BlobMissing even after the last chunk, so don't use any chunk before the iteration ends.
        """
        if (
            digest not in self._pack_by_list
            and (content := self._find_verified(digest, digest_of)) is not None
        ):
            yield content
            return
        if (pieces := self._pieces_of(digest)) is None:
            yield self._read_verified(digest, digest_of)
            return
        hasher = _digest()
        for piece in pieces:
            chunk = self._read_verified(piece, piece_name)
            hasher.update(chunk)
            yield chunk
        if hasher.hexdigest() != digest:
            raise BlobMissing(digest)

    def open(self) -> None:
        """Load the list of stored blobs. Raises OSError."""
        self._loose_digests = {path.parent.name + path.name for path in self._loose_dir.glob("??/*")}
        self._scan_packs()

    def keep_only(self, digests: Iterable[str]) -> None:
        """Delete all contents except `digests`. Packs with unneeded contents are rewritten. Raises OSError.

        No other thread or process may use the store during the call.
        """
        for path in self._packs_dir.glob(f"*{TEMPORARY_SUFFIX}"):
            discard(self._fs, path)
        self._scan_packs()
        needed = DigestSet(digests)
        for pack in self._packs.values():
            for digest in pack.lists:
                if digest in needed:
                    with suppress(zlib.error):
                        needed.update(pack.pieces_of(digest))
        for path in self._loose_dir.glob("??/*"):
            if path.parent.name + path.name not in needed:
                self._fs.unlink(path)
        self._repack(needed)
        for index in (self._packs, self._scanned_packs, self._pack_by_digest, self._pack_by_list):
            index.clear()
        self._large_packs.clear()
        self.open()

    def _repack(self, needed: DigestSet) -> None:
        """Rewrite packs that contain unneeded contents or are uncompressed, and merge many small ones."""
        packs = list(self._packs.values())
        small = [pack for pack in packs if pack.path.stat().st_size < _SMALL]
        if len(small) < _MANY_SMALL:
            small = []
        for pack in packs:
            is_whole = all(digest in needed for digests in (pack.digests, pack.lists) for digest in digests)
            if pack not in small and (pack.is_raw or not is_whole):
                self._merge_packs([pack], needed)
        if small:
            self._merge_packs(small, needed)

    def _merge_packs(self, packs: Sequence[Pack], needed: DigestSet) -> None:
        """Copy the needed contents of some packs into a new one. Damaged contents are lost."""
        added: set[str] = set()
        with new_pack(self._packs_dir, self._fs, frame=self.piece) as writer:
            for number, pack in enumerate(packs, 1):
                for digest in pack.digests:
                    if digest in needed and digest not in added:
                        with suppress(zlib.error):
                            writer.add(digest, pack.read(digest))
                            if number < len(packs):  # no pack contains a digest twice
                                added.add(digest)
                for digest in pack.lists:
                    if digest in needed and digest not in added:
                        with suppress(zlib.error):
                            writer.add_list(digest, pack.pieces_of(digest))
                            if number < len(packs):
                                added.add(digest)
        for pack in packs:
            self._fs.unlink(pack.path)

    def _scan_packs(self) -> None:
        for path in _sorted_files(self._packs_dir):
            if path.suffix != TEMPORARY_SUFFIX and path.name not in self._scanned_packs:
                self._scanned_packs.add(path.name)
                try:
                    pack = Pack.open(path)
                except ValueError:
                    continue
                self._register_pack(pack)

    def _register_pack(self, pack: Pack) -> None:
        self._packs[pack.path.name] = pack
        if len(pack) > _MANY_BLOBS:
            self._large_packs.append(pack)
        else:
            self._pack_by_digest.update(dict.fromkeys(pack.digests, pack))
        for digest in pack.lists:
            self._pack_by_list[digest] = pack

    def _pieces_of(self, digest: str) -> Sequence[str] | None:
        """Return the names of the pieces of split content; None if it isn't split. Raises BlobMissing."""
        if not self.has(digest):
            self._scan_packs()
        if (
            digest in self._loose_digests
            or self._pack_with(digest) is not None
            or (pack := self._pack_by_list.get(digest)) is None
        ):
            return None
        try:
            return pack.pieces_of(digest)
        except (OSError, zlib.error) as error:
            raise BlobMissing(digest) from error

    def _read_verified(self, digest: str, name_of: Callable[[bytes], str]) -> bytes:
        """Return a blob after checking its content against its name. Raises BlobMissing."""
        if (content := self._find_verified(digest, name_of)) is None:
            raise BlobMissing(digest)
        return content

    def _find_verified(self, digest: str, name_of: Callable[[bytes], str]) -> bytes | None:
        for content in self._copies(digest):
            if name_of(content) == digest:
                return content
        return None

    def _copies(self, digest: str) -> Iterator[bytes]:
        if (pack := self._pack_with(digest)) is not None:
            with suppress(OSError, zlib.error):
                yield pack.read(digest)
        with suppress(OSError, zlib.error):
            yield zlib.decompress(self._path(digest).read_bytes())
        if pack is None:
            self._scan_packs()
            if (pack := self._pack_with(digest)) is not None:
                with suppress(OSError, zlib.error):
                    yield pack.read(digest)

    def _pack_with(self, digest: str) -> Pack | None:
        """Return a pack that contains the content as one blob."""
        if (pack := self._pack_by_digest.get(digest)) is not None:
            return pack
        return next((pack for pack in self._large_packs if pack.has(digest)), None)

    def _path(self, digest: str) -> Path:
        return self._loose_dir / digest[:2] / digest[2:]


class _BulkSink:
    """Sink that writes new contents into a pack."""

    def __init__(self, store: BlobStore, writer: PackWriter) -> None:
        self._store = store
        self._writer = writer
        self._added: set[str] = set()
        self.piece = store.piece

    def put(self, content: bytes) -> str:
        """Implement `BlobSink.put`."""
        digest = digest_of(content)
        self._add(digest, content)
        return digest

    def put_pieces(self, pieces: Iterable[bytes]) -> tuple[str, int]:
        """Implement `BlobSink.put_pieces`."""
        hasher = _digest()
        size = 0
        names: list[str] = []
        for piece in pieces:
            hasher.update(piece)
            size += len(piece)
            names.append(piece_name(piece))
            self._add(names[-1], piece)
        digest = hasher.hexdigest()
        if digest not in self._added and not self._store.has(digest):
            self._added.add(digest)
            self._writer.add_list(digest, names)
        return digest, size

    def _add(self, digest: str, content: bytes) -> None:
        if digest not in self._added and not self._store.has(digest):
            self._added.add(digest)
            self._writer.add(digest, content)


def _sorted_files(folder: Path) -> Iterable[Path]:
    return sorted(folder.iterdir()) if folder.is_dir() else ()
