"""Plans, comparisons and forks in words, where no dialog shows them."""

from collections.abc import Sequence
from typing import assert_never

from kimi_tui.base.terminal import plain_line
from kimi_tui.language.saying import later, retell, say, say_many
from kimi_tui.language.width import padded
from kimi_tui.wire.timeline import (
    Comparison,
    PatchWritten,
    PlannedAction,
    Reverted,
    RevertPlan,
    SessionForked,
)

_NAMED = 20
"""Files that a line names."""
_WORDS: dict[PlannedAction, str] = {
    "restore": later("restore"),
    "delete": later("delete"),
    "recreate": later("recreate"),
    "merge": later("merge"),
    "conflict": later("conflict, kept"),
    "keep": later("keep"),
    "not covered": later("not covered"),
}


def told_plan(plan: RevertPlan) -> tuple[str, str]:
    """The headline, and a line for each file and each command that can't be taken back."""
    lines = [
        f"{padded(say(_WORDS[file.action]), 15)}{file.path}  +{file.added} −{file.removed}"
        f"{f'  ({retell(file.note)})' if file.note else ''}"
        for file in plan.files
    ]
    if not lines:
        lines.append(retell(plan.note) or say("No file would change."))
    elif plan.note:
        lines.append(retell(plan.note))
    if plan.commands:
        lines.append(say("What these commands did elsewhere stays:"))
        lines += [f"  $ {command}" for command in plan.commands]
    return say("{headline} Nothing has been done yet.", headline=_headline(plan)), "\n".join(lines)


def _headline(plan: RevertPlan) -> str:
    match plan.reason:
        case "user":
            return say("Going back to checkpoint {to}: /revert {to} does it.", to=plan.to)
        case "undo":
            return say("Taking the last revert back: /undo does it.")
        case "redo":
            return say("Taking the last undo back: /redo does it.")
        case "dmail" | "switch" | "compaction" | "clear":
            return say("Going to checkpoint {to}.", to=plan.to)
        case _:
            assert_never(plan.reason)


def told_comparison(comparison: Comparison) -> tuple[str, str]:
    """The headline, and a line for each file that differs."""
    after = say("now") if comparison.after is None else say("checkpoint {number}", number=comparison.after)
    lines = [
        f"{padded(retell(file.change), 15)}{file.path}  +{file.added} −{file.removed}"
        f"{f'  ({retell(file.note)})' if file.note else ''}"
        for file in comparison.files
    ]
    if comparison.note:
        lines.append(retell(comparison.note))
    headline = say("From checkpoint {before} to {after}:", before=comparison.before, after=after)
    return headline, "\n".join(lines) or say("No file differs.")


def told_patch(written: PatchWritten) -> tuple[str, str]:
    """Where the patch is, and what can be done with it."""
    headline = say_many(
        "{count} file is in {path}.", "{count} files are in {path}.", written.files, path=written.path
    )
    lines = [say("git apply makes these changes elsewhere; git apply --reverse takes them back.")]
    if written.left_out:
        lines.append(say("It does not hold:"))
        lines += [f"  {retell(path)}" for path in written.left_out]
    return headline, "\n".join(lines)


def told_jump(jump: Reverted) -> tuple[str, str]:
    """Where a jump went, and which files changed or stayed."""
    lines = []
    if jump.files:
        lines.append(say("Files changed: {files}", files=_listed(jump.files)))
    if jump.kept:
        lines.append(say("Left as they are: {files}", files=_listed(jump.kept)))
    return say("Went to checkpoint {number}.", number=jump.to), "\n".join(lines)


def _listed(paths: Sequence[str]) -> str:
    named = ", ".join(map(plain_line, paths[:_NAMED]))
    more = len(paths) - _NAMED
    return say("{names} and {count} more", names=named, count=more) if more > 0 else named


def told_fork(fork: SessionForked) -> tuple[str, str]:
    """That there is a new session, and how to open it."""
    at = (
        say("all of this conversation")
        if fork.at is None
        else say("the conversation up to checkpoint {at}", at=fork.at)
    )
    return (
        say("A new session, “{title}”, begins with {at}.", title=fork.title or fork.session_id, at=at),
        say(
            "Open it with: kimi-tui --session {session_id}. This one goes on as it is.",
            session_id=fork.session_id,
        ),
    )
