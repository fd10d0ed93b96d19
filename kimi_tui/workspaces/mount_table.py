"""Mounted file systems, as listed in `/proc/self/mountinfo` (`proc_pid_mountinfo(5)`)."""

import re
from dataclasses import dataclass
from pathlib import Path

_MOUNT_TABLE = Path("/proc/self/mountinfo")


@dataclass(frozen=True, slots=True)
class Mount:
    """A mounted file system."""

    path: str
    kind: str
    """The type of the file system, such as `ext4`."""


def read_mounts() -> list[Mount]:
    """Return the mounted file systems in the order in which they were mounted. Raises OSError."""
    mounts = []
    for line in _MOUNT_TABLE.read_bytes().decode("utf-8", "surrogateescape").splitlines():
        fields, _, rest = line.partition(" - ")
        mounts.append(Mount(_unescape(fields.split(" ")[4]), rest.split(" ")[0]))
    return mounts


def mount_of(path: str, mounts: list[Mount]) -> Mount | None:
    """Return the file system that contains `path`."""
    holding = [mount for mount in mounts if f"{path}/".startswith(f"{mount.path.rstrip('/')}/")]
    return max(reversed(holding), key=lambda mount: len(mount.path), default=None)


def mounts_below(path: str, mounts: list[Mount]) -> list[Mount]:
    """Return the file systems mounted below `path`, outer ones first."""
    below = {mount.path: mount for mount in mounts if mount.path.startswith(f"{path.rstrip('/')}/")}
    return [below[each] for each in sorted(below)]


def _unescape(field: str) -> str:
    """Return a field with octal escapes, such as `\\040` for a space, replaced."""
    raw = re.sub(
        rb"\\([0-7]{3})", lambda escape: bytes([int(escape[1], 8)]), field.encode("utf-8", "surrogateescape")
    )
    return raw.decode("utf-8", "surrogateescape")
