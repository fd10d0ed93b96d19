"""Application of the user's decision about one file to its plan item."""

from collections.abc import Collection
from dataclasses import replace

from kimi_tui.base.message_text import msg
from kimi_tui.history.snapshots.blob_store import BlobMissing, BlobStore
from kimi_tui.history.snapshots.entry import Entry
from kimi_tui.history.snapshots.hunk import UnknownHunk, apply_hunks, find_hunks
from kimi_tui.history.snapshots.plan import PlanItem
from kimi_tui.history.snapshots.plan_executor import CHANGED_REASON
from kimi_tui.wire.timeline import ConflictChoice, FileChoice


class NotOffered(Exception):
    """The plan doesn't offer the user's choice; the message says why."""


def apply_choice(item: PlanItem, choice: FileChoice, blobs: BlobStore) -> PlanItem:
    """Return `item` with the state that `choice` selects. If the file stays as it is, `then` equals `now`.

    If only some hunks are applied, the new content is stored in `blobs`. Raises NotOffered, OSError.
    """
    then = item.then if choice.choice is None else _version(item, choice.choice)
    if choice.hunks is not None:
        then = _with_hunks(item.now, then, choice.hunks, blobs)
    if then == item.now and (choice.choice == "mine" or choice.hunks == ()):
        return replace(item, then=then, renamed_to="", replaced=None)
    return replace(item, then=then)


def _version(item: PlanItem, choice: ConflictChoice) -> Entry | None:
    versions = {version.choice: version.then for version in item.versions} or {
        "mine": item.now,
        "checkpoint": item.then,
    }
    if choice == "both" and choice not in versions and "merge" in versions:
        choice = "merge"  # the merge has both versions if the changes don't overlap
    if choice not in versions:
        raise NotOffered(msg("the choice “{choice}” isn't possible", choice=choice))
    return versions[choice]


def _with_hunks(
    now: Entry | None, then: Entry | None, ids: Collection[str], blobs: BlobStore
) -> Entry | None:
    if not ids:
        return now
    if any(entry is not None and entry.kind != "file" for entry in (now, then)):
        raise NotOffered(msg("it has no hunks"))
    try:
        old, new = (blobs.read(entry.ref) if entry is not None else b"" for entry in (now, then))
        content = apply_hunks(old, new, _resolve_numbers(old, new, ids))
    except BlobMissing as error:
        raise NotOffered("its content is no longer stored") from error
    except UnknownHunk as error:
        raise NotOffered(CHANGED_REASON) from error
    if content == new:
        return then
    mode = then.mode if then is not None else now.mode if now is not None else 0
    return Entry("file", mode, len(content), blobs.put(content))


def _resolve_numbers(old: bytes, new: bytes, ids: Collection[str]) -> set[str]:
    """Return `ids` with hunk numbers, counted from 1, replaced by ids. Ids are longer than numbers."""
    by_number = {str(number): hunk.id for number, hunk in enumerate(find_hunks(old, new), 1)}
    return {by_number.get(it, it) for it in ids}
