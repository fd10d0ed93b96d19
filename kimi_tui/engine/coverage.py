"""Coverage: what of the files a checkpoint can't bring back, in words; and how their paths are shown."""

from typing import TYPE_CHECKING

from kimi_tui.tools.workspace import showable

if TYPE_CHECKING:
    from kimi_tui.history.snapshots.file_history import FileHistory

_NAMED = 3
"""How many uncovered files a sentence names."""
_LISTED = 100


def shown_path(path: str) -> str:
    """A path of the file history as front ends and models read it."""
    return showable(path.replace("//", "/", 1) if path.startswith("/") else path)


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
