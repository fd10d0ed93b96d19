"""Actions for the selected block, shown in the status bar."""

from typing import TYPE_CHECKING

from kimi_tui.base.frozen import frozen
from kimi_tui.i18n.translate import tr

if TYPE_CHECKING:
    from kimi_tui.tui.transcript.blocks.block import Block

REVERT_BINDING = "transcript.go_back"


@frozen
class BlockAction:
    """Key hint for an action on a block."""

    binding: str
    """Binding id."""
    label: str
    action: str
    """Textual action of the focused widget, run by a click."""


def actions_for(block: "Block", *, can_revert: bool) -> tuple[BlockAction, ...]:
    """Return the actions for `block`, most important first."""
    actions = [
        BlockAction("transcript.copy", tr("copy"), "copy_block"),
        BlockAction("transcript.pager", tr("view"), "open_pager"),
    ]
    if can_revert:
        actions.insert(0, BlockAction(REVERT_BINDING, tr("revert to before this"), "go_back"))
    if block.is_foldable:
        actions.append(
            BlockAction("transcript.fold", tr("unfold") if block.is_folded else tr("fold"), "toggle_fold")
        )
    return tuple(actions)
