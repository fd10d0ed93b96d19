"""Where the blocks of a conversation are put down."""

from typing import Protocol

from kimi_tui.tui.transcript.blocks.block import Block
from kimi_tui.wire.events import CheckpointCreated, Reverted


class Page(Protocol):
    """Takes blocks in order, and hears when one of them changes."""

    def begin_turn(self) -> None:
        """What follows is a turn of its own."""

    def append(self, block: Block) -> None:
        """Put `block` at the end."""

    def changed(self, block: Block) -> None:
        """`block` shows something else now."""

    def drop(self, block: Block) -> None:
        """Take away `block`, one of the last."""

    def checkpoint(self, event: CheckpointCreated) -> None:
        """A checkpoint stands here."""

    def revert(self, event: Reverted) -> None:
        """Everything after a checkpoint is undone."""
