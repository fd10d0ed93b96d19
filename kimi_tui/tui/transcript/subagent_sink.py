"""Sink for a sub-agent's blocks. The blocks are shown within the call that started the sub-agent."""

from kimi_tui.tui.markdown.styled_line import Spans, text_style
from kimi_tui.tui.transcript.block_sink import BlockSink
from kimi_tui.tui.transcript.blocks.block import Block
from kimi_tui.tui.transcript.blocks.toolcall import ToolCallBlock
from kimi_tui.wire.events import CheckpointCreated, Reverted

_GUIDE: Spans = (("  ", text_style()), ("│ ", text_style("guide")))


def subagent_margin(parent: ToolCallBlock) -> Spans:
    """Return the prefix of the rows of a sub-agent's blocks."""
    return (*parent.margin, *_GUIDE)


class SubagentSink:
    """Adds a sub-agent's blocks to the call that started the sub-agent."""

    def __init__(self, parent: ToolCallBlock, sink: BlockSink) -> None:
        self._parent = parent
        self._sink = sink

    def begin_turn(self) -> None:
        """Do nothing, because a sub-agent's turn isn't a turn of the conversation."""

    def append(self, block: Block) -> None:
        """Add `block` to the children."""
        block.has_gap_above = False
        if block.pieces:
            block.refold()
        self._parent.children.append(block)
        self.update(block)

    def update(self, block: Block) -> None:
        """Update the parent after a change of a child."""
        self._parent.collect_children()
        self._sink.update(self._parent)

    def remove(self, block: Block) -> None:
        """Remove a child."""
        self._parent.children.remove(block)
        self.update(block)

    def add_checkpoint(self, event: CheckpointCreated) -> None:
        """Do nothing, because the checkpoint belongs to the sub-agent's timeline."""

    def revert(self, event: Reverted) -> None:
        """Do nothing, because the revert belongs to the sub-agent's timeline."""
