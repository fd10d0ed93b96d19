"""The tool pane: every tool call, with what it is about, how it went and how long it took."""

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

from kimi_tui.base.call_arguments import Arguments
from kimi_tui.base.terminal import plain_line
from kimi_tui.language.saying import say
from kimi_tui.tui.figures import duration
from kimi_tui.tui.key_tables import TOOLS_KEYS
from kimi_tui.tui.keys import bindings
from kimi_tui.tui.state import ScreenState
from kimi_tui.tui.tool_runs import RunStatus, ToolRun

_MARKS: dict[RunStatus, tuple[str, str]] = {
    "running": ("⟳", "$accent"),
    "done": ("✔", "$success"),
    "failed": ("✗", "$error"),
    "stopped": ("■", "$text-muted"),
}
_WAITING = ("?", "$warning")
_TICK_S = 1.0


class ToolsPane(ScrollView, can_focus=True, inherit_bindings=False):
    """The calls, oldest first; it follows the newest until one is marked."""

    DEFAULT_CSS = """
    ToolsPane { height: 1fr; overflow-x: hidden; }
    """
    BINDINGS = bindings(TOOLS_KEYS)
    BINDING_GROUP_TITLE = "Tool calls"
    COMPONENT_CLASSES: ClassVar[set[str]] = {"tools--marked"}

    state: reactive[ScreenState] = reactive(ScreenState(), repaint=False)

    @dataclass
    class Marked(Message):
        """A call was marked: the conversation should show it."""

        run: ToolRun

    @dataclass
    class Opened(Message):
        """The user wants to read all of a call."""

        run: ToolRun

    class Left(Message):
        """The user is done here."""

    def __init__(self, *, clock: Callable[[], float]) -> None:
        super().__init__()
        self._clock = clock
        self._marked: str | None = None
        """The id of the marked call."""
        self._timer: Timer | None = None
        self._seen = False

    def watch_state(self, old: ScreenState, state: ScreenState) -> None:
        """Draw what changed."""
        if (old.runs, old.requests) == (state.runs, state.requests) and self.is_mounted:
            return
        if self._marked not in {run.id for run in state.runs.all}:
            self._marked = None
        self.border_title = Content(
            f"{say('tools')} {len(state.runs.all)}" if state.runs.all else say("tools")
        )
        self.virtual_size = Size(0, max(len(state.runs.all), 1))
        if self._marked is None:
            self.scroll_end(animate=False)
        self._tick()
        self.refresh()

    def on_show(self) -> None:
        """Times go on while it is seen."""
        self._seen = True
        self._tick()

    def on_hide(self) -> None:
        """Nobody looks."""
        self._seen = False
        self._tick()

    def _tick(self) -> None:
        waiting = {request.tool_call_id for request in self.state.requests}
        on = self._seen and bool(self.state.runs.running - waiting)
        if on and self._timer is None:
            self._timer = self.set_interval(_TICK_S, self.refresh)
        elif not on and self._timer is not None:
            self._timer.stop()
            self._timer = None

    def render_line(self, y: int) -> Strip:
        """Line `y` of what is in sight."""
        width = self.scrollable_content_region.width
        runs = self.state.runs.all
        index = y + round(self.scroll_offset.y)
        style = self.visual_style
        if not runs and y == 0:
            hint = Content.styled(say("Nothing has run yet."), "$text-muted")
            return Visual.to_strips(self, hint, width, 1, style, pad=True)[0]
        if index >= len(runs):
            return Strip.blank(width, self.rich_style)
        if runs[index].id == self._marked:
            style = self.get_visual_style("tools--marked")
        return Visual.to_strips(self, self._line(runs[index], width), width, 1, style, pad=True)[0]

    def _line(self, run: ToolRun, width: int) -> Content:
        waiting = any(request.tool_call_id == run.id for request in self.state.requests)
        mark, colour = _WAITING if waiting else _MARKS[run.status]
        seconds = run.seconds
        if seconds is None and run.status == "running" and run.started is not None and not waiting:
            seconds = self._clock() - run.started
        time = "" if seconds is None else f" {duration(seconds)}"
        about = Arguments(run.arguments).telling()
        text = Content.assemble(
            (f"{mark} ", colour), (plain_line(run.name), "bold"), f" {about}" if about else ""
        )
        room = max(width - len(time), 4)
        return Content.assemble(text.truncate(room, ellipsis=True, pad=True), (time, "$text-muted"))

    # choosing

    def action_move(self, lines: int) -> None:
        """Mark another call."""
        runs = self.state.runs.all
        if not runs:
            return
        ids = [run.id for run in runs]
        now = ids.index(self._marked) if self._marked in ids else len(ids) - (lines > 0)
        self._mark(max(0, min(now + lines, len(ids) - 1)))

    def _mark(self, index: int) -> None:
        run = self.state.runs.all[index]
        self._marked = run.id
        top, height = round(self.scroll_offset.y), max(self.size.height, 1)
        if not top <= index < top + height:
            self.scroll_to(y=index if index < top else index - height + 1, animate=False)
        self.refresh()
        self.post_message(self.Marked(run))

    def action_open(self) -> None:
        """Read all of the marked call."""
        run = next((run for run in self.state.runs.all if run.id == self._marked), None)
        if run is not None:
            self.post_message(self.Opened(run))

    def action_leave(self) -> None:
        """Follow the newest again, and go back."""
        self._marked = None
        self.scroll_end(animate=False)
        self.refresh()
        self.post_message(self.Left())

    def on_click(self, event: events.Click) -> None:
        """Mark what is under the mouse; a second click opens it."""
        event.stop()
        index = event.y - self.gutter.top + round(self.scroll_offset.y)
        if 0 <= index < len(self.state.runs.all):
            self._mark(index)
            if event.chain == 2:
                self.action_open()
