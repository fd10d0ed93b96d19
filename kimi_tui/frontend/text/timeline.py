"""Text of plans, comparisons, patches, reverts and forks."""

import shlex
from collections.abc import Sequence
from typing import assert_never

from kimi_tui.base.terminal_text import sanitize_line
from kimi_tui.frontend.text.cell_width import pad_right
from kimi_tui.i18n.translate import tr, tr_lazy, tr_n, translate_message
from kimi_tui.wire.timeline import (
    Comparison,
    PatchWritten,
    PlannedAction,
    PlannedFile,
    PlannedHunk,
    Reverted,
    RevertPlan,
    SessionForked,
)

_MAX_NAMED_FILES = 20
"""Maximum number of files to list in a line."""
_ACTION_LABELS: dict[PlannedAction, str] = {
    "restore": tr_lazy("restore"),
    "delete": tr_lazy("delete"),
    "recreate": tr_lazy("recreate"),
    "rename": tr_lazy("rename back"),
    "merge": tr_lazy("merge"),
    "conflict": tr_lazy("conflict, kept"),
    "keep": tr_lazy("keep"),
    "not covered": tr_lazy("not covered"),
}


def plan_text(plan: RevertPlan) -> tuple[str, str]:
    """Return the headline, and a line for each file and each command that can't be reverted."""
    lines = [
        f"{pad_right(tr(_ACTION_LABELS[file.action]), 15)}{file.names}"
        f"  +{file.added} −{file.removed}"
        f"{f'  ({translate_message(file.note)})' if file.note else ''}"
        + "".join(f"\n{line}" for line in file_option_lines(file))
        for file in plan.files
    ]
    if plan.note or not lines:
        lines.insert(0, translate_message(plan.note) or tr("No files change."))
    lines += map(translate_message, plan.remarks)
    if saved := saved_versions_note(plan):
        lines.append(saved)
    if plan.commands:
        lines.append(tr("Other effects of these commands are not reverted:"))
        lines += [f"  $ {command}" for command in plan.commands]
    return _headline(plan), "\n".join(lines)


def saved_versions_note(plan: RevertPlan) -> str:
    """Return a note about saving the user's versions of replaced files. Empty if none would be saved."""
    if plan.saved_in is None or not any(file.is_saved for file in plan.files):
        return ""
    return tr(
        "If you replace your version of a file, it is saved in checkpoint {number}. /diff {number} shows it, "
        "/revert {number} files --only FILE restores it.",
        number=plan.saved_in,
    )


def saved_versions_text(reverted: Reverted) -> str:
    """Return where a revert saved the user's versions of files. Empty if it replaced no files of the user."""
    if not reverted.saved:
        return ""
    return tr(
        "Your version is saved in checkpoint {number}: {files}. To restore it: {command}",
        number=reverted.from_,
        files=_format_paths(reverted.saved),
        command=sanitize_line(restore_saved_command(reverted)),
    )


def restore_saved_command(reverted: Reverted) -> str:
    """Return the command that restores a saved file. If several are saved, the path is a placeholder."""
    path = shlex.quote(reverted.saved[0]) if len(reverted.saved) == 1 else "FILE"
    return f"/revert {reverted.from_} files --only {path}"


def file_option_lines(file: PlannedFile) -> list[str]:
    """Return lines with the values of `--choose` and `--hunks` for a file. Empty if it has no choices."""
    lines = []
    if file.choices:
        names = ", ".join(
            tr("{choice} (default)", choice=it.choice) if it.choice == file.choice else it.choice
            for it in file.choices
        )
        lines.append("    " + tr("choices: {names}", names=names))
    for planned in file.choices or (None,):
        hunks = file.hunks if planned is None else planned.hunks
        if len(hunks) < 2:
            continue
        if planned is not None:
            lines.append("    " + tr("hunks of {choice}:", choice=planned.choice))
        lines += [
            "    "
            + tr("hunk {number}: line {line}", number=number, line=_first_line(hunk))
            + f"  +{hunk.added} −{hunk.removed}"
            for number, hunk in enumerate(hunks, 1)
        ]
    return lines


def _first_line(hunk: PlannedHunk) -> int:
    """Return the number of the first changed line in the current file."""
    pairs = zip(hunk.diff.old_text.split("\n"), hunk.diff.new_text.split("\n"), strict=False)
    equal = next((number for number, (old, new) in enumerate(pairs) if old != new), 0)
    return hunk.diff.old_start + equal


def _headline(plan: RevertPlan) -> str:
    match plan.reason:
        case "adopt":
            return tr("Preview: adopt the changes of attempts.")
        case "user":
            return tr("Preview: revert to checkpoint {to}. Use /revert {to} to apply it.", to=plan.to)
        case "undo":
            return tr("Preview: undo the last revert. Use /undo to apply it.")
        case "redo":
            return tr("Preview: redo the last undone revert. Use /redo to apply it.")
        case "dmail" | "switch" | "compaction" | "clear":
            return tr("Preview: switch to checkpoint {to}.", to=plan.to)
        case _:
            assert_never(plan.reason)


def comparison_text(comparison: Comparison) -> tuple[str, str]:
    """Return the headline, and a line for each file that differs."""
    after = tr("now") if comparison.after is None else tr("checkpoint {number}", number=comparison.after)
    lines = [
        f"{pad_right(translate_message(file.change), 15)}{file.path}  +{file.added} −{file.removed}"
        f"{f'  ({translate_message(file.note)})' if file.note else ''}"
        for file in comparison.files
    ]
    if comparison.note:
        lines.append(translate_message(comparison.note))
    headline = tr("Changes from checkpoint {before} to {after}:", before=comparison.before, after=after)
    return headline, "\n".join(lines) or tr("No changes.")


def patch_text(written: PatchWritten) -> tuple[str, str]:
    """Return the path of the patch, and how to use it."""
    headline = tr_n(
        "Patch of {count} file: {path}", "Patch of {count} files: {path}", written.files, path=written.path
    )
    lines = [tr("Apply it with git apply. Undo it with git apply --reverse.")]
    if written.left_out:
        lines.append(tr("Not included:"))
        lines += [f"  {translate_message(path)}" for path in written.left_out]
    return headline, "\n".join(lines)


def revert_text(reverted: Reverted) -> tuple[str, str]:
    """Return the target of the revert, and the files that changed or were kept."""
    lines = []
    if reverted.files:
        lines.append(tr("Files changed: {files}", files=_format_paths(reverted.files)))
    if reverted.kept:
        lines.append(tr("Files kept: {files}", files=_format_paths(reverted.kept)))
    if saved := saved_versions_text(reverted):
        lines.append(saved)
    return _revert_headline(reverted), "\n".join(lines)


def _revert_headline(reverted: Reverted) -> str:
    match reverted.reason:
        case "undo":
            return tr("Revert undone: checkpoint {number}", number=reverted.to)
        case "redo":
            return tr("Revert redone: checkpoint {number}", number=reverted.to)
        case "switch":
            return tr("Switched to checkpoint {number}", number=reverted.to)
        case "adopt":
            return tr("Attempt adopted.")
        case "user" | "dmail" | "compaction" | "clear":
            return tr("Reverted to checkpoint {number}", number=reverted.to)
        case _:
            assert_never(reverted.reason)


def _format_paths(paths: Sequence[str]) -> str:
    names = ", ".join(map(sanitize_line, paths[:_MAX_NAMED_FILES]))
    more = len(paths) - _MAX_NAMED_FILES
    return tr("{names} and {count} more", names=names, count=more) if more > 0 else names


def fork_text(fork: SessionForked) -> tuple[str, str]:
    """Return the title of the fork, and how to open it."""
    title = fork.title or fork.session_id
    return (
        tr("Forked the session: “{title}”", title=title)
        if fork.at is None
        else tr("Forked from checkpoint {at}: “{title}”", at=fork.at, title=title),
        tr("Open the fork with: kimi-tui --session {session_id}", session_id=fork.session_id),
    )
