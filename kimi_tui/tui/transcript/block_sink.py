"""Destination for the blocks of a conversation."""

from typing import Protocol

from kimi_tui.tui.transcript.blocks.block import Block
from kimi_tui.wire.events import CheckpointCreated, Reverted


class BlockSink(Protocol):
    """Receives blocks in order, and their updates."""

    def begin_turn(self) -> None:
        """Start a new turn."""

    def append(self, block: Block) -> None:
        """Add `block` at the end."""

    def update(self, block: Block) -> None:
        """Handle a change of `block`."""

    def remove(self, block: Block) -> None:
        """Remove `block`. It is among the last blocks."""

    def add_checkpoint(self, event: CheckpointCreated) -> None:
        """Record a checkpoint at the current end."""

    def revert(self, event: Reverted) -> None:
        """Revert to a checkpoint."""
