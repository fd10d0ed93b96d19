"""Choice of the files that a revert overwrites in place instead of replacing them with a new file.

A new file is safer: a path has its old or its new content at any moment. But a program that has the old file
open doesn't see the new file. The new file also lacks the other names (hard links), owner and extended
attributes of the old file.
"""

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from pathlib import Path

from kimi_tui.base.frozen import frozen
from kimi_tui.base.message_text import msg
from kimi_tui.history.snapshots.attributes.file_attributes import extended_attributes
from kimi_tui.history.snapshots.entry import Entry, absolute_path
from kimi_tui.history.snapshots.open_files import FileId, OpenFiles, find_open_files

FileChange = tuple[str, Entry | None, Entry | None]
"""A path, its current and its planned entry."""


@frozen
class OverwriteChoice:
    """The way in which each file of a plan is written: in place, or as a new file."""

    in_place: frozenset[str] = frozenset()
    """Paths that are overwritten in place."""
    losses: Mapping[str, str] = field(default_factory=dict)
    """Lost properties of files that would have to be overwritten in place but can't: path -> description."""
    open_in: Mapping[str, str] = field(default_factory=dict)
    """The program that has a path open."""
    is_complete: bool = True
    """Whether the search for open files was complete."""


def choose_overwrites(root: Path, changes: Iterable[FileChange]) -> OverwriteChoice:
    """Return how to write the files among `changes`, if all `changes` are executed."""
    files = {
        path: (info, now, then)
        for path, now, then in changes
        if now is not None and now.kind == "file" and (info := _info_of(root, path)) is not None
    }
    ids = {_id_of(info): path.rpartition("/")[2] for path, (info, _, _) in files.items()}
    opened = find_open_files(ids)
    targets: dict[FileId, list[Entry | None]] = {}
    for info, _, then in files.values():
        targets.setdefault(_id_of(info), []).append(then)
    in_place, losses, open_in = set(), {}, {}
    for path, (info, _, then) in files.items():
        if (program := opened.programs.get(_id_of(info))) is not None:
            open_in[path] = program
        if then is None or then.kind != "file":
            continue
        reasons = _reasons(root, path, info, opened)
        if not reasons:
            continue
        if _can_overwrite(root, path, info, targets[_id_of(info)]):
            in_place.add(path)
        else:
            losses[path] = msg("not kept: {attributes}", attributes=", ".join(reasons))
    return OverwriteChoice(frozenset(in_place), losses, open_in, opened.is_complete)


def _info_of(root: Path, path: str) -> os.stat_result | None:
    try:
        return os.lstat(absolute_path(root, path))
    except OSError:
        return None


def _id_of(info: os.stat_result) -> FileId:
    return info.st_dev, info.st_ino


def _reasons(root: Path, path: str, info: os.stat_result, opened: OpenFiles) -> list[str]:
    """Return the properties that a new file at `path` would lack, for the user."""
    reasons: list[str] = []
    if info.st_nlink > 1:
        reasons.append(msg("hard link"))
    if info.st_uid != os.geteuid() or info.st_gid != os.getegid():
        reasons.append(msg("owner"))
    if extended_attributes(absolute_path(root, path)):
        reasons.append(msg("extended attributes"))
    if _id_of(info) in opened.programs:
        reasons.append(msg("the file handle of {program}", program=opened.programs[_id_of(info)]))
    return reasons


def _can_overwrite(
    root: Path, path: str, info: os.stat_result, targets_of_file: Sequence[Entry | None]
) -> bool:
    """Return whether a file is writable and all its names get the same content."""
    are_all_planned = Counter(targets_of_file)[targets_of_file[0]] == info.st_nlink
    is_writable = info.st_uid == os.geteuid() or os.access(absolute_path(root, path), os.W_OK)
    return are_all_planned and is_writable
