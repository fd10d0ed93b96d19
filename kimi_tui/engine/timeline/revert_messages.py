"""Messages about reverts: notes for the model, and the files of a plan for front ends."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from kimi_tui.base.message import Message
from kimi_tui.base.message_text import as_message, msg
from kimi_tui.engine.files.coverage import display_path, unique_path
from kimi_tui.engine.timeline.file_diff import DIFF_ON_REQUEST, MAX_DIFFS, build_diff
from kimi_tui.history.message_history import is_note
from kimi_tui.history.snapshots.plan import Plan, PlanItem
from kimi_tui.wire.timeline import PlannedAction, PlannedChoice, PlannedFile, RevertReason, RevertScope

if TYPE_CHECKING:
    from kimi_tui.history.snapshots.file_history import FileHistory
    from kimi_tui.history.snapshots.plan_executor import ExecutionResult

_LARGE_BYTES = 200_000
"""Total size of a file's versions in bytes above which a comparison is slow."""
_MAX_LARGE_BYTES = 10 << 20
"""Maximum total size in bytes of large files' versions that are compared before a plan is shown."""
_MAX_LISTED = 40
"""Maximum number of files listed in a note."""


def build_planned_files(history: "FileHistory", plan: Plan) -> tuple[PlannedFile, ...]:
    """Return the plan's files in the form that front ends show.

    If a plan has many or large files, some have no diff and hunks.
    """
    files, left = [], _MAX_LARGE_BYTES
    for number, item in enumerate(plan.items):
        size = _compared_bytes(item)
        if size > _LARGE_BYTES:
            left -= size
        is_compared = number < MAX_DIFFS and (size <= _LARGE_BYTES or left >= 0)
        files.append(build_planned_file(history, item) if is_compared else build_file_without_diff(item))
    return tuple(files)


def _compared_bytes(item: PlanItem) -> int:
    entries = [item.now, item.then, *(version.then for version in item.versions)]
    return sum(entry.size for entry in entries if entry is not None and entry.kind == "file")


def build_planned_file(history: "FileHistory", item: PlanItem) -> PlannedFile:
    """Return a planned file with its diff and hunks."""
    from kimi_tui.engine.timeline.planned_hunks import build_choices, build_hunks

    file = build_file_without_diff(item)
    choices = build_choices(history, item, file.path)
    diff, no_diff = None, ""
    if item.action != "not covered":
        diff, no_diff = build_diff(history, item)
    return replace(
        file,
        diff=diff,
        no_diff=no_diff,
        hunks=() if choices else build_hunks(history, item, file.path),
        choices=choices,
        choice=item.default_choice if choices else None,
        is_on_request=False,
    )


def build_file_without_diff(item: PlanItem) -> PlannedFile:
    """Return a planned file whose diff and hunks are sent on request."""
    return PlannedFile(
        display_item_path(item),
        item.action,
        added=item.added,
        removed=item.removed,
        ticked=item.is_selected,
        note=item.note,
        by=item.by,
        no_diff=DIFF_ON_REQUEST if item.action != "not covered" else "",
        choices=tuple(PlannedChoice(it.choice) for it in item.versions),
        choice=item.default_choice if item.versions else None,
        renamed_to=_display_as(item, item.renamed_to) if item.renamed_to else "",
        is_on_request=item.action != "not covered",
        is_saved=item.is_saved,
    )


def build_reviewed_file(history: "FileHistory", item: PlanItem) -> PlannedFile:
    """Return a file of a review with its diff and hunks. Its action undoes the whole change."""
    return _as_reviewed(history, item, build_planned_file(history, item))


def build_reviewed_files(history: "FileHistory", plan: Plan) -> tuple[PlannedFile, ...]:
    """Return the files of a review, without diffs and hunks. Line counts are those of the whole change."""
    return tuple(_as_reviewed(history, item, build_file_without_diff(item)) for item in plan.items)


def _as_reviewed(history: "FileHistory", item: PlanItem, file: PlannedFile) -> PlannedFile:
    if item.action == "not covered":
        return file
    whole = next((it for it in item.versions if it.choice == "checkpoint"), None)
    then = whole.then if whole is not None else item.then
    action: PlannedAction = "restore"
    if then is None or item.now is None:
        action = "delete" if then is None else "recreate"
    elif item.renamed_to:
        action = "rename"
    if whole is None:
        return replace(file, action=action)
    from kimi_tui.engine.timeline.planned_hunks import find_changes

    hunks = find_changes(history.contents(item.now, then), file.path)
    added, removed = sum(hunk.added for hunk in hunks), sum(hunk.removed for hunk in hunks)
    return replace(file, action=action, added=added, removed=removed)


def incomplete_note(plan: Plan) -> str:
    """Return a sentence about changes that `plan` may not contain; empty if `plan` is complete."""
    if not plan.incomplete:
        return ""
    return msg(
        "This preview is incomplete, because {reason}. Changes to files that weren't stored before are "
        "unknown.",
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
    """Return the note for the model about a revert. None: the model needs no note."""
    done = set(outcome.done)
    changed = sorted(done)
    items = plan.items if plan is not None else ()
    unchanged = [item.path for item in items if item.path not in done]
    if reason == "adopt":
        if not changed:
            return None
        return (
            "The user adopted file changes from another attempt at this task, made in a copy of the files. "
            f"Changed on disk: {_join_paths(changed)}. Read a file again before you rely on what you "
            "remember of it."
        )
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
    """Return the user's first prompt; None if a response comes first."""
    for message in messages:
        if message.role != "user":
            return None
        if not is_note(message):
            return message
    return None


def _join_paths(paths: Sequence[str]) -> str:
    more = msg(" and {rest} more", rest=len(paths) - _MAX_LISTED) if len(paths) > _MAX_LISTED else ""
    return ", ".join(map(display_path, paths[:_MAX_LISTED])) + more
