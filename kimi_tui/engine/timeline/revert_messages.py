"""Messages about reverts: notes for the model, and the files of a plan for front ends."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kimi_tui.base.message import Message
from kimi_tui.base.message_text import as_message, msg
from kimi_tui.engine.files.coverage import display_path, unique_path
from kimi_tui.engine.timeline.file_diff import build_diff
from kimi_tui.history.message_history import is_note
from kimi_tui.history.snapshots.plan import Plan, PlanItem
from kimi_tui.wire.timeline import PlannedFile, RevertReason, RevertScope

if TYPE_CHECKING:
    from kimi_tui.history.snapshots.file_history import FileHistory
    from kimi_tui.history.snapshots.plan_executor import ExecutionResult

_MAX_LISTED = 40
"""Maximum number of files listed in a note."""


def build_planned_files(history: "FileHistory", plan: Plan) -> tuple[PlannedFile, ...]:
    """Return the plan's files as front ends see them."""
    from kimi_tui.engine.timeline.planned_hunks import build_choices, build_hunks

    files = []
    for number, item in enumerate(plan.items):
        path = display_item_path(item)
        choices = build_choices(history, item, path, number=number)
        diff, no_diff = None, ""
        if item.action != "not covered":
            diff, no_diff = build_diff(history, item, number=number)
        files.append(
            PlannedFile(
                path,
                item.action,
                added=item.added,
                removed=item.removed,
                ticked=item.is_selected,
                note=item.note,
                diff=diff,
                by=item.by,
                no_diff=no_diff,
                hunks=() if choices else build_hunks(history, item, path, number=number),
                choices=choices,
                choice=item.default_choice if choices else None,
                renamed_to=_display_as(item, item.renamed_to) if item.renamed_to else "",
            )
        )
    return tuple(files)


def incomplete_note(plan: Plan) -> str:
    """Return a sentence about what `plan` may lack; empty if it is complete."""
    if not plan.incomplete:
        return ""
    return msg(
        "This plan is incomplete, because {reason}. Changes of files that weren't stored before are unknown.",
        reason=as_message(plan.incomplete),
    )


def display_item_path(item: PlanItem) -> str:
    """Return the unique path of a plan item for display. The path of a directory ends in a slash."""
    return _display_as(item, item.path)


def _display_as(item: PlanItem, path: str) -> str:
    kinds = {entry.kind for entry in (item.now, item.then) if entry is not None}
    return f"{unique_path(path)}/" if kinds == {"folder"} else unique_path(path)


def model_note(
    reason: RevertReason, scope: RevertScope, plan: Plan | None, outcome: "ExecutionResult"
) -> str | None:
    """Return what the model needs to know about a revert, or None if everything is as it remembers."""
    done = set(outcome.done)
    changed = sorted(done)
    items = plan.items if plan is not None else ()
    unchanged = [item.path for item in items if item.path not in done]
    if scope == "both" and reason == "user" and not changed and not unchanged:
        return None
    if scope == "both" and reason != "user" and not unchanged:
        return None
    what = {
        "both": "The user reverted the conversation to this point.",
        "conversation": "The user reverted the conversation to this point, but not the files.",
        "files": "The user reverted files to an earlier state. The conversation continues.",
        "turn": "The user reverted the file changes of one earlier turn. The conversation continues.",
    }[scope]
    sentences = [what]
    if changed:
        sentences.append(f"Changed on disk by the revert: {_join_paths(changed)}.")
    if unchanged:
        sentences.append(f"Different from then, but not reverted: {_join_paths(unchanged)}.")
    sentences.append("Read a file again before you rely on what you remember of it.")
    return " ".join(sentences)


def user_note(text: str) -> str:
    """Return the note that passes the user's message on to the model; empty if `text` is blank."""
    if not text.strip():
        return ""
    return f"The user reverted to this point and left you this message. Act on it: {text.strip()}"


def first_prompt(messages: Sequence[Message]) -> Message | None:
    """Return the user's first prompt, if it comes before any response."""
    for message in messages:
        if message.role != "user":
            return None
        if not is_note(message):
            return message
    return None


def _join_paths(paths: Sequence[str]) -> str:
    more = msg(" and {rest} more", rest=len(paths) - _MAX_LISTED) if len(paths) > _MAX_LISTED else ""
    return ", ".join(map(display_path, paths[:_MAX_LISTED])) + more
