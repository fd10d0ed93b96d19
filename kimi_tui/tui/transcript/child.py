"""The place of a sub-agent's blocks: within the call that started it."""

from kimi_tui.tui.markdown.line import Spans, ink
from kimi_tui.tui.transcript.blocks.block import Block
from kimi_tui.tui.transcript.blocks.toolcall import ToolCallBlock
from kimi_tui.tui.transcript.page import Page
from kimi_tui.wire.events import CheckpointCreated, Reverted

_GUIDE: Spans = (("  ", ink()), ("│ ", ink("guide")))


def child_margin(parent: ToolCallBlock) -> Spans:
    """What stands left of a sub-agent's blocks."""
    return (*parent.margin, *_GUIDE)


class ChildPage:
    """The blocks of a sub-agent, within the call that started it."""

    def __init__(self, parent: ToolCallBlock, page: Page) -> None:
        self._parent = parent
        self._page = page

    def begin_turn(self) -> None:
        """A sub-agent's turn is no turn of the conversation."""

    def append(self, block: Block) -> None:
        """Put `block` at the end of the children."""
        block.above = False
        if block.pieces:
            block.refold()
        self._parent.children.append(block)
        self.changed(block)

    def changed(self, block: Block) -> None:
        """Let the parent show what its children show now."""
        self._parent.gather()
        self._page.changed(self._parent)

    def drop(self, block: Block) -> None:
        """Take a child away."""
        self._parent.children.remove(block)
        self.changed(block)

    def checkpoint(self, event: CheckpointCreated) -> None:
        """A sub-agent's checkpoints are its own."""

    def revert(self, event: Reverted) -> None:
        """A sub-agent's jumps are its own."""
