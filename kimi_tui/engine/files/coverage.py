"""Coverage of file snapshots: covered directories, uncovered files, and formats of paths."""

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from kimi_tui.base.errors import UsageError
from kimi_tui.base.gitignore import VCS_FOLDERS
from kimi_tui.base.message_text import as_message, msg
from kimi_tui.tools.path_scope import PathScope, printable_name

if TYPE_CHECKING:
    from kimi_tui.history.snapshots.file_history import FileHistory

_MAX_NAMED = 3
"""Maximum number of uncovered files named in a sentence."""
_MAX_LISTED = 100
_NEEDS_ESCAPES = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]|\\\\[xu\\\\]")
_ESCAPED = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff\\\\]")


def display_path(path: str) -> str:
    """Return a path of the file history in the form that models see and tools accept."""
    return printable_name(joined_path(path))


def unique_path(path: str) -> str:
    """Return a path of the file history in the form that front ends show and send back.

    Different paths have different forms. Bytes that aren't UTF-8 and control characters become `\\xE9` or
    `\\u0085`. In a path that contains such characters or sequences, backslashes are doubled.
    """
    path = joined_path(path)
    return _ESCAPED.sub(_escape, path) if _NEEDS_ESCAPES.search(path) else path


def joined_path(path: str) -> str:
    """Convert a path of the file history to an absolute path or one relative to the working directory."""
    return path.replace("//", "/", 1) if path.startswith("/") else path


def _escape(match: re.Match[str]) -> str:
    character = match[0]
    if character == "\\":
        return "\\\\"
    code = ord(character)
    if code < 0x80 or 0xDC80 <= code <= 0xDCFF:
        return f"\\x{code & 0xFF:02X}"
    return f"\\u{code:04X}"


def covered_dirs(workspace: PathScope) -> tuple[str, ...]:
    """Return the additional directories that are covered, with links resolved and without nested ones.

    A directory isn't covered if it contains the working directory, is inside it, or is the home directory or
    the root of the file system.
    """
    work_dir = os.path.realpath(workspace.work_dir)
    too_large = {os.sep, os.path.realpath(Path.home())}
    candidates = {os.path.realpath(folder) for folder in workspace.additional_dirs} - too_large
    covered = [work_dir]
    for folder in sorted(candidates):
        if not any(_contains(it, folder) or _contains(folder, it) for it in covered):
            covered.append(folder)
    return tuple(covered[1:])


def excluded_dirs(workspace: PathScope) -> dict[str, str]:
    """Return the additional directories that aren't covered, with the reasons.

    Changes in these directories can't be reverted.
    """
    work_dir = os.path.realpath(workspace.work_dir)
    reasons: dict[str, str] = {}
    for folder in sorted({os.path.realpath(folder) for folder in workspace.additional_dirs}):
        if folder == os.sep:
            reasons[folder] = "it is the root of the file system"
        elif folder == os.path.realpath(Path.home()) and folder != work_dir:
            reasons[folder] = "it is the home directory"
        elif folder != work_dir and _contains(folder, work_dir):
            reasons[folder] = "it contains the working directory"
    return reasons


def history_path(workspace: PathScope, real: Path) -> str | None:
    """Return the file history's path for a file, or None if the file isn't covered.

    `real` is absolute, with links resolved. For a file outside of the covered directories, the path is
    `DIRECTORY//NAME`.
    """
    if (path := HistoryPaths(workspace).path_of(str(real))) is not None:
        return path
    is_in_repository = not VCS_FOLDERS.isdisjoint(real.parts)
    return None if is_in_repository or len(real.parts) < 3 else f"{real.parent}//{real.name}"


def covered_path(workspace: PathScope, text: str) -> str:
    """Return the file history's path for a file that the user named. Raises UsageError and FileProblem."""
    path = history_path(workspace, workspace.locate(text).real)
    if path is None:
        raise UsageError(
            msg("Checkpoints don't cover {path}.", path=workspace.display_path(text)),
            hint="Choose a file of this project.",
        )
    return path


class HistoryPaths:
    """Converts absolute paths without links to paths of the file history."""

    def __init__(self, workspace: PathScope) -> None:
        work_dir = os.path.realpath(workspace.work_dir)
        self._prefixes = {f"{work_dir.rstrip(os.sep)}/": ""}
        self.added_dirs = covered_dirs(workspace)
        """The covered additional directories."""
        self._prefixes |= {f"{folder}/": f"{folder}//" for folder in self.added_dirs}

    def path_of(self, path: str) -> str | None:
        """Return the file history's path for an absolute path, or None if the path isn't covered."""
        for prefix, start in self._prefixes.items():
            if path.startswith(prefix) and len(path) > len(prefix):
                return start + path[len(prefix) :]
        return None


def _contains(outer: str, inner: str) -> bool:
    return Path(inner).is_relative_to(outer)


def describe_coverage(history: "FileHistory") -> str:
    """Return a sentence that names uncovered files and the reasons; empty if all files are covered."""
    if history.partial_coverage_reason:
        return msg(
            "Only files written by file tools are covered, because {reason}.",
            reason=as_message(history.partial_coverage_reason),
        )
    uncovered = sorted(history.not_covered.items())
    if not uncovered:
        return ""
    named = ", ".join(f"{display_path(path)} ({reason})" for path, reason in uncovered[:_MAX_NAMED])
    more = msg(" and {rest} more", rest=len(uncovered) - _MAX_NAMED) if len(uncovered) > _MAX_NAMED else ""
    return msg("Not covered: {names}{more}.", names=named, more=more)


def list_uncovered(history: "FileHistory") -> list[str]:
    """Return one line for each path that isn't covered."""
    lines = [describe_coverage(history)] if history.partial_coverage_reason else []
    uncovered = sorted(history.not_covered.items())
    lines += [
        msg("not covered: {path} ({reason})", path=display_path(path), reason=as_message(reason))
        for path, reason in uncovered[:_MAX_LISTED]
    ]
    if len(uncovered) > _MAX_LISTED:
        lines.append(msg("not covered: {count} more", count=len(uncovered) - _MAX_LISTED))
    return lines
