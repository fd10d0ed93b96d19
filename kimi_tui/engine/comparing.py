"""Comparing: how the files differ between two checkpoints, or a checkpoint and now."""

from typing import TYPE_CHECKING, Literal

from kimi_tui.base.errors import KimiTuiError
from kimi_tui.engine.coverage import coverage
from kimi_tui.engine.destination import found, why_no_files
from kimi_tui.engine.revert_words import shown_item
from kimi_tui.engine.session_files import SessionFiles
from kimi_tui.history.context import Context
from kimi_tui.history.tree import Tree
from kimi_tui.wire.display import DiffBlock
from kimi_tui.wire.timeline import ComparedFile, Comparison

if TYPE_CHECKING:
    from kimi_tui.history.snapshots.file_history import FileHistory
    from kimi_tui.history.snapshots.plan import PlanItem

_DIFFS = 100
_DIFF_CHARACTERS = 100_000
"""So many diffs of so much text go with a comparison."""
_CHANGES: dict[str, Literal["added", "removed", "changed"]] = {"recreate": "added", "delete": "removed"}


async def compared(context: Context, files: SessionFiles, before: int, after: int | None) -> Comparison:
    """How the files differ. Raises KimiTuiError when there is no such checkpoint, SessionError."""
    states = states_of(await context.tree(), before, after)
    if isinstance(states, Comparison):
        return states
    try:
        return await files.use(_compared_now, before, after, states)
    except KimiTuiError as error:
        return Comparison(before, after, note=str(error))


def states_of(tree: Tree, before: int, after: int | None) -> list[str] | Comparison:
    """The files' states at the checkpoints; a comparison that says why one is not known.

    Raises KimiTuiError when there is no such checkpoint.
    """
    states = [found(tree, number).files for number in (before, after) if number is not None]
    why = next(filter(None, map(why_no_files, states)), "")
    return Comparison(before, after, note=why) if why else states


def _compared_now(history: "FileHistory", before: int, after: int | None, states: list[str]) -> Comparison:
    if after is not None:
        return compared_states(history, before, after, *states)
    latest = history.capture().manifest
    return compared_states(history, before, after, states[0], latest, note=coverage(history))


def compared_states(
    history: "FileHistory", before: int, after: int | None, old: str, new: str, *, note: str = ""
) -> Comparison:
    """How the files differ between two states. Raises KimiTuiError when one of them isn't kept."""
    differing = tuple(
        _file(history, item, with_diff=number < _DIFFS)
        for number, item in enumerate(history.difference(old, new))
    )
    return Comparison(before, after, differing, note)


def _file(history: "FileHistory", item: "PlanItem", *, with_diff: bool) -> ComparedFile:
    path = shown_item(item)
    if item.action == "not covered":
        return ComparedFile(path, "not covered", note=item.note, by=item.by)
    texts = history.texts(item) if with_diff else None
    diff = None
    if texts is not None and texts[0] != texts[1] and sum(map(len, texts)) <= _DIFF_CHARACTERS:
        diff = DiffBlock(path, *texts)
    change = _CHANGES.get(item.action, "changed")
    return ComparedFile(path, change, item.added, item.removed, diff, by=item.by)
