"""The todo pane: what the agent has set out to do."""

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.reactive import reactive
from textual.widgets import Static

from kimi_tui.base.terminal import plain_line
from kimi_tui.language.saying import say
from kimi_tui.tui.state import ScreenState
from kimi_tui.wire.display import TodoItem

_MARKS = {
    "done": ("✔", "$success", "$text-muted strike"),
    "in_progress": ("▸", "$accent", "bold"),
    "pending": ("○", "$text-muted", ""),
}


class TodoPane(VerticalScroll):
    """The list as it now stands, with the count of what is done as its title."""

    DEFAULT_CSS = """
    TodoPane { height: auto; }
    """
    state: reactive[ScreenState] = reactive(ScreenState(), repaint=False)

    def compose(self) -> ComposeResult:
        """One text."""
        yield Static(id="todo-list")

    def on_mount(self) -> None:
        """Draw what there is."""
        self._draw(self.state.todo)

    def on_show(self) -> None:
        """Begin where the work is, not where the list is."""
        self.call_after_refresh(self._go_to_work)

    def watch_state(self, old: ScreenState, state: ScreenState) -> None:
        """Draw the list when it changed, and go on with the work unless somebody reads."""
        if old.todo != state.todo and self.is_mounted:
            self._draw(state.todo)
            if not self.has_focus:
                self.call_after_refresh(self._go_to_work)

    def _draw(self, items: tuple[TodoItem, ...]) -> None:
        done = sum(item.status == "done" for item in items)
        self.border_title = Content(f"{say('todo')} {done}/{len(items)}" if items else say("todo"))
        empty = Content.styled(say("Nothing to do yet. The agent writes its plan here."), "$text-muted")
        self.query_one("#todo-list", Static).update(
            Content("\n").join([_line(item) for item in items]) if items else empty
        )

    def _go_to_work(self) -> None:
        """Show the first entry that is not done, a little below the top; the end when all are."""
        items, width = self.state.todo, self.query_one("#todo-list").size.width
        if not width:
            return
        before = next((at for at, item in enumerate(items) if item.status != "done"), len(items))
        above = Content("\n").join([_line(item) for item in items[:before]])
        rows = above.get_height({}, width) if before else 0
        self.scroll_to(y=max(0, rows - self.size.height // 3), animate=False)


def _line(item: TodoItem) -> Content:
    mark, colour, style = _MARKS[item.status]
    return Content.assemble((f"{mark} ", colour), (plain_line(item.title), style))
