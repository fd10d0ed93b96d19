"""Looking back: the conversation as it stood at a checkpoint, what came after it dimmed."""

from typing import Protocol

from kimi_tui.tui.transcript.blocks.reverted import RevertedBlock
from kimi_tui.tui.transcript.flow import Flow, Place
from kimi_tui.tui.transcript.viewport import Viewport


class Markers(Protocol):
    """Knows what was undone."""

    def marker_of_checkpoint(self, checkpoint_id: int) -> RevertedBlock | None:
        """The marker that holds what came after a checkpoint which was undone."""
        ...


class LookBack:
    """Moves a viewport to a checkpoint, and back to where it stood before."""

    def __init__(self, flow: Flow, viewport: Viewport, markers: Markers) -> None:
        self._flow = flow
        self._viewport = viewport
        self._markers = markers
        self.dimmed_from: Place | None = None
        """From here on everything comes after the checkpoint; None dims nothing."""
        self._checkpoint: int | None = None
        self._opened: RevertedBlock | None = None
        """The marker that is unfolded only while it is looked at."""
        self._left: tuple[Place, bool] | None = None
        """Where the viewport stood before, and whether it followed the end."""

    def to(self, checkpoint_id: int) -> None:
        """Show a checkpoint, in the middle of the screen; the end when it is nowhere to be seen."""
        if self._left is None:
            self._left = self._viewport.top, self._viewport.following
        self._checkpoint = checkpoint_id
        self.dimmed_from = self._flow.place_of_checkpoint(checkpoint_id)
        place = self.dimmed_from
        marker = self._markers.marker_of_checkpoint(checkpoint_id) if place is None else None
        if marker is not self._opened:
            self._fold()
        if marker is not None:
            place = self._within(marker, checkpoint_id)
        self._viewport.go_to(None if place is None else self._flow.up(place, self._viewport.height // 2))

    def end(self) -> bool:
        """Show what was shown before; whether a checkpoint was looked at."""
        if self._left is None:
            return False
        (top, following), self._left = self._left, None
        self._checkpoint = self.dimmed_from = None
        self._fold()
        self._viewport.go_to(None if following or top.chapter >= len(self._flow.chapters) else top)
        return True

    def moved(self) -> bool:
        """Blocks have come or gone: whether what is dimmed begins elsewhere now."""
        if self._checkpoint is None:
            return False
        before, self.dimmed_from = self.dimmed_from, self._flow.place_of_checkpoint(self._checkpoint)
        return before != self.dimmed_from

    def _within(self, marker: RevertedBlock, checkpoint_id: int) -> Place | None:
        if marker.folded and marker.toggle():
            self._opened = marker
            self._flow.recount(marker)
        place = self._flow.place_of(marker)
        return place._replace(piece=marker.piece_of_checkpoint(checkpoint_id)) if place is not None else None

    def _fold(self) -> None:
        marker, self._opened = self._opened, None
        if marker is not None and not marker.folded and marker.toggle():
            self._flow.recount(marker)
