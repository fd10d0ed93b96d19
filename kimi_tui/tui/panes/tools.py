"""Pane that lists all tool calls with their subject, status and duration."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from textual import events
from textual.content import Content
from textual.geometry import Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.timer import Timer
from textual.visual import Visual

from kimi_tui.base.terminal_text import sanitize_line
from kimi_tui.base.tool_arguments import PartialToolArguments
from kimi_tui.frontend.number_format import format_duration
from kimi_tui.frontend.session_state import SessionViewState
from kimi_tui.frontend.tool_runs import RunStatus, ToolRun
from kimi_tui.i18n.translate import tr
from kimi_tui.tui.keys.keymap import bindings
from kimi_tui.tui.keys.tables import TOOLS_KEYS
from kimi_tui.tui.widgets.closable_title import closable_title

_GLYPHS: dict[RunStatus, tuple[str, str]] = {
    "running": ("⟳", "$accent"),
    "done": ("✔", "$success"),
    "failed": ("✗", "$error"),
    "stopped": ("■", "$text-muted"),
}
_WAITING_GLYPH = ("?", "$warning")
_TICK_S = 1.0


class ToolsPane(ScrollView, can_focus=True, inherit_bindings=False):
    """Tool calls, oldest first. Follows the newest call until one is highlighted."""

    DEFAULT_CSS = """
    ToolsPane { height: 1fr; overflow-x: hidden; }
    """
    BINDINGS = bindings(TOOLS_KEYS)
    BINDING_GROUP_TITLE = "Tool calls"
    COMPONENT_CLASSES: ClassVar[set[str]] = {"tools--marked"}

    state: reactive[SessionViewState] = reactive(SessionViewState(), repaint=False)

    @dataclass
    class Highlighted(Message):
        """Posted when a call is highlighted, to select it in the conversation."""

        run: ToolRun

    @dataclass
    class Opened(Message):
        """Posted when the user opens a call in full."""

        run: ToolRun

    class Left(Message):
        """Posted when the user leaves the pane."""

    def __init__(self, *, clock: Callable[[], float]) -> None:
        super().__init__()
        self._clock = clock
        self._highlighted_id: str | None = None
        """ID of the highlighted call."""
        self._timer: Timer | None = None
        self._is_shown = False

    def watch_state(self, old: SessionViewState, state: SessionViewState) -> None:
        """Redraw if the calls or the requests changed."""
        if (old.tool_runs, old.requests) == (state.tool_runs, state.requests) and self.is_mounted:
            return
        if self._highlighted_id not in {run.id for run in state.tool_runs.calls}:
            self._highlighted_id = None
        self.border_title = closable_title(
            f"{tr('tools')} {len(state.tool_runs.calls)}" if state.tool_runs.calls else tr("tools")
        )
        self.virtual_size = Size(0, max(len(state.tool_runs.calls), 1))
        if self._highlighted_id is None:
            self.scroll_end(animate=False)
        self._toggle_timer()
        self.refresh()

    def on_show(self) -> None:
        """Update the durations while the pane is visible, and show the newest call."""
        self._is_shown = True
        if self._highlighted_id is None:
            self.call_after_refresh(self.scroll_end, animate=False)
        self._toggle_timer()

    def on_hide(self) -> None:
        """Stop updating the durations."""
        self._is_shown = False
        self._toggle_timer()

    def _toggle_timer(self) -> None:
        awaiting_ids = {request.tool_call_id for request in self.state.requests}
        needs_timer = self._is_shown and bool(self.state.tool_runs.running_ids - awaiting_ids)
        if needs_timer and self._timer is None:
            self._timer = self.set_interval(_TICK_S, self.refresh)
        elif not needs_timer and self._timer is not None:
            self._timer.stop()
            self._timer = None

    def render_line(self, y: int) -> Strip:
        """Render visible line `y`."""
        width = self.scrollable_content_region.width
        runs = self.state.tool_runs.calls
        index = y + round(self.scroll_offset.y)
        style = self.visual_style
        if not runs and y == 0:
            hint = Content.styled(tr("No tool calls yet."), "$text-muted")
            return Visual.to_strips(self, hint, width, 1, style, pad=True)[0]
        if index >= len(runs):
            return Strip.blank(width, self.rich_style)
        if runs[index].id == self._highlighted_id:
            style = self.get_visual_style("tools--marked")
        return Visual.to_strips(self, self._render_call(runs[index], width), width, 1, style, pad=True)[0]

    def _render_call(self, run: ToolRun, width: int) -> Content:
        is_waiting = any(request.tool_call_id == run.id for request in self.state.requests)
        glyph, color = _WAITING_GLYPH if is_waiting else _GLYPHS[run.status]
        seconds = run.duration_s
        if seconds is None and run.status == "running" and run.started_at is not None and not is_waiting:
            seconds = self._clock() - run.started_at
        duration = "" if seconds is None else f" {format_duration(seconds)}"
        subject = PartialToolArguments(run.arguments).summary()
        text = Content.assemble(
            (f"{glyph} ", color), (sanitize_line(run.name), "bold"), f" {subject}" if subject else ""
        )
        text_width = max(width - len(duration), 4)
        return Content.assemble(text.truncate(text_width, ellipsis=True, pad=True), (duration, "$text-muted"))

    # actions

    def action_move(self, lines: int) -> None:
        """Highlight another call."""
        runs = self.state.tool_runs.calls
        if not runs:
            return
        ids = [run.id for run in runs]
        current = ids.index(self._highlighted_id) if self._highlighted_id in ids else len(ids) - (lines > 0)
        self._highlight(max(0, min(current + lines, len(ids) - 1)))

    def _highlight(self, index: int) -> None:
        run = self.state.tool_runs.calls[index]
        self._highlighted_id = run.id
        top, height = round(self.scroll_offset.y), max(self.size.height, 1)
        if not top <= index < top + height:
            self.scroll_to(y=index if index < top else index - height + 1, animate=False)
        self.refresh()
        self.post_message(self.Highlighted(run))

    def action_open(self) -> None:
        """Open the highlighted call in full."""
        run = next((run for run in self.state.tool_runs.calls if run.id == self._highlighted_id), None)
        if run is not None:
            self.post_message(self.Opened(run))

    def action_leave(self) -> None:
        """Follow the newest call again and leave the pane."""
        self._highlighted_id = None
        self.scroll_end(animate=False)
        self.refresh()
        self.post_message(self.Left())

    def action_hide(self) -> None:
        """Hide the pane."""
        self.action_leave()

    def on_click(self, event: events.Click) -> None:
        """Highlight the clicked call; a double click opens it."""
        event.stop()
        index = event.y - self.gutter.top + round(self.scroll_offset.y)
        if 0 <= index < len(self.state.tool_runs.calls):
            self._highlight(index)
            if event.chain == 2:
                self.action_open()
