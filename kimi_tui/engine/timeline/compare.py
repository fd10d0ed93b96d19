"""Comparison of the files at two checkpoints, or at one checkpoint and now."""

from typing import TYPE_CHECKING, Literal

from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.message_text import msg
from kimi_tui.engine.files.coverage import describe_coverage
from kimi_tui.engine.files.session_files import SessionFiles
from kimi_tui.engine.timeline.file_diff import MAX_DIFFS, build_diff
from kimi_tui.engine.timeline.revert_messages import display_item_path
from kimi_tui.engine.timeline.revert_target import find_checkpoint, unavailable_reason
from kimi_tui.history.checkpoint_tree import CheckpointTree
from kimi_tui.history.context import Context
from kimi_tui.history.snapshots.entry import Changes
from kimi_tui.history.snapshots.plan import Action, PlanItem
from kimi_tui.wire.timeline import ComparedFile, Comparison

if TYPE_CHECKING:
    from kimi_tui.history.snapshots.file_history import FileHistory

_CHANGE_KINDS: dict[str, Literal["added", "removed", "changed"]] = {"recreate": "added", "delete": "removed"}


async def compare_checkpoints(
    context: Context, files: SessionFiles, before: int, after: int | None
) -> Comparison:
    """Return how the files differ.

    Raises: KimiTuiError if a checkpoint doesn't exist. SessionError.
    """
    states = resolve_states(await context.tree(), before, after)
    if isinstance(states, Comparison):
        return states
    try:
        return await files.worker.use(_compare_resolved_states, before, after, states)
    except KimiTuiError as error:
        return Comparison(before, after, note=str(error))


def resolve_states(tree: CheckpointTree, before: int, after: int | None) -> list[str] | Comparison:
    """Return the file states at the checkpoints, or a comparison whose note says why one is unknown.

    Raises: KimiTuiError if a checkpoint doesn't exist.
    """
    states = [find_checkpoint(tree, number).files for number in (before, after) if number is not None]
    reason = next(filter(None, map(unavailable_reason, states)), "")
    return Comparison(before, after, note=reason) if reason else states


def _compare_resolved_states(
    history: "FileHistory", before: int, after: int | None, states: list[str]
) -> Comparison:
    if after is not None:
        return compare_states(history, before, after, *states)
    latest = history.capture().manifest
    return compare_states(history, before, after, states[0], latest, note=describe_coverage(history))


def compare_states(
    history: "FileHistory", before: int, after: int | None, old: str, new: str, *, note: str = ""
) -> Comparison:
    """Return how the files differ between two states.

    Raises: KimiTuiError if one of the states is no longer stored.
    """
    differing = tuple(
        _build_compared_file(history, item, number=number)
        for number, item in enumerate(history.difference(old, new))
    )
    return Comparison(before, after, differing, note)


def compare_items(history: "FileHistory", before: Changes, after: Changes) -> tuple[ComparedFile, ...]:
    """Return how entries of the same paths differ. Their contents must be stored."""
    from kimi_tui.history.snapshots.planning.planner import count_changed_lines, text_of

    files = []
    for number, path in enumerate(sorted(after)):
        now, then = before.get(path), after[path]
        old, new = text_of(history.blobs, now), text_of(history.blobs, then)
        added, removed = (0, 0) if old is None or new is None else count_changed_lines(old, new)
        action: Action = "delete" if then is None else "recreate" if now is None else "restore"
        item = PlanItem(path=path, action=action, now=now, then=then, added=added, removed=removed)
        files.append(_build_compared_file(history, item, number=number))
    return tuple(files)


def _build_compared_file(history: "FileHistory", item: PlanItem, *, number: int) -> ComparedFile:
    path = display_item_path(item)
    if item.action == "not covered":
        return ComparedFile(path, "not covered", note=item.note, by=item.by)
    if number < MAX_DIFFS:
        diff, no_diff = build_diff(history, item)
    else:
        diff, no_diff = None, msg("No diff: only the first {count} files have one.", count=MAX_DIFFS)
    change = _CHANGE_KINDS.get(item.action, "changed")
    return ComparedFile(path, change, item.added, item.removed, diff, by=item.by, no_diff=no_diff)
