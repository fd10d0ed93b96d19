"""Undo of the agent's changes of one path. Changes by others are kept."""

from kimi_tui.base.message_text import msg
from kimi_tui.history.snapshots.blob_store import BlobStore
from kimi_tui.history.snapshots.entry import Entry
from kimi_tui.history.snapshots.merge3 import MAX_BYTES, Overlap, is_text, merge3
from kimi_tui.history.snapshots.planning.path_history import PathHistory


class UndoConflict(Exception):
    """Two changes that can't be combined; the message says why."""


class ChangeUndo:
    """Undoes changes of paths. Stores the resulting contents in `blobs`."""

    def __init__(self, blobs: BlobStore) -> None:
        self._blobs = blobs

    def undo_agent_changes(self, path_history: PathHistory, overlap: Overlap = "fail") -> Entry | None:
        """Return the newest state without the agent's changes. Raises UndoConflict, BlobMissing, OSError."""
        current = path_history.states[-1]
        for index in range(len(path_history.is_agents) - 1, -1, -1):
            if path_history.is_agents[index]:
                before, after = path_history.states[index], path_history.states[index + 1]
                current = self._undo_change(before, after, current, path_history.other_author, overlap)
        return current

    def _undo_change(
        self,
        before: Entry | None,
        after: Entry | None,
        current: Entry | None,
        other_author: str,
        overlap: Overlap,
    ) -> Entry | None:
        """Return `current` without the change from `before` to `after`.

        `other_author` made the later changes.
        """
        if current == after:
            return before
        if current == before or before == after:
            return current
        if current is None:
            raise UndoConflict(_describe_conflict(before, after, other_author))
        versions = (after, current, before)
        if any(entry is not None and entry.kind != "file" for entry in versions):
            if before is None or after is None:
                raise UndoConflict(_describe_conflict(before, after, other_author))
            raise UndoConflict(msg("changed by both {author} and the agent", author=other_author))
        if any(entry is not None and entry.size > MAX_BYTES for entry in versions):
            raise UndoConflict(_describe_conflict(before, after, other_author, msg("file")))
        contents = [self._blobs.read(entry.ref) if entry is not None else b"" for entry in versions]
        content = merge3(*contents, overlap=overlap)
        is_created = before is None and not content  # without the agent's lines, nothing would be left
        if content is None or (is_created and overlap == "fail"):
            unit = msg("lines") if all(map(is_text, contents)) else msg("file")
            raise UndoConflict(_describe_conflict(before, after, other_author, unit))
        if is_created:
            return None
        has_agents_mode = before is not None and after is not None and current.mode == after.mode
        mode = before.mode if before is not None and has_agents_mode else current.mode
        return Entry("file", mode, len(content), self._blobs.put(content))


def _describe_conflict(
    before: Entry | None, after: Entry | None, other_author: str, unit: str | None = None
) -> str:
    """Return a description of the conflict between a change by the agent and one by `other_author`.

    `unit` names the part that both changed; None if `other_author` deleted the file.
    """
    if before is None:
        return msg("created by the agent, edited by {author}", author=other_author)
    if after is None:
        return msg("deleted by the agent, created again by {author}", author=other_author)
    if unit is None:
        return msg("deleted by {author}", author=other_author)
    return msg("{author} and the agent changed the same {unit}", author=other_author, unit=unit)
