"""Coverage: what of the files a checkpoint can't bring back, in words; and how their paths are shown."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

from kimi_tui.tools.workspace import Workspace, showable

if TYPE_CHECKING:
    from kimi_tui.history.snapshots.file_history import FileHistory

_NAMED = 3
"""How many uncovered files a sentence names."""
_LISTED = 100


def shown_path(path: str) -> str:
    """A path of the file history as front ends and models read it."""
    return showable(path.replace("//", "/", 1) if path.startswith("/") else path)


def covered_dirs(workspace: Workspace) -> tuple[str, ...]:
    """The added folders that are covered besides the work dir: without links, and none holds another of them.

    One that holds the work dir, lies in it, or is the home folder or the whole file system is not.
    """
    work_dir = os.path.realpath(workspace.work_dir)
    too_much = {os.sep, os.path.realpath(Path.home())}
    found = {os.path.realpath(folder) for folder in workspace.additional_dirs} - too_much
    taken = [work_dir]
    for folder in sorted(found):
        if not any(_holds(it, folder) or _holds(folder, it) for it in taken):
            taken.append(folder)
    return tuple(taken[1:])


def left_out_dirs(workspace: Workspace) -> dict[str, str]:
    """The added folders that are not covered, with why: what a tool changes there can't be taken back."""
    work_dir = os.path.realpath(workspace.work_dir)
    why: dict[str, str] = {}
    for folder in sorted({os.path.realpath(folder) for folder in workspace.additional_dirs}):
        if folder == os.sep:
            why[folder] = "it is the whole file system"
        elif folder == os.path.realpath(Path.home()) and folder != work_dir:
            why[folder] = "it is the home folder"
        elif folder != work_dir and _holds(folder, work_dir):
            why[folder] = "it holds the work dir"
    return why


def path_in(workspace: Workspace, real: Path) -> str | None:
    """The path of the file history of a file, without links; None when it is not covered."""
    root = Path(os.path.realpath(workspace.work_dir))
    if real.is_relative_to(root) and real != root:
        return real.relative_to(root).as_posix()
    for folder in covered_dirs(workspace):
        if real.is_relative_to(folder) and real != Path(folder):
            return f"{folder}//{real.relative_to(folder).as_posix()}"
    return None


def _holds(outer: str, inner: str) -> bool:
    return Path(inner).is_relative_to(outer)


def coverage(history: "FileHistory") -> str:
    """What is not covered and why, in a sentence; empty when everything is."""
    if history.named_only:
        return f"Only files that file tools write are covered, since {history.named_only}."
    left_out = sorted(history.not_covered.items())
    if not left_out:
        return ""
    named = ", ".join(f"{shown_path(path)} ({why})" for path, why in left_out[:_NAMED])
    more = f" and {len(left_out) - _NAMED} more" if len(left_out) > _NAMED else ""
    return f"Not covered: {named}{more}."


def uncovered(history: "FileHistory") -> list[str]:
    """What is not covered, one a line."""
    lines = [coverage(history)] if history.named_only else []
    left_out = sorted(history.not_covered.items())
    lines += [f"not covered: {shown_path(path)} ({why})" for path, why in left_out[:_LISTED]]
    if len(left_out) > _LISTED:
        lines.append(f"not covered: {len(left_out) - _LISTED} more")
    return lines
