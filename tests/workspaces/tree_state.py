"""State of a tree of files, for comparison with another one."""

import errno
import hashlib
import os
import stat
from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace

_BLOCK = 512
_SPARSE_SHARE = 2
"""A file is sparse if it occupies less than its size divided by this."""
_SPARSE_BYTES = 1 << 20
"""Smaller files aren't checked for holes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryState:
    """What two trees must have in common at one path."""

    kind: str
    mode: int
    owner: tuple[int, int]
    content: str
    """Digest of a file, target of a link, or number of a device."""
    attributes: tuple[tuple[str, bytes], ...] = ()
    explicit_time_ns: int | None = None
    """Modification time, unless the run determined it. That of a folder counts only if the command set it."""
    links: tuple[bytes, ...] = ()
    """All paths of a file with several, sorted."""
    has_holes: bool = False


def read_tree(root: bytes, started_ns: int, *, old_folder_ns: int = 0) -> dict[bytes, EntryState]:
    """Return the states of all entries under `root`, and of itself, by relative path.

    A modification time in the ten minutes after `started_ns` is the time of the run. Others were there before
    or set explicitly. `old_folder_ns` is the time that folders had before.
    """
    found: dict[bytes, EntryState] = {}
    names: dict[tuple[int, int], list[bytes]] = defaultdict(list)
    for path, status, handle in _walk(root):
        found[path] = _entry(handle, status, started_ns, old_folder_ns)
        if not stat.S_ISDIR(status.st_mode) and status.st_nlink > 1:
            names[status.st_dev, status.st_ino].append(path)
    for group in names.values():
        for path in group if len(group) > 1 else ():
            found[path] = replace(found[path], links=tuple(sorted(group)))
    return found


def tree_differences(expected: dict[bytes, EntryState], actual: dict[bytes, EntryState]) -> list[str]:
    """Return a line for each path that differs."""
    lines: list[str] = []
    for path in sorted(expected.keys() | actual.keys()):
        one, other = expected.get(path), actual.get(path)
        if one is None:
            lines.append(f"{path!r}: only in the second tree ({other})")
        elif other is None:
            lines.append(f"{path!r}: only in the first tree ({one})")
        elif one != other:
            fields = [it for it in EntryState.__slots__ if getattr(one, it) != getattr(other, it)]
            lines.append(
                f"{path!r}: "
                + ", ".join(f"{it}: {getattr(one, it)!r} / {getattr(other, it)!r}" for it in fields)
            )
    return lines


def _walk(root: bytes) -> Iterator[tuple[bytes, os.stat_result, bytes]]:
    """Yield paths relative to `root`, and under which name each can be opened while it is handled.

    Paths may be longer than the system allows for a name.
    """
    yield b".", os.lstat(root), root
    pending: list[tuple[bytes, int]] = [(b"", os.open(root, os.O_RDONLY | os.O_DIRECTORY))]
    while pending:
        prefix, descriptor = pending.pop()
        try:
            for name in sorted(os.fsencode(it) for it in os.listdir(descriptor)):
                status = os.stat(name, dir_fd=descriptor, follow_symlinks=False)
                yield prefix + name, status, b"/proc/self/fd/%d/%s" % (descriptor, name)
                if stat.S_ISDIR(status.st_mode):
                    if os.geteuid() and status.st_uid == os.geteuid() and status.st_mode & 0o500 != 0o500:
                        os.chmod(name, 0o700, dir_fd=descriptor)
                    with suppress(PermissionError):
                        folder = os.open(
                            name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=descriptor
                        )
                        pending.append((prefix + name + b"/", folder))
        finally:
            os.close(descriptor)


def _entry(path: bytes, status: os.stat_result, started_ns: int, old_folder_ns: int) -> EntryState:
    kind = stat.S_IFMT(status.st_mode)
    is_old_folder = kind == stat.S_IFDIR and status.st_mtime_ns == old_folder_ns
    return EntryState(
        kind=stat.filemode(status.st_mode)[0],
        mode=stat.S_IMODE(status.st_mode),
        owner=(status.st_uid, status.st_gid),
        content=_content(path, status),
        attributes=_attributes(path),
        explicit_time_ns=None if is_old_folder or _is_of_run(status, started_ns) else status.st_mtime_ns,
        has_holes=kind == stat.S_IFREG
        and status.st_size > _SPARSE_BYTES
        and status.st_blocks * _BLOCK * _SPARSE_SHARE < status.st_size,
    )


_RUN_NS = 600 * 10**9


def _is_of_run(status: os.stat_result, started_ns: int) -> bool:
    return started_ns <= status.st_mtime_ns <= started_ns + _RUN_NS


def _content(path: bytes, status: os.stat_result) -> str:
    kind = stat.S_IFMT(status.st_mode)
    if kind == stat.S_IFLNK:
        return os.fsdecode(os.readlink(path))
    if kind in (stat.S_IFCHR, stat.S_IFBLK):
        return f"{os.major(status.st_rdev)}:{os.minor(status.st_rdev)}"
    if kind != stat.S_IFREG:
        return ""
    if os.geteuid() and status.st_mode & 0o400 == 0 and status.st_uid == os.geteuid():
        os.chmod(path, 0o600)
    try:
        with open(path, "rb") as file:
            if status.st_size > _SPARSE_BYTES:
                return _digest_of_data(file.fileno(), status.st_size)
            content = file.read()
    except PermissionError:
        return "unreadable"
    name = os.path.basename(path)
    if name == b"index" and content.startswith(b"DIRC"):
        content = without_stat_fields(content)
    elif name.endswith(b".pyc") and content[4:8] == bytes(4):
        content = content[:8] + content[12:]
    return hashlib.sha256(content).hexdigest()


def _digest_of_data(descriptor: int, size: int) -> str:
    """Return a digest of all data, without reading the zeros of a sparse file's holes."""
    digest = hashlib.sha256(str(size).encode())
    position = 0
    while position < size:
        try:
            position = os.lseek(descriptor, position, os.SEEK_DATA)
        except OSError as error:
            if error.errno == errno.ENXIO:
                break
            raise
        chunk = os.pread(descriptor, 1 << 12, position)
        if not chunk:
            break
        if chunk.strip(b"\0"):
            digest.update(b"%d:" % position + chunk)
        position += len(chunk)
    return digest.hexdigest()


def without_stat_fields(index: bytes) -> bytes:
    """Return a git index with zeros for what git copies from `lstat`, and for the checksum at its end.

    The format is in git's Documentation/gitformat-index.txt: an entry begins with ctime, mtime, device,
    inode, mode, uid, gid and size, in 4 bytes each (8 for a time).
    """
    version, count = int.from_bytes(index[4:8], "big"), int.from_bytes(index[8:12], "big")
    if version == 4:
        return index[:12] + b"version 4, with compressed names"
    parts = [index[:12]]
    position = 12
    for _ in range(count):
        flags = int.from_bytes(index[position + 60 : position + 62], "big")
        name = position + (64 if flags & 0x4000 else 62)
        end = index.index(b"\0", name)
        parts.append(index[position + 24 : position + 28] + index[position + 40 : end])
        position += (end - position + 8) // 8 * 8
    while position < len(index) - 20:
        extension = index[position : position + 4]
        size = int.from_bytes(index[position + 4 : position + 8], "big")
        if extension == b"TREE":
            parts.append(index[position : position + 8 + size])
        elif extension not in (b"UNTR", b"FSMN", b"EOIE", b"IEOT"):
            parts.append(extension)
        position += 8 + size
    return b"".join(parts)


def _attributes(path: bytes) -> tuple[tuple[str, bytes], ...]:
    try:
        names = sorted(os.listxattr(path, follow_symlinks=False))
        return tuple((name, os.getxattr(path, name, follow_symlinks=False)) for name in names)
    except OSError:
        return ()
