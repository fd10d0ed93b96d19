"""Hunks and choices of planned files, as front ends see them."""

from collections.abc import Sequence

from kimi_tui.history.snapshots.entry import Entry
from kimi_tui.history.snapshots.file_history import FileHistory
from kimi_tui.history.snapshots.hunk import find_hunks, split_lines
from kimi_tui.history.snapshots.plan import ItemVersion, PlanItem
from kimi_tui.wire.display_blocks import DiffBlock
from kimi_tui.wire.timeline import PlannedAction, PlannedChoice, PlannedHunk

_CONTEXT_LINES = 3
_MAX_BYTES = 200_000
"""Maximum total size of a file's hunks in bytes. Larger hunks aren't listed."""


def build_choices(history: FileHistory, item: PlanItem, path: str) -> tuple[PlannedChoice, ...]:
    """Return the choices for a file that both the agent and the user changed; empty for other files.

    `path` is the file's path in the plan.
    """
    choices = []
    for version in item.versions:
        hunks = find_changes(history.contents(item.now, version.then), path)
        added, removed = sum(hunk.added for hunk in hunks), sum(hunk.removed for hunk in hunks)
        action = _action(version, item.now)
        choices.append(PlannedChoice(version.choice, added, removed, hunks, action))
    return tuple(choices)


def build_hunks(history: FileHistory, item: PlanItem, path: str) -> tuple[PlannedHunk, ...]:
    """Return the hunks of a file's planned change; empty if the change can't be shown by lines."""
    if item.action == "not covered":
        return ()
    return find_changes(history.contents(item.now, item.then), path)


def _action(version: ItemVersion, now: Entry | None) -> PlannedAction:
    if version.choice == "mine":
        return "keep"
    if version.then is None:
        return "delete"
    if now is None:
        return "recreate"
    return "restore" if version.choice == "checkpoint" else "merge"


def find_changes(texts: tuple[bytes, bytes] | None, path: str) -> tuple[PlannedHunk, ...]:
    """Return the hunks that turn one text into the other; empty without texts or above _MAX_BYTES."""
    if texts is None:
        return ()
    old, new = split_lines(texts[0]), split_lines(texts[1])
    hunks = find_hunks(*texts)
    built, size = [], 0
    for number, hunk in enumerate(hunks):
        first = hunks[number - 1].old_end if number else 0
        last = hunks[number + 1].old_start if number + 1 < len(hunks) else len(old)
        before = old[max(first, hunk.old_start - _CONTEXT_LINES) : hunk.old_start]
        after = old[hunk.old_end : min(last, hunk.old_end + _CONTEXT_LINES)]
        removed, added = old[hunk.old_start : hunk.old_end], new[hunk.new_start : hunk.new_end]
        diff = DiffBlock(
            path,
            _decode([*before, *removed, *after]),
            _decode([*before, *added, *after]),
            hunk.old_start - len(before) + 1,
            hunk.new_start - len(before) + 1,
        )
        size += sum(map(len, (*before, *removed, *added, *after)))
        if size > _MAX_BYTES:
            return ()
        built.append(PlannedHunk(hunk.id, len(added), len(removed), diff))
    return tuple(built)


def _decode(lines: Sequence[bytes]) -> str:
    return b"".join(lines).decode("utf-8", "replace")
