"""Text area that draws the result of each key immediately."""

from textual import events
from textual.geometry import Region
from textual.strip import Strip
from textual.widgets import TextArea
from textual.widgets.text_area import Location

from kimi_tui.tui.terminal.direct_paint import DirectPainter
from kimi_tui.tui.terminal.key_priority import key_priority_of


class KeyTextArea(TextArea, inherit_bindings=False):
    """Text area whose keys are handled in order and drawn ahead of streamed output.

    Subclasses override `handle_key`, `handle_paste` and `is_command_key`.
    """

    _needs_theme = True
    _direct_painter: DirectPainter | None = None

    # hooks for subclasses

    async def handle_key(self, event: events.Key) -> bool:
        """Handle a key that isn't an editing key. Return whether the key was handled."""
        return False

    def is_command_key(self, event: events.Key) -> bool:
        """Return whether the key belongs to another binding, so that it must not insert a character."""
        return False

    def handle_paste(self, text: str) -> None:
        """Handle text pasted into the terminal."""
        self.insert_at_cursor(text)

    # editing

    def insert_at_cursor(self, text: str) -> None:
        """Replace the selection with `text` and move the cursor to its end, unless the area is read-only."""
        if result := self._replace_via_keyboard(text, *self.selection):
            self.move_cursor(result.end_location)

    def delete_range(self, start: Location, end: Location) -> None:
        """Delete the text between two locations, unless the area is read-only."""
        self._delete_via_keyboard(start, end)

    # events

    async def _on_key(self, event: events.Key) -> None:
        # Textual looks up bindings only after a key has bubbled up to the app, so letters typed quickly would
        # overtake it. Handling each key here keeps them in order.
        if self.is_command_key(event):
            event.prevent_default()  # Textual would insert the letter
            return
        if await self.handle_key(event):
            event.stop()
        else:
            await super()._on_key(event)
        event.prevent_default()
        self._paint_now()

    async def _on_paste(self, event: events.Paste) -> None:
        event.stop()
        event.prevent_default()
        self.handle_paste(event.text)

    # drawing

    def notify_style_update(self) -> None:
        """Mark the theme's colors as outdated."""
        self._needs_theme = True
        super().notify_style_update()

    def render_lines(self, crop: Region) -> list[Strip]:
        """Return the rows in `crop`. Unlike Textual, look up the theme's colors only after a theme change,
        because the lookup is slow.
        """
        if self._needs_theme and self._theme is not None:
            self._needs_theme = False
            self._theme.apply_css(self)
        return super(TextArea, self).render_lines(crop)

    def _paint_now(self) -> None:
        """Paint the result of a key immediately, ahead of streamed output that waits for the compositor."""
        if not self._layout_required:
            if self._direct_painter is None:
                self._direct_painter = DirectPainter(self)
            area = self.outer_size.region
            strips = self.render_lines(area)
            self._direct_painter.paint(((y, 0, strip) for y, strip in enumerate(strips)), area)
        key_priority_of(self.app).finish_key()
