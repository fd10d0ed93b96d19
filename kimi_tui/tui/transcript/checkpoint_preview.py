"""Preview of the conversation at a checkpoint, with later blocks dimmed."""

from typing import Protocol

from kimi_tui.tui.transcript.blocks.reverted import RevertedBlock
from kimi_tui.tui.transcript.layout import Position, TranscriptLayout
from kimi_tui.tui.transcript.viewport import Viewport


class MarkerSource(Protocol):
    """Finds the markers of reverts."""

    def marker_of_checkpoint(self, checkpoint_id: int) -> RevertedBlock | None:
        """Return the marker with the blocks after a checkpoint that was undone."""
        ...


class CheckpointPreview:
    """Scrolls a viewport to a checkpoint, and back when the preview ends."""

    def __init__(self, layout: TranscriptLayout, viewport: Viewport, markers: MarkerSource) -> None:
        self._layout = layout
        self._viewport = viewport
        self._markers = markers
        self.dimmed_from: Position | None = None
        """Rows from this position on are dimmed. None: no rows are dimmed."""
        self._checkpoint_id: int | None = None
        self._opened_marker: RevertedBlock | None = None
        """Marker that is unfolded only during the preview."""
        self._return_state: tuple[Position, bool] | None = None
        """Top of the viewport before the preview, and whether the viewport followed the end."""

    def show(self, checkpoint_id: int) -> None:
        """Scroll a checkpoint to the middle of the screen. If it isn't found, scroll to the end."""
        if self._return_state is None:
            self._return_state = self._viewport.top, self._viewport.is_following
        self._checkpoint_id = checkpoint_id
        self.dimmed_from = self._layout.position_of_checkpoint(checkpoint_id)
        position = self.dimmed_from
        marker = self._markers.marker_of_checkpoint(checkpoint_id) if position is None else None
        if marker is not self._opened_marker:
            self._fold_opened_marker()
        if marker is not None:
            position = self._position_in_marker(marker, checkpoint_id)
        self._viewport.go_to(
            None if position is None else self._layout.position_above(position, self._viewport.height // 2)
        )

    def end(self) -> bool:
        """End the preview and restore the viewport. Return False if there was no preview."""
        if self._return_state is None:
            return False
        (top, was_following), self._return_state = self._return_state, None
        self._checkpoint_id = self.dimmed_from = None
        self._fold_opened_marker()
        self._viewport.go_to(None if was_following or top.section >= len(self._layout.sections) else top)
        return True

    def refresh_dimming(self) -> bool:
        """Update `dimmed_from` after blocks were added or removed. Return whether it changed."""
        if self._checkpoint_id is None:
            return False
        previous, self.dimmed_from = (
            self.dimmed_from,
            self._layout.position_of_checkpoint(self._checkpoint_id),
        )
        return previous != self.dimmed_from

    def _position_in_marker(self, marker: RevertedBlock, checkpoint_id: int) -> Position | None:
        if marker.is_folded and marker.toggle():
            self._opened_marker = marker
            self._layout.remeasure(marker)
        position = self._layout.position_of(marker)
        return (
            position._replace(piece=marker.piece_of_checkpoint(checkpoint_id))
            if position is not None
            else None
        )

    def _fold_opened_marker(self) -> None:
        marker, self._opened_marker = self._opened_marker, None
        if marker is not None and not marker.is_folded and marker.toggle():
            self._layout.remeasure(marker)
