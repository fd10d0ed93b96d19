"""Plans, comparisons and forks in words, where no dialog shows them."""

from typing import assert_never

from kimi_tui.wire.timeline import Comparison, PlannedAction, RevertPlan, SessionForked

_WORDS: dict[PlannedAction, str] = {
    "restore": "restore",
    "delete": "delete",
    "recreate": "recreate",
    "merge": "merge",
    "conflict": "conflict, kept",
    "keep": "keep",
    "not covered": "not covered",
}


def told_plan(plan: RevertPlan) -> tuple[str, str]:
    """The headline, and a line for each file and each command that can't be taken back."""
    lines = [
        f"{_WORDS[file.action]:15}{file.path}  +{file.added} −{file.removed}"
        f"{f'  ({file.note})' if file.note else ''}"
        for file in plan.files
    ]
    if not lines:
        lines.append(plan.note or "No file would change.")
    elif plan.note:
        lines.append(plan.note)
    if plan.commands:
        lines.append("What these commands did elsewhere stays:")
        lines += [f"  $ {command}" for command in plan.commands]
    return f"{_headline(plan)} Nothing has been done yet.", "\n".join(lines)


def _headline(plan: RevertPlan) -> str:
    match plan.reason:
        case "user":
            return f"Going back to checkpoint {plan.to}: /revert {plan.to} does it."
        case "undo":
            return "Taking the last revert back: /undo does it."
        case "redo":
            return "Taking the last undo back: /redo does it."
        case "dmail" | "switch" | "compaction" | "clear":
            return f"Going to checkpoint {plan.to}."
        case _:
            assert_never(plan.reason)


def told_comparison(comparison: Comparison) -> tuple[str, str]:
    """The headline, and a line for each file that differs."""
    after = "now" if comparison.after is None else f"checkpoint {comparison.after}"
    lines = [
        f"{file.change:15}{file.path}  +{file.added} −{file.removed}{f'  ({file.note})' if file.note else ''}"
        for file in comparison.files
    ]
    if comparison.note:
        lines.append(comparison.note)
    return f"From checkpoint {comparison.before} to {after}:", "\n".join(lines) or "No file differs."


def told_fork(fork: SessionForked) -> tuple[str, str]:
    """That there is a new session, and how to open it."""
    at = "all of this conversation" if fork.at is None else f"the conversation up to checkpoint {fork.at}"
    return (
        f"A new session, “{fork.title or fork.session_id}”, begins with {at}.",
        f"Open it with: kimi-tui --session {fork.session_id}. This one goes on as it is.",
    )
