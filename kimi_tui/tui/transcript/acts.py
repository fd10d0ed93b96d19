"""What can be done with the selected block, for whoever shows it."""

from typing import TYPE_CHECKING

from kimi_tui.base.value import value
from kimi_tui.language.saying import say

if TYPE_CHECKING:
    from kimi_tui.tui.transcript.blocks.block import Block

GO_BACK = "transcript.go_back"


@value
class Act:
    """A key of the conversation, in few words."""

    binding: str
    """Its id."""
    label: str
    action: str
    """What a click does, as a Textual action of the widget that has the focus."""


def acts_on(block: "Block", *, can_go_back: bool) -> tuple[Act, ...]:
    """The acts, the most important first."""
    acts = [
        Act("transcript.copy", say("copy"), "copy_block"),
        Act("transcript.pager", say("read"), "open_pager"),
    ]
    if can_go_back:
        acts.insert(0, Act(GO_BACK, say("back to before it"), "go_back"))
    if block.foldable:
        acts.append(Act("transcript.fold", say("unfold") if block.folded else say("fold"), "toggle_fold"))
    return tuple(acts)
