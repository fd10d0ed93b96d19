"""Labels of checkpoints in the timeline, used for rendering and filtering."""

from kimi_tui.base.terminal_text import sanitize_line
from kimi_tui.i18n.translate import tr, tr_lazy, translate_message
from kimi_tui.tui.markdown.plain_text import plain_text
from kimi_tui.wire.timeline import CheckpointKind, TimelineNode

_KIND_LABELS: dict[CheckpointKind, str] = {
    "user": tr_lazy("you"),
    "step": tr_lazy("step"),
    "dmail": tr_lazy("D-Mail"),
    "compaction": tr_lazy("compaction"),
    "clear": tr_lazy("clear"),
    "revert": tr_lazy("revert"),
    "fork": tr_lazy("fork"),
    "import": tr_lazy("import"),
}
_QUOTED_KINDS: tuple[CheckpointKind, ...] = ("user", "step", "dmail")
"""Kinds whose labels were written by the user or the model."""


def kind_of(node: TimelineNode) -> str:
    """Return the kind of a checkpoint in the user's language."""
    return tr(_KIND_LABELS[node.kind])


def label_of(node: TimelineNode) -> str:
    """Return the label of a checkpoint on one line."""
    is_generated = node.kind not in _QUOTED_KINDS or node.label.startswith("step ")
    label = translate_message(node.label) if is_generated else node.label
    if not is_generated and node.kind == "step" and not node.tools:
        label = plain_text(label)
    return sanitize_line(label) or kind_of(node)
