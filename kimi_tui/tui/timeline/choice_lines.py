"""Lines for the choices of a file that both the agent and the user changed."""

from typing import assert_never

from kimi_tui.i18n.translate import tr
from kimi_tui.tui.keys.keymap import KeyLabels
from kimi_tui.tui.widgets.hunk_view import ChoiceLine
from kimi_tui.wire.timeline import ConflictChoice, PlannedChoice, RevertPlan, RevertReason

_BINDINGS: dict[ConflictChoice, str] = {
    "mine": "plan.keep_mine",
    "merge": "plan.merge",
    "checkpoint": "plan.checkpoint",
    "both": "plan.keep_both",
}
"""The key bindings of the choices, in the order of their lines."""


def choice_lines(
    plan: RevertPlan, path: str, chosen: ConflictChoice | None, key_labels: KeyLabels
) -> list[ChoiceLine]:
    """Return the lines for the choices of a file. Empty for a file without choices."""
    offered = {it.choice: it for file in plan.files if file.path == path for it in file.choices}
    return [
        ChoiceLine(
            choice,
            key_labels.first_key(binding_id),
            _choice_label(offered[choice], plan.reason),
            choice == chosen,
        )
        for choice, binding_id in _BINDINGS.items()
        if choice in offered
    ]


def _choice_label(planned: PlannedChoice, reason: RevertReason) -> str:
    """Return the label of a choice for a file."""
    match planned.choice:
        case "mine" if reason == "adopt":
            return tr("keep the current file")
        case "merge" if reason == "adopt":
            return tr("take the attempt's lines, keep other changes")
        case "checkpoint" if reason == "adopt":
            return (
                tr("delete the file, as the attempt did")
                if planned.action == "delete"
                else tr("take the attempt's version")
            )
        case "mine":
            return tr("keep mine")
        case "merge":
            return (
                tr("keep my changes, restore the rest")
                if reason in ("undo", "redo", "switch")
                else tr("remove only the agent's lines, keep mine")
            )
        case "checkpoint":
            return (
                tr("restore the checkpoint: delete the file")
                if planned.action == "delete"
                else tr("restore the checkpoint")
            )
        case "both":
            return tr("keep both versions of conflicting lines")
        case _:
            assert_never(planned.choice)
