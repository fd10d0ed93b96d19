"""Summary of a command's effects for the user: its result, the changed files and their diffs."""

import os
import stat
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from kimi_tui.base.frozen import frozen
from kimi_tui.base.message_text import msg, msg_n
from kimi_tui.permission.effect_review import EffectReview, PathChange, changed_files, is_git_data
from kimi_tui.permission.git_later_programs import find_later_programs
from kimi_tui.tools.file.diff import FileDiff, build_diff, summary_diff
from kimi_tui.tools.file.text_document import UndecodableFile, decode_document
from kimi_tui.tools.path_scope import PathScope, printable_name
from kimi_tui.tools.shell.background_command import format_exit_status
from kimi_tui.tools.shell.shell import ExitStatus
from kimi_tui.wire.command_effects import CommandEffects, FileEffect
from kimi_tui.wire.display_blocks import BriefBlock, DiffBlock, DisplayBlock
from kimi_tui.workspaces.effects import CommitPlan, PathEffect

_MAX_FILES = 200
_MAX_DIFFS = 40
_MAX_DIFF_BYTES = 1 << 20
"""Maximum size of a file whose lines are counted and shown."""
_MAX_OUTPUT_LINES = 12
_MAX_OUTPUT_CHARS = 4_000
_BINARY_PROBE = 8_192


@frozen(kw_only=True)
class EffectSummary:
    """Effects as the user sees them."""

    effects: CommandEffects
    display: tuple[DisplayBlock, ...]
    """The result on one line, and the diffs. A front end that doesn't know `effects` shows both."""


def summarize_effects(
    plan: CommitPlan, review: EffectReview, exit_: ExitStatus, output: str, scope: PathScope
) -> EffectSummary:
    """Return the summary of the effects of a command that printed `output`. Blocks."""
    by_path = {item.effect.path: item.effect for item in plan.items}
    conflicts = {item.effect.path: item.conflict for item in plan.conflicts}
    files: list[FileEffect] = []
    blocks: list[DiffBlock] = []
    shown = _shown_changes(review)
    for change in shown[:_MAX_FILES]:
        effect = by_path.get(str(change.path))
        diff = _diff_of(change, effect, scope) if effect is not None and len(files) < _MAX_DIFFS else None
        files.append(_file_effect(change, diff, scope, conflicts))
        blocks += diff.blocks if diff is not None else ()
    if git := _git_changes(review):
        files.append(FileEffect(_git_folder(git[0].path, scope), "git"))
    tail, n_hidden = _output_tail(output)
    effects = CommandEffects(
        exit_code=exit_.status,
        timed_out=exit_.timed_out,
        output=tail,
        n_hidden_lines=n_hidden,
        files=tuple(files),
        n_more_files=max(len(shown) - _MAX_FILES, 0),
        network_attempts=review.n_network_attempts,
        secrets=tuple(scope.display_path(path) for path in review.secrets),
    )
    return EffectSummary(effects=effects, display=(BriefBlock(_brief(effects)), *blocks))


def build_changes(effects: Sequence[PathEffect]) -> tuple[PathChange, ...]:
    """Return the changes that `effects` make, without those of directories' times."""
    return tuple(change for effect in effects if (change := _change_of(effect)) is not None)


def select_effects(plan: CommitPlan, changes: Collection[PathChange]) -> CommitPlan:
    """Return the part of `plan` that makes `changes`, and sets the times of the directories they are in."""
    paths = {str(change.path) for change in changes}
    folders = {str(parent) for change in changes for parent in change.path.parents}
    return CommitPlan(
        tuple(
            item
            for item in plan.items
            if item.effect.path in paths or (item.effect.path in folders and _change_of(item.effect) is None)
        )
    )


def refuse_later_programs(plan: CommitPlan) -> CommitPlan:
    """Return `plan` without files that make git run a program later: they count as conflicts. Blocks.

    A sandbox would be of no use if a command could leave behind a program that runs outside of it.
    """
    changes = build_changes([item.effect for item in plan.items])
    reasons = find_later_programs(changed_files(changes))
    return CommitPlan(
        tuple(
            replace(item, conflict=item.conflict or reasons.get(Path(item.effect.path), ""))
            for item in plan.items
        )
    )


def _change_of(effect: PathEffect) -> PathChange | None:
    before, after = effect.before, effect.after
    path = Path(effect.path)
    match effect.kind:
        case "delete":
            return PathChange(path, "delete", before is not None and before.is_folder)
        case "attributes":
            is_folder = after is not None and after.is_folder
            is_same = (
                before is not None
                and after is not None
                and (before.mode, before.owner) == (after.mode, after.owner)
            )
            if is_folder and is_same:
                return None
            is_file = after is not None and after.is_file
            return PathChange(path, "attributes", is_folder, effect.source if is_file else "")
        case "folder":
            return PathChange(path, "create" if before is None else "modify", is_folder=before is None)
        case "write":
            is_readable = after is not None and (after.is_file or after.is_link)
            return PathChange(
                path,
                "create" if before is None else "modify",
                source=effect.source if is_readable else "",
                is_link=after is not None and after.is_link,
            )


def _shown_changes(review: EffectReview) -> list[PathChange]:
    """Return the changes to list: those without consent first, and no directory whose members are listed."""
    parents = {parent for change in review.changes for parent in change.path.parents}
    uncovered = set(review.uncovered)
    listed = [
        change
        for change in review.changes
        if not is_git_data(change)
        and not (change.is_folder and (change.path in parents or change.path.name == ".git"))
    ]
    return sorted(listed, key=lambda change: change not in uncovered)


def _git_changes(review: EffectReview) -> list[PathChange]:
    return [change for change in review.changes if is_git_data(change)]


def _git_folder(path: Path, scope: PathScope) -> str:
    parts = path.parts
    return scope.display_path(Path(*parts[: parts.index(".git") + 1]))


def _file_effect(
    change: PathChange, diff: FileDiff | None, scope: PathScope, conflicts: Mapping[str, str]
) -> FileEffect:
    name = printable_name(scope.display_path(change.path))
    return FileEffect(
        name + "/" if change.is_folder else name,
        change.kind,
        diff.added if diff is not None else None,
        diff.removed if diff is not None else None,
        conflicts.get(str(change.path), ""),
    )


def _diff_of(change: PathChange, effect: PathEffect, scope: PathScope) -> FileDiff | None:
    """Return the diff of a regular file; None if its lines can't be shown."""
    name = printable_name(scope.display_path(change.path))
    if change.is_folder or change.kind == "attributes":
        return None
    states = [state for state in (effect.before, effect.after) if state is not None]
    if not all(state.is_file for state in states):
        return None
    before = _read(effect.path) if effect.before is not None else b""
    after = _read(effect.source) if effect.after is not None else b""
    if before is None or after is None:
        return summary_diff(name, _size(effect.before), _size(effect.after))
    old, new = _text(before), _text(after)
    if old is None or new is None:
        return summary_diff(name, _size(effect.before), _size(effect.after))
    return build_diff(name, old, new)


def _size(state: object) -> str:
    size = getattr(state, "size", None)
    return "" if size is None else f"{size:,} bytes"


def _read(path: str) -> bytes | None:
    """Return the content of a regular file; None if it is large or can't be read."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        info = os.fstat(file)
        if not stat.S_ISREG(info.st_mode) or info.st_size > _MAX_DIFF_BYTES:
            return None
        data = b""
        while piece := os.read(file, _MAX_DIFF_BYTES + 1 - len(data)):
            data += piece
    except OSError:
        return None
    else:
        return data if len(data) <= _MAX_DIFF_BYTES else None
    finally:
        os.close(file)


def _text(data: bytes) -> str | None:
    if b"\0" in data[:_BINARY_PROBE]:
        return None
    try:
        return decode_document(data).text
    except UndecodableFile:
        return None


def _output_tail(output: str) -> tuple[str, int]:
    """Return the last lines of a command's output, and how many lines precede them."""
    lines = output.rstrip("\n").split("\n") if output.strip() else []
    tail = lines[-_MAX_OUTPUT_LINES:]
    text = "\n".join(tail)[-_MAX_OUTPUT_CHARS:]
    return text, len(lines) - len(tail)


def _brief(effects: CommandEffects) -> str:
    """Return the result on one line, for front ends that don't show the effects."""
    status = msg("stopped at the time limit") if effects.timed_out else format_exit_status(effects.exit_code)
    n_files = len(effects.files) + effects.n_more_files
    changed = msg_n("{count:,} changed file", "{count:,} changed files", n_files)
    text = msg("Ran in a workspace: {status}, {changed}", status=status, changed=changed)
    conflicts = ", ".join(file.path for file in effects.files if file.conflict)
    if conflicts:
        text = msg("{text}; changed since: {files}", text=text, files=conflicts)
    return text
