"""Comparison of the files at two checkpoints, or at one checkpoint and now."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.message_text import msg
from kimi_tui.engine.files.coverage import describe_coverage
from kimi_tui.engine.files.session_files import SessionFiles
from kimi_tui.engine.timeline.file_diff import DIFF_ON_REQUEST, MAX_DIFFS, build_diff
from kimi_tui.engine.timeline.revert_messages import display_item_path
from kimi_tui.engine.timeline.revert_target import find_checkpoint, unavailable_reason
from kimi_tui.engine.timeline.shown_plans import ShownPlans
from kimi_tui.history.checkpoint_tree import CheckpointTree
from kimi_tui.history.context import Context
from kimi_tui.history.snapshots.entry import Changes
from kimi_tui.history.snapshots.plan import Action, Plan, PlanItem
from kimi_tui.wire.timeline import ComparedFile, Comparison

if TYPE_CHECKING:
    from kimi_tui.history.snapshots.file_history import FileHistory

_CHANGE_KINDS: dict[str, Literal["added", "removed", "changed"]] = {"recreate": "added", "delete": "removed"}


async def compare_checkpoints(
    context: Context, files: SessionFiles, before: int, after: int | None, *, shown_plans: ShownPlans
) -> Comparison:
    """Return the differences between files. Diffs after the first `MAX_DIFFS` can be read from `shown_plans`.

    Raises KimiTuiError if a checkpoint doesn't exist, and SessionError.
    """
    states = resolve_states(await context.tree(), before, after)
    if isinstance(states, Comparison):
        return states
    try:
        differences, note = await files.worker.use(_find_differences, states)
        shown = shown_plans.add_if_long(differences)
        return await files.worker.use(build_comparison, before, after, differences, note=note, shown=shown)
    except KimiTuiError as error:
        return Comparison(before, after, note=str(error))


def resolve_states(tree: CheckpointTree, before: int, after: int | None) -> list[str] | Comparison:
    """Return the file states at the checkpoints. If a state is unknown, return a comparison with the reason.

    Raises KimiTuiError if a checkpoint doesn't exist.
    """
    states = [find_checkpoint(tree, number).files for number in (before, after) if number is not None]
    reason = next(filter(None, map(unavailable_reason, states)), "")
    return Comparison(before, after, note=reason) if reason else states


def _find_differences(history: "FileHistory", states: list[str]) -> "tuple[Plan, str]":
    """Return the differences from the first state to the second or current one, and a note on coverage."""
    if len(states) > 1:
        return find_differences(history, *states), ""
    return find_differences(history, states[0], history.capture().manifest), describe_coverage(history)


def find_differences(history: "FileHistory", old: str, new: str) -> "Plan":
    """Return the differences from the state `old` to `new`.

    Raises KimiTuiError if a state is no longer stored.
    """
    return Plan(new, old, tuple(history.difference(old, new)))


def build_comparison(
    history: "FileHistory",
    before: int,
    after: int | None,
    differences: "Plan",
    *,
    note: str = "",
    shown: str = "",
    n_diffs: int | None = MAX_DIFFS,
) -> Comparison:
    """Return the differences in the form that front ends show.

    Only the first `n_diffs` files have diffs; None: all files. `shown` is the ID of the shown plan from which
    the other diffs can be read. If `shown` is empty, the other files have the reason why their diff is
    missing.
    """
    return Comparison(
        before,
        after,
        tuple(
            _build_compared_file(
                history, item, has_diff=n_diffs is None or number < n_diffs, is_on_request=bool(shown)
            )
            for number, item in enumerate(differences.items)
        ),
        note,
        shown,
    )


def compare_states(
    history: "FileHistory",
    before: int,
    after: int | None,
    old: str,
    new: str,
    *,
    n_diffs: int | None = MAX_DIFFS,
) -> Comparison:
    """Return the differences between two states in the form that front ends show. See `build_comparison`.

    Raises KimiTuiError if a state is no longer stored.
    """
    return build_comparison(history, before, after, find_differences(history, old, new), n_diffs=n_diffs)


def find_changed_items(history: "FileHistory", before: Changes, after: Changes) -> list[PlanItem]:
    """Return the differences between entries of the same paths. The entries' contents must be stored."""
    from kimi_tui.history.snapshots.planning.planner import count_changed_lines, text_of

    items = []
    for path in sorted(after):
        now, then = before.get(path), after[path]
        old, new = text_of(history.blobs, now), text_of(history.blobs, then)
        added, removed = (0, 0) if old is None or new is None else count_changed_lines(old, new)
        action: Action = "delete" if then is None else "recreate" if now is None else "restore"
        items.append(PlanItem(path=path, action=action, now=now, then=then, added=added, removed=removed))
    return items


def compare_items(
    history: "FileHistory", items: Sequence[PlanItem], *, n_diffs: int | None = MAX_DIFFS
) -> tuple[ComparedFile, ...]:
    """Return items in the form that front ends show. After the first `n_diffs`, diffs are sent on request."""
    return tuple(
        _build_compared_file(
            history, item, has_diff=n_diffs is None or number < n_diffs, is_on_request=n_diffs is not None
        )
        for number, item in enumerate(items)
    )


def _build_compared_file(
    history: "FileHistory", item: PlanItem, *, has_diff: bool, is_on_request: bool
) -> ComparedFile:
    path = display_item_path(item)
    if item.action == "not covered":
        return ComparedFile(path, "not covered", note=item.note, by=item.by)
    diff, no_diff = None, ""
    if has_diff:
        diff, no_diff = build_diff(history, item)
    elif is_on_request:
        no_diff = DIFF_ON_REQUEST
    else:
        no_diff = msg("No diff: only the first {count} files have one.", count=MAX_DIFFS)
    return ComparedFile(
        path,
        _CHANGE_KINDS.get(item.action, "changed"),
        item.added,
        item.removed,
        diff,
        by=item.by,
        no_diff=no_diff,
        is_on_request=not has_diff and is_on_request,
    )
