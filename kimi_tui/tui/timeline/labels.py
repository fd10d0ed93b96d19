"""What a checkpoint is called in the timeline, where it is shown and where it is searched for."""

from kimi_tui.base.terminal import plain_line
from kimi_tui.language.saying import later, retell, say
from kimi_tui.tui.markdown.words import words_of
from kimi_tui.wire.timeline import CheckpointKind, TimelineNode

_KINDS: dict[CheckpointKind, str] = {
    "user": later("you"),
    "step": later("step"),
    "dmail": later("D-Mail"),
    "compaction": later("compaction"),
    "clear": later("clear"),
    "revert": later("jump"),
    "fork": later("fork"),
    "import": later("import"),
}
_OF_THE_USER: tuple[CheckpointKind, ...] = ("user", "step", "dmail")
"""Kinds whose labels are what the user or the model wrote."""


def kind_of(node: TimelineNode) -> str:
    """What made a checkpoint, in the user's language."""
    return say(_KINDS[node.kind])


def label_of(node: TimelineNode) -> str:
    """What a checkpoint is about, on one line."""
    is_ours = node.kind not in _OF_THE_USER or node.label.startswith("step ")
    label = retell(node.label) if is_ours else node.label
    if not is_ours and node.kind == "step" and not node.tools:
        label = words_of(label)
    return plain_line(label) or kind_of(node)
