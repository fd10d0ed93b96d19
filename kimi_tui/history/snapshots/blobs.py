"""Blobs: contents of files, kept once each under the digest of what they hold.

`blobs/ab/cdef…` holds one, zlib-compressed; `packs/` holds many a file. A blob is on the medium before its
digest is given out.
"""

import hashlib
import zlib
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Protocol

from kimi_tui.base.paths import make_private_dir
from kimi_tui.history.disk import LOCAL_DISK, TEMPORARY, Disk, discard, replace_file
from kimi_tui.history.snapshots.pack import Pack, PackWriter, new_pack

_LEVEL = 6
_DIGEST_BYTES = 20


class BlobMissing(Exception):
    """A content that is not kept any more, or damaged; the text says which."""


class BlobSink(Protocol):
    """What takes in contents."""

    def put(self, content: bytes) -> str:
        """Keep `content`; return its digest. Raises OSError."""
        ...


def digest_of(content: bytes) -> str:
    """The name of a content."""
    return hashlib.blake2b(content, digest_size=_DIGEST_BYTES).hexdigest()


class BlobStore:
    """The contents kept for one project. Its methods block."""

    def __init__(self, folder: Path, *, disk: Disk = LOCAL_DISK) -> None:
        self._loose = folder / "blobs"
        self._packed = folder / "packs"
        self._disk = disk
        self._packs: dict[str, Pack] = {}
        self._looked_at: set[str] = set()
        self._where: dict[str, Pack] = {}
        self._have: set[str] = set()

    def put(self, content: bytes) -> str:
        """Keep `content`; return its digest. Raises OSError."""
        digest = digest_of(content)
        if not self.has(digest):
            path = self._path(digest)
            make_private_dir(path.parent)
            replace_file(self._disk, path, [zlib.compress(content, _LEVEL)])
            self._have.add(digest)
        return digest

    @contextmanager
    def bulk(self, *, in_haste: bool = False) -> Iterator[BlobSink]:
        """A sink for many contents, which are kept together when the block ends well. Raises OSError.

        `in_haste` they are compressed at the next `keep_only` only.
        """
        make_private_dir(self._packed)
        with new_pack(self._packed, self._disk, raw=in_haste) as writer:
            yield _Bulk(self, writer)
        if writer.index:
            self._looked_at.add(writer.path.name)
            self._take_up(Pack(writer.path, bytes(writer.index)))

    def has(self, digest: str) -> bool:
        """Whether the content is kept."""
        return digest in self._have or digest in self._where

    def read(self, digest: str) -> bytes:
        """A content. Raises BlobMissing, also when what is there is damaged."""
        for content in self._copies(digest):
            if digest_of(content) == digest:
                return content
        raise BlobMissing(digest)

    def bites(self, digest: str) -> Iterator[bytes]:
        """A content, in bites that are checked before they are given.

        Raises BlobMissing, after the last one at the latest: nothing of it is to be used before.
        """
        yield self.read(digest)

    def open(self) -> None:
        """Learn what is kept. Raises OSError."""
        self._have = {path.parent.name + path.name for path in self._loose.glob("??/*")}
        self._look_for_packs()

    def keep_only(self, digests: Collection[str]) -> None:
        """Forget every other content; a pack is written anew without what it needn't hold. Raises OSError.

        Nobody else may use the store meanwhile.
        """
        for path in self._loose.glob("??/*"):
            if path.parent.name + path.name not in digests:
                self._disk.unlink(path)
        for path in self._packed.glob(f"*{TEMPORARY}"):
            discard(self._disk, path)
        self.open()
        for pack in list(self._packs.values()):
            self._thin_out(pack, digests)

    def _thin_out(self, pack: Pack, digests: Collection[str]) -> None:
        kept = [digest for digest in pack.digests if digest in digests]
        if len(kept) == len(pack.digests) and not pack.is_raw:
            return
        if kept:
            with new_pack(self._packed, self._disk) as writer:
                for digest in kept:
                    writer.add(digest, pack.read(digest))
        self._disk.unlink(pack.path)
        del self._packs[pack.path.name]
        self._where = {digest: other for other in self._packs.values() for digest in other.digests}
        self._look_for_packs()

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

    def put(self, content: bytes) -> str:
        """`BlobSink.put`."""
        digest = digest_of(content)
        if digest not in self._added and not self._store.has(digest):
            self._added.add(digest)
            self._writer.add(digest, content)
        return digest


def _listed(folder: Path) -> Iterable[Path]:
    return sorted(folder.iterdir()) if folder.is_dir() else ()
