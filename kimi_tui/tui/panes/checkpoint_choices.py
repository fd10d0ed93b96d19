"""Rows of the list of checkpoints."""

from collections.abc import Sequence

from kimi_tui.base.terminal_text import sanitize_line
from kimi_tui.tui.timeline.labels import label_of
from kimi_tui.tui.timeline.row_renderer import format_age
from kimi_tui.tui.widgets.choice_list import Choice
from kimi_tui.wire.timeline import TimelineNode


def checkpoint_choices(nodes: Sequence[TimelineNode], *, now: float) -> list[Choice]:
    """Return a line for each checkpoint, newest first. `nodes` are sorted by age, oldest first."""
    width = max((len(str(node.id)) for node in nodes), default=0)
    return [_choice(node, width, now=now) for node in reversed(nodes)]


def _choice(node: TimelineNode, number_width: int, *, now: float) -> Choice:
    files = node.files
    changes = f"+{files.added_lines} −{files.removed_lines}" if files is not None and files.changed else ""
    if node.problem or (files is not None and files.coverage):
        changes = f"{changes} ◔".lstrip()
    name = f"{sanitize_line(node.name)}: " if node.name else ""
    number, sign = str(node.id), "●" if node.kind == "user" else "·"
    return Choice(
        value=number,
        label=f"{number} {sign} {name}{label_of(node)}",
        indent=number_width - len(number),
        note="  ".join(filter(None, (changes, format_age(now - node.time) if node.time else ""))),
    )
