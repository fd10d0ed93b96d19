"""Status bar: context usage, cost, git branch, queue and key hints."""

import asyncio
from pathlib import Path

from textual import work
from textual.app import RenderResult
from textual.reactive import reactive
from textual.widget import Widget

from kimi_tui.base.terminal_text import sanitize_line
from kimi_tui.frontend.number_format import format_cost, format_tokens
from kimi_tui.frontend.session_state import SessionViewState
from kimi_tui.i18n.translate import tr
from kimi_tui.tui.keys.keymap import KeyLabels
from kimi_tui.tui.status.git_branch import git_branch
from kimi_tui.tui.transcript.block_action import REVERT_BINDING, BlockAction
from kimi_tui.tui.widgets.segment_bar import Segment, fit_segments

_METER_CELLS = 8


class StatusBar(Widget):
    """Status on the left, key hints on the right."""

    DEFAULT_CSS = """
    StatusBar { height: 1; width: 1fr; padding: 0 1; }
    """

    state: reactive[SessionViewState] = reactive(SessionViewState(), repaint=False)
    branch: reactive[str] = reactive("")
    """Git branch of the working directory."""

    block_actions: reactive[tuple[BlockAction, ...]] = reactive(())
    """Actions for the selected block. Shown before all other keys."""

    def __init__(self, *, key_labels: KeyLabels, work_dir: Path) -> None:
        super().__init__()
        self.auto_links = False
        self._key_labels = key_labels
        self._work_dir = work_dir
        self._shown_segments: list[Segment] = []

    @work(group="disk", exclusive=True)
    async def read_branch(self) -> None:
        """Read the current git branch in a thread."""
        self.branch = await asyncio.to_thread(git_branch, self._work_dir)

    def watch_state(self) -> None:
        """Redraw if the status text has changed."""
        if self._left_segments() != self._shown_segments:
            self.refresh()

    def render(self) -> RenderResult:
        """Return the line, cut to the available width."""
        self._shown_segments = self._left_segments()
        return fit_segments(self._shown_segments, self._key_segments(), self.size.width)

    def _left_segments(self) -> list[Segment]:
        return [*self._context_segments(), *self._session_segments()]

    def _context_segments(self) -> list[Segment]:
        state = self.state
        if not state.max_context_tokens:
            return []
        share = state.context_share
        filled = round(share * _METER_CELLS)
        color = "$error" if share >= 0.85 else "$warning" if share >= 0.6 else "$success"
        amount = f"{format_tokens(state.context_tokens)}/{format_tokens(state.max_context_tokens)}"
        return [
            Segment(
                f"{tr('ctx')} {'█' * filled}{'░' * (_METER_CELLS - filled)}",
                color,
                42,
                "screen.command('context')",
            ),
            Segment(f"{share:.0%}", color, 90, "screen.command('context')"),
            Segment(amount, "$text-muted", 60, "screen.command('context')"),
        ]

    def _session_segments(self) -> list[Segment]:
        state = self.state
        segments = []
        if state.turn is not None or state.last_step:
            segments.append(Segment(tr("step {number}", number=state.last_step), "$text-muted", 40))
        if state.usage.output:
            segments.append(
                Segment(tr("{tokens} out", tokens=format_tokens(state.usage.output)), "$text-muted", 30)
            )
        if state.cost_usd is not None:
            segments.append(Segment(format_cost(state.cost_usd), "$text-muted", 65, "screen.command('cost')"))
        if self.branch:
            segments.append(Segment(f"⎇ {sanitize_line(self.branch)}", "$text-muted", 50))
        if state.queue:
            segments.append(Segment(tr("{count} queued", count=len(state.queue)), "bold $accent", 80))
        segments.extend(_background_segments(state))
        return segments

    def _action_segments(self) -> list[Segment]:
        actions = [
            action
            for action in self.block_actions
            if action.binding != REVERT_BINDING or not self.state.read_only
        ]
        return [
            Segment(
                f"{self._key_labels.first_key(action.binding)} {action.label}",
                "$primary",
                98 - number,
                f"focused.{action.action}",
            )
            for number, action in enumerate(actions)
        ]

    def _key_segments(self) -> list[Segment]:
        return [
            *self._action_segments(),
            Segment(
                tr("{key} timeline", key=self._key_labels.first_key("panes.timeline")),
                "$text-muted",
                15,
                "screen.toggle_pane('timeline')",
            ),
            Segment(
                tr("{key} palette", key=self._key_labels.first_key("app.palette")),
                "$text-muted",
                75,
                "app.palette",
            ),
            Segment(
                tr("{key} help", key=self._key_labels.first_key("app.help")), "$text-muted", 25, "app.help"
            ),
        ]


def _background_segments(state: SessionViewState) -> list[Segment]:
    segments = []
    if state.snapshot_progress is not None:
        total = f"/{state.snapshot_progress.total}" if state.snapshot_progress.total else ""
        segments.append(
            Segment(
                tr("scanning files {done}{total}", done=state.snapshot_progress.done, total=total),
                "$secondary",
                55,
            )
        )
    if running := sum(task.status == "running" for task in state.tasks):
        segments.append(
            Segment(
                tr("{running} in background", running=running), "$secondary", 70, "screen.command('tasks')"
            )
        )
    if state.mcp_loading:
        segments.append(Segment(tr("connecting MCP"), "$secondary", 54))
    elif (mcp := state.mcp) is not None and mcp.total:
        color, weight = ("$text-muted", 35) if mcp.connected == mcp.total else ("$warning", 58)
        text = f"MCP {mcp.connected}/{mcp.total}"
        segments.append(Segment(text, color, weight, "screen.command('mcp')"))
    return segments
