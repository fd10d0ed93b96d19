"""Layout of the panes: visibility, panes that cover the conversation, and the pane that escape closes."""

from typing import Literal

from textual.widget import Widget

MIN_WIDTH_FOR_PANES = 100
"""Minimum columns for panes next to the conversation. In narrower terminals they cover it."""
_MIN_CONVERSATION_WIDTH = 60
"""Minimum columns of the conversation next to the side pane. With fewer, the pane covers the conversation."""
_MIN_WIDTH_FOR_ALL = 130
"""Minimum columns for the conversation, the timeline and the side pane next to each other."""
PaneName = Literal["todo", "tools"]
Layer = Literal["todo", "tools", "timeline"]


class PaneLayout:
    """Shows and hides panes by setting CSS classes on the session view."""

    def __init__(self, view: Widget) -> None:
        self._view = view
        self._requested: dict[PaneName, bool] = {}
        self._has_todo = False
        self._peeked_pane: PaneName | None = None

    def arrange(self, *, has_todo: bool | None = None) -> None:
        """Show the requested panes and, in a wide terminal, a todo list with open items."""
        self._has_todo = self._has_todo if has_todo is None else has_todo
        view = self._view
        width = view.app.size.width
        roomy = width >= MIN_WIDTH_FOR_PANES and self._fits_at_the_side
        todo = self._requested.get("todo", roomy and self._has_todo)
        tools = self._requested.get("tools", False)
        view.set_class(todo, "-show-todo")
        view.set_class(tools, "-show-tools")
        view.set_class(todo or tools, "-show-side")
        view.set_class(width < MIN_WIDTH_FOR_PANES, "-over")
        view.set_class((todo or tools) and not self._fits_at_the_side, "-side-over")
        view.set_class((todo or tools) and self._fits_at_the_side and not self._fits_with_timeline, "-tight")

    @property
    def _fits_at_the_side(self) -> bool:
        """Whether the conversation keeps its minimum width next to the side pane and the timeline."""
        width = self._view.app.size.width
        if self._view.has_class("-show-timeline"):
            return width >= _MIN_WIDTH_FOR_ALL
        return width - _side_width(width) >= _MIN_CONVERSATION_WIDTH

    @property
    def _fits_with_timeline(self) -> bool:
        """Whether the panes keep their usual widths. Otherwise, they share the remaining columns."""
        if not self._view.has_class("-show-timeline"):
            return True
        width = self._view.app.size.width
        return width - _side_width(width) - _timeline_width(width) >= _MIN_CONVERSATION_WIDTH

    def toggle(self, name: PaneName, *, peek: bool) -> bool:
        """Show or hide a pane. Return whether it is now visible. With `peek`, it doesn't get the focus."""
        shown = not self._view.has_class(f"-show-{name}")
        self._requested[name] = shown
        self._peeked_pane = name if shown and peek else None
        self.arrange()
        return shown

    def hide(self, name: PaneName) -> None:
        """Hide a pane."""
        self._requested[name] = False
        self._peeked_pane = None
        self.arrange()

    def show_timeline(self, shown: bool) -> None:
        """Show or hide the timeline."""
        self._view.set_class(shown, "-show-timeline")
        if shown and self.is_narrow:
            self._requested.clear()  # other panes would cover the timeline
            self._peeked_pane = None
        self.arrange()

    def end_peek(self) -> None:
        """Keep the peeked pane open: escape no longer closes it."""
        self._peeked_pane = None

    @property
    def is_narrow(self) -> bool:
        """Whether panes cover the conversation."""
        return self._view.has_class("-over")

    @property
    def peeked_pane(self) -> Layer | None:
        """The pane that was opened while a request kept the focus."""
        return self._peeked_pane

    @property
    def overlay(self) -> Layer | None:
        """The frontmost pane that covers the conversation, if any."""
        layers: tuple[Layer, ...] = ()
        if self.is_narrow:
            layers = ("tools", "todo", "timeline")
        elif self._view.has_class("-side-over"):
            layers = ("tools", "todo")
        return next((layer for layer in layers if self._view.has_class(f"-show-{layer}")), None)


def _side_width(width: int) -> int:
    """Return the usual width of `#side`, as in the style sheet."""
    return max(28, min(width * 30 // 100, 44))


def _timeline_width(width: int) -> int:
    """Return the usual width of TimelinePane, as in the style sheet."""
    return max(32, min(width * 36 // 100, 64))
