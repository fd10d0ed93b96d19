"""Pane with the agent's todo list."""

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.widgets import Static

from kimi_tui.base.terminal_text import sanitize_line
from kimi_tui.frontend.session_state import SessionViewState
from kimi_tui.i18n.translate import tr
from kimi_tui.tui.widgets.closable_title import closable_title
from kimi_tui.wire.display_blocks import TodoItem

_GLYPHS = {
    "done": ("✔", "$success", "$text-muted strike"),
    "in_progress": ("▸", "$accent", "bold"),
    "pending": ("○", "$text-muted", ""),
}


class TodoPane(VerticalScroll):
    """The current todo list. The title counts the completed items."""

    DEFAULT_CSS = """
    TodoPane { height: auto; }
    """
    state: reactive[SessionViewState] = reactive(SessionViewState(), repaint=False)

    class Left(Message):
        """Posted when the user hides the pane."""

    def action_hide(self) -> None:
        """Hide the pane."""
        self.post_message(self.Left())

    def compose(self) -> ComposeResult:
        """Yield a single text widget."""
        yield Static(id="todo-list")

    def on_mount(self) -> None:
        """Draw the current list."""
        self._draw(self.state.todo)

    def on_show(self) -> None:
        """Scroll to the first item that isn't done."""
        self.call_after_refresh(self._scroll_to_current)

    def watch_state(self, old: SessionViewState, state: SessionViewState) -> None:
        """Redraw a changed list and scroll to the current item, unless the user is reading it."""
        if old.todo != state.todo and self.is_mounted:
            self._draw(state.todo)
            if not self.has_focus:
                self.call_after_refresh(self._scroll_to_current)

    def _draw(self, items: tuple[TodoItem, ...]) -> None:
        done = sum(item.status == "done" for item in items)
        self.border_title = closable_title(f"{tr('todo')} {done}/{len(items)}" if items else tr("todo"))
        empty = Content.styled(tr("No todos yet. The agent lists its tasks here."), "$text-muted")
        self.query_one("#todo-list", Static).update(
            Content("\n").join([_render_item(item) for item in items]) if items else empty
        )

    def _scroll_to_current(self) -> None:
        """Scroll to the first item that isn't done, a little below the top. Scroll to the end if all are
        done.
        """
        items, width = self.state.todo, self.query_one("#todo-list").size.width
        if not width:
            return
        current = next((index for index, item in enumerate(items) if item.status != "done"), len(items))
        above = Content("\n").join([_render_item(item) for item in items[:current]])
        rows = above.get_height({}, width) if current else 0
        self.scroll_to(y=max(0, rows - self.size.height // 3), animate=False)


def has_open_todos(items: tuple[TodoItem, ...]) -> bool:
    """Return whether the list has open items. Otherwise, the list is hidden."""
    return any(item.status != "done" for item in items)


def _render_item(item: TodoItem) -> Content:
    glyph, color, style = _GLYPHS[item.status]
    return Content.assemble((f"{glyph} ", color), (sanitize_line(item.title), style))
