"""Which panes stand beside the conversation, or lie over it, and which of them escape closes."""

from typing import Literal

from textual.widget import Widget

WIDE = 100
"""Columns from which on panes have a place beside the conversation."""
_WIDE_BESIDE_TIMELINE = 120
"""Columns from which on the todo list has a place there by itself while the timeline is open."""
PaneName = Literal["todo", "tools"]
Layer = Literal["todo", "tools", "timeline"]


class PanePlaces:
    """Shows panes by the classes of the workbench, `bench`."""

    def __init__(self, bench: Widget) -> None:
        self._bench = bench
        self._wishes: dict[PaneName, bool] = {}
        self._has_todo = False
        self._glanced_at: PaneName | None = None

    def arrange(self, *, has_todo: bool | None = None) -> None:
        """Show the panes that were asked for; on a wide terminal also the todo list when there is one."""
        self._has_todo = self._has_todo if has_todo is None else has_todo
        bench = self._bench
        width = bench.app.size.width
        roomy = width >= (_WIDE_BESIDE_TIMELINE if bench.has_class("-show-timeline") else WIDE)
        todo = self._wishes.get("todo", roomy and self._has_todo)
        tools = self._wishes.get("tools", False)
        bench.set_class(todo, "-show-todo")
        bench.set_class(tools, "-show-tools")
        bench.set_class(todo or tools, "-show-side")
        bench.set_class(width < WIDE, "-over")

    def toggle(self, name: PaneName, *, at_a_glance: bool) -> bool:
        """Show or hide a pane, and which it was; `at_a_glance` when it doesn't get the keyboard."""
        shown = not self._bench.has_class(f"-show-{name}")
        self._wishes[name] = shown
        self._glanced_at = name if shown and at_a_glance else None
        self.arrange()
        return shown

    def hide(self, name: PaneName) -> None:
        """Hide a pane."""
        self._wishes[name] = False
        self._glanced_at = None
        self.arrange()

    def show_timeline(self, shown: bool) -> None:
        """Make room for the timeline, or give its room back."""
        self._bench.set_class(shown, "-show-timeline")
        if shown and self.is_narrow:
            self._wishes.clear()  # there they would lie over it
            self._glanced_at = None
        self.arrange()

    def end_glance(self) -> None:
        """What was opened for a glance stays."""
        self._glanced_at = None

    @property
    def is_narrow(self) -> bool:
        """Whether panes lie over the conversation."""
        return self._bench.has_class("-over")

    @property
    def glanced_at(self) -> Layer | None:
        """What was opened last while a request kept the keyboard."""
        return self._glanced_at

    @property
    def over(self) -> Layer | None:
        """What lies over the conversation, innermost first."""
        layers: tuple[Layer, ...] = ("tools", "todo", "timeline") if self.is_narrow else ()
        return next((layer for layer in layers if self._bench.has_class(f"-show-{layer}")), None)
