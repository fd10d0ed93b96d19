"""Labels of the checkpoints before and after a revert."""

from kimi_tui.base.message_text import msg
from kimi_tui.engine.timeline.revert_target import RevertTarget

_MAX_LABEL = 40
"""Maximum number of characters of the target's label in the label of a revert."""


def label_before(target: RevertTarget) -> str:
    """Return the label of the checkpoint before a revert."""
    revert, label = _revert_label(target), _shorten_label(target.label)
    if label:
        return msg("before {revert} “{label}”", revert=revert, label=label)
    return msg("before {revert}", revert=revert)


def label_after(target: RevertTarget) -> str:
    """Return the label of the checkpoint after a revert."""
    revert, label = _revert_label(target), _shorten_label(target.label)
    if label:
        return msg("after {revert} “{label}”", revert=revert, label=label)
    return msg("after {revert}", revert=revert)


def _revert_label(target: RevertTarget) -> str:
    match target.reason:
        case "adopt":
            return msg("adopting attempt {numbers}", numbers=", ".join(map(str, target.attempts)))
        case "undo":
            return msg("undo to {checkpoint}", checkpoint=target.checkpoint)
        case "redo":
            return msg("redo to {checkpoint}", checkpoint=target.checkpoint)
        case "switch":
            return msg("switch to {checkpoint}", checkpoint=target.checkpoint)
        case _:
            return msg("revert to {checkpoint}", checkpoint=target.checkpoint)


def _shorten_label(label: str) -> str:
    return f"{label[: _MAX_LABEL - 1]}…" if len(label) > _MAX_LABEL else label
