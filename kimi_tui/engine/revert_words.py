"""What is said about a revert: to the model, and in a front end's plan."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kimi_tui.base.message import Message
from kimi_tui.engine.coverage import shown_path
from kimi_tui.history.conversation import is_note
from kimi_tui.wire.display import DiffBlock
from kimi_tui.wire.timeline import PlannedFile, RevertReason, RevertScope

if TYPE_CHECKING:
    from kimi_tui.history.snapshots.execution import Outcome
    from kimi_tui.history.snapshots.file_history import FileHistory
    from kimi_tui.history.snapshots.plan import Plan, PlanItem

_LISTED = 40
"""How many files a note names."""
_DIFFS = 100
_DIFF_CHARACTERS = 100_000
"""So many diffs of so much text go with a plan."""


def planned_files(history: "FileHistory", plan: "Plan") -> tuple[PlannedFile, ...]:
    """The plan's files as front ends see them."""
    files = []
    for number, item in enumerate(plan.items):
        diff = _diff(history, item) if number < _DIFFS else None
        files.append(
            PlannedFile(
                shown_item(item),
                item.action,
                added=item.added,
                removed=item.removed,
                ticked=item.is_ticked,
                note=item.note,
                diff=diff,
                by=item.by,
            )
        )
    return tuple(files)


def shown_item(item: "PlanItem") -> str:
    """The path of a plan's item as front ends show it: that of a folder ends in a slash."""
    kinds = {entry.kind for entry in (item.now, item.then) if entry is not None}
    return f"{shown_path(item.path)}/" if kinds == {"folder"} else shown_path(item.path)


def _diff(history: "FileHistory", item: "PlanItem") -> DiffBlock | None:
    if item.action == "not covered" or (texts := history.texts(item)) is None:
        return None
    if texts[0] == texts[1] or sum(map(len, texts)) > _DIFF_CHARACTERS:
        return None
    return DiffBlock(shown_path(item.path), *texts)


def note_to_model(
    reason: RevertReason, scope: RevertScope, plan: "Plan | None", outcome: "Outcome"
) -> str | None:
    """What the model has to know of a revert; None when nothing is other than it remembers."""
    done = set(outcome.done)
    changed = sorted(done)
    items = plan.items if plan is not None else ()
    unchanged = [item.path for item in items if item.path not in done]
    if scope == "both" and reason == "user" and not changed and not unchanged:
        return None
    if scope == "both" and reason != "user" and not unchanged:
        return None
    what = {
        "both": "The user took the conversation back to this point.",
        "conversation": "The user took the conversation back to this point, and left the files as they were.",
        "files": "The user took files back to an earlier state; the conversation goes on.",
        "turn": "The user took back what one earlier turn did to the files; the conversation goes on.",
    }[scope]
    sentences = [what]
    if changed:
        sentences.append(f"Changed on disk by that: {_listed(changed)}.")
    if unchanged:
        sentences.append(f"Not as they were at this point, since they were kept: {_listed(unchanged)}.")
    sentences.append("Read a file again before you rely on what you remember of it.")
    return " ".join(sentences)


def note_of_user(text: str) -> str:
    """How the model is told what the user left for it; empty when there is nothing."""
    if not text.strip():
        return ""
    return f"The user came back to this point in time and left you this message. Act on it: {text.strip()}"


def request_in(messages: Sequence[Message]) -> Message | None:
    """What the user said first, before any answer."""
    for message in messages:
        if message.role != "user":
            return None
        if not is_note(message):
            return message
    return None


def _listed(paths: Sequence[str]) -> str:
    more = f" and {len(paths) - _LISTED} more" if len(paths) > _LISTED else ""
    return ", ".join(map(shown_path, paths[:_LISTED])) + more
