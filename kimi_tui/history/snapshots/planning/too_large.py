"""Files that are too large to be stored."""

from typing import TypeGuard

from kimi_tui.base.message_text import as_message, msg
from kimi_tui.history.snapshots.entry import Entry


def is_too_large(entry: Entry | None) -> TypeGuard[Entry]:
    """Return whether an entry is a regular file whose content isn't stored because of a limit."""
    return entry is not None and entry.kind == "omitted" and entry.version != 0


def describe_not_storable(now: Entry) -> str:
    """Return the warning about a file whose current content isn't stored because of a limit."""
    return msg(
        "its current content can't be stored ({reason}), so an undo can't restore it",
        reason=as_message(now.ref),
    )
