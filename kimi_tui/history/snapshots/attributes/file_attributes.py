"""File attributes: properties of a file or directory besides its content and mode.

Only unusual attributes are recorded: another owner or group than this process, several names (hard links),
extended attributes. A recreated file gets the attributes that this user may set.
"""

import os
import stat
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from kimi_tui.base.message_text import msg

_SET_BY_SYSTEM = frozenset({"security.selinux"})
_OF_USER = ("user.", "system.posix_acl_")
"""Prefixes of the extended attributes that the owner may set."""


@dataclass(frozen=True, slots=True)
class FileAttributes:
    """Unusual attributes of a file or directory."""

    owner: int
    group: int
    n_names: int = 1
    """Number of its names (hard links); 1 for a directory."""
    extended: Mapping[str, bytes] = field(default_factory=dict)

    def to_json(self) -> list[Any]:
        """Return the attributes as they are recorded."""
        values = {name: value.decode("latin-1") for name, value in self.extended.items()}
        return [self.owner, self.group, self.n_names, values]

    @staticmethod
    def from_json(fields: list[Any]) -> "FileAttributes":
        """Return the attributes in a record. Raises ValueError, TypeError, KeyError."""
        owner, group, n_names, values = fields
        extended = {str(name): str(value).encode("latin-1") for name, value in values.items()}
        return FileAttributes(int(owner), int(group), int(n_names), extended)


Attributes = Mapping[str, FileAttributes | None]
"""Path -> unusual attributes of the file or directory; None if it has none."""


def read_attributes(file: int | str, info: os.stat_result) -> FileAttributes | None:
    """Return the unusual attributes of a file or directory with the stat data `info`; None if it has none."""
    names = extended_attributes(file)
    n_names = 1 if stat.S_ISDIR(info.st_mode) else info.st_nlink
    extended = _read_extended(file, names) if names else {}
    if not extended and n_names <= 1 and (info.st_uid, info.st_gid) == (os.geteuid(), os.getegid()):
        return None
    return FileAttributes(info.st_uid, info.st_gid, n_names, extended)


def extended_attributes(file: int | str) -> list[str]:
    """Return the names of a file's extended attributes, without those that the system sets."""
    if not hasattr(os, "listxattr"):
        return []
    try:
        names = os.listxattr(file) if isinstance(file, int) else os.listxattr(file, follow_symlinks=False)
    except OSError:
        return []
    return [name for name in names if name not in _SET_BY_SYSTEM]


def describe_losses(attributes: FileAttributes) -> list[str]:
    """Return the attributes that a recreated file lacks, for the user."""
    losses: list[str] = []
    if attributes.n_names > 1:
        losses.append(msg("hard link"))
    if not _may_set_owner(attributes):
        losses.append(msg("owner"))
    if not all(_may_set_extended(name) for name in attributes.extended):
        losses.append(msg("extended attributes"))
    return losses


def _may_set_owner(attributes: FileAttributes) -> bool:
    if os.geteuid() == 0:
        return True
    groups = {os.getegid(), *os.getgroups()}
    return attributes.owner == os.geteuid() and attributes.group in groups


def _may_set_extended(name: str) -> bool:
    return hasattr(os, "setxattr") and (os.geteuid() == 0 or name.startswith(_OF_USER))


def _read_extended(file: int | str, names: Iterable[str]) -> dict[str, bytes]:
    values: dict[str, bytes] = {}
    for name in names:
        try:
            if isinstance(file, int):
                values[name] = os.getxattr(file, name)
            else:
                values[name] = os.getxattr(file, name, follow_symlinks=False)
        except OSError:
            continue
    return values
