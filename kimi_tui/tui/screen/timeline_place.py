"""The place of the timeline in the session view."""

from textual.widget import Widget

from kimi_tui.tui.screen.session_view import SessionView


class TimelinePlace:
    """Shows the timeline pane to the left of the conversation, and the conversation at a checkpoint."""

    def __init__(self, view: SessionView) -> None:
        self._view = view

    async def show_timeline(self, pane: Widget) -> None:
        """Show the timeline pane to the left of the conversation."""
        if not pane.is_attached:
            await self._view.query_one("#body").mount(pane, before="#conversation")
        self._view.pane_layout.show_timeline(True)

    def hide_timeline(self) -> None:
        """Hide the timeline pane."""
        self._view.pane_layout.show_timeline(False)

    @property
    def is_narrow(self) -> bool:
        """Whether panes cover the conversation."""
        return self._view.pane_layout.is_narrow

    def preview_checkpoint(self, checkpoint_id: int | None) -> None:
        """Scroll the conversation to a checkpoint. None returns to the previous position."""
        self._view.transcript.preview_checkpoint(checkpoint_id)

    def return_focus(self) -> None:
        """Return the focus to the prompt."""
        self._view.post_message(SessionView.Left())
