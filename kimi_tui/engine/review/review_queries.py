"""Queries of the file history for reviews. All queries block."""

from collections.abc import Sequence
from dataclasses import replace

from kimi_tui.base.errors import UsageError
from kimi_tui.base.message_text import msg
from kimi_tui.engine.timeline.revert_messages import build_planned_file, build_reviewed_file
from kimi_tui.engine.timeline.shown_plans import ShownPlan
from kimi_tui.history.snapshots.file_history import FileHistory
from kimi_tui.history.snapshots.plan import Plan
from kimi_tui.wire.review import PlannedFileContent
from kimi_tui.wire.timeline import ConflictChoice, FileChoice


def read_planned_file(history: FileHistory, shown: ShownPlan, path: str) -> PlannedFileContent:
    """Return a file of a plan with its diff and hunks. Raises KimiTuiError."""
    number, item = shown.find(path)
    build = build_reviewed_file if shown.is_review else build_planned_file
    file = build(history, item)
    return PlannedFileContent(
        plan=shown.id, number=number, file=file, can_revert=shown.is_review and shown.is_now
    )


def plan_between(history: FileHistory, old: str, new: str) -> Plan:
    """Return the plan that leads from the state `new` back to `old`, with the author of each change.

    Raises KimiTuiError.
    """
    authors = {item.path: item.by for item in history.difference(old, new)}
    items = history.difference(new, old)
    return Plan(old, new, tuple(replace(item, by=authors.get(item.path, "")) for item in items))


def find_choices(history: FileHistory, shown: ShownPlan, names: Sequence[str]) -> tuple[FileChoice, ...]:
    """Return the choices for hunk numbers such as `2.1`: file 2, hunk 1. Raises UsageError.

    The numbers are those that the review shows, even if hunks have been reverted since.
    """
    numbers: dict[int, list[str]] = {}
    for name in names:
        file, _, hunk = name.partition(".")
        if not (file.isdecimal() and len(file) < 9 and 0 < int(file) <= len(shown.plan.items)):
            raise _unknown_hunk(name)
        numbers.setdefault(int(file), []).append(hunk)
    return tuple(_choice(history, shown, file, hunks) for file, hunks in numbers.items())


def _choice(history: FileHistory, shown: ShownPlan, number: int, hunks: Sequence[str]) -> FileChoice:
    file = build_planned_file(history, shown.plan.items[number - 1])
    choice: ConflictChoice | None = "checkpoint" if file.choices else None
    if "" in hunks:
        return FileChoice(file.path, choice)
    whole = next((it.hunks for it in file.choices if it.choice == choice), file.hunks)
    ids = {str(at): hunk.id for at, hunk in enumerate(whole, 1)}
    for hunk in hunks:
        if hunk not in ids:
            raise _unknown_hunk(f"{number}.{hunk}")
    return FileChoice(file.path, choice, tuple(ids[hunk] for hunk in hunks))


def _unknown_hunk(name: str) -> UsageError:
    return UsageError(msg("The review has no hunk {name}.", name=name), hint="Type numbers such as 2.1.")
