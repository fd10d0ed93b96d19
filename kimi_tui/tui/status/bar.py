"""The line at the bottom: how full the context is, what the session cost, what waits, what one can do."""

import asyncio
from pathlib import Path

from textual import work
from textual.app import RenderResult
from textual.reactive import reactive
from textual.widget import Widget

from kimi_tui.base.terminal import plain_line
from kimi_tui.language.saying import say
from kimi_tui.tui.figures import dollars, tokens
from kimi_tui.tui.keys import KeyNames
from kimi_tui.tui.segments import Segment, bar
from kimi_tui.tui.state import ScreenState
from kimi_tui.tui.status.git_branch import git_branch
from kimi_tui.tui.transcript.acts import GO_BACK, Act

_METER_CELLS = 8


class StatusBar(Widget):
    """Numbers at the left, keys at the right."""

    DEFAULT_CSS = """
    StatusBar { height: 1; width: 1fr; padding: 0 1; }
    """

    state: reactive[ScreenState] = reactive(ScreenState(), repaint=False)
    branch: reactive[str] = reactive("")
    """The git branch of the work dir."""

    acts: reactive[tuple[Act, ...]] = reactive(())
    """What can be done with the selected block; while there is something, it stands before all other keys."""

    def __init__(self, *, names: KeyNames, work_dir: Path) -> None:
        super().__init__()
        self.auto_links = False
        self._names = names
        self._work_dir = work_dir
        self._shown: list[Segment] = []

    @work(group="disk", exclusive=True)
    async def read_branch(self) -> None:
        """The work dir may be on another git branch now."""
        self.branch = await asyncio.to_thread(git_branch, self._work_dir)

    def watch_state(self) -> None:
        """Draw it when it says something else."""
        if self._figures() != self._shown:
            self.refresh()

    def render(self) -> RenderResult:
        """The line, cut to the width there is."""
        self._shown = self._figures()
        return bar(self._shown, self._keys(), self.size.width)

    def _figures(self) -> list[Segment]:
        return [*self._fill(), *self._numbers()]

    def _fill(self) -> list[Segment]:
        state = self.state
        if not state.max_context_tokens:
            return []
        share = state.context_share
        filled = round(share * _METER_CELLS)
        colour = "$error" if share >= 0.85 else "$warning" if share >= 0.6 else "$success"
        amount = f"{tokens(state.context_tokens)}/{tokens(state.max_context_tokens)}"
        return [
            Segment(f"{say('ctx')} {'█' * filled}{'░' * (_METER_CELLS - filled)}", colour, 42),
            Segment(f"{share:.0%}", colour, 90),
            Segment(amount, "$text-muted", 60, "screen.command('cost')"),
        ]

    def _numbers(self) -> list[Segment]:
        state = self.state
        segments = []
        if state.turn is not None or state.last_step:
            segments.append(Segment(say("step {number}", number=state.last_step), "$text-muted", 40))
        if state.usage.output:
            segments.append(
                Segment(say("{tokens} out", tokens=tokens(state.usage.output)), "$text-muted", 30)
            )
        if state.cost_usd is not None:
            segments.append(Segment(dollars(state.cost_usd), "$text-muted", 65, "screen.command('cost')"))
        if self.branch:
            segments.append(Segment(f"⎇ {plain_line(self.branch)}", "$text-muted", 50))
        if state.queue:
            segments.append(Segment(say("{count} queued", count=len(state.queue)), "bold $accent", 80))
        segments.extend(_background(state))
        return segments

    def _acts(self) -> list[Segment]:
        acts = [act for act in self.acts if act.binding != GO_BACK or not self.state.read_only]
        return [
            Segment(
                f"{self._names.first(act.binding)} {act.label}",
                "$primary",
                98 - number,
                f"focused.{act.action}",
            )
            for number, act in enumerate(acts)
        ]

    def _keys(self) -> list[Segment]:
        return [
            *self._acts(),
            Segment(
                say("{key} timeline", key=self._names.first("panes.timeline")),
                "$text-muted",
                15,
                "screen.toggle_pane('timeline')",
            ),
            Segment(
                say("{key} palette", key=self._names.first("app.palette")), "$text-muted", 75, "app.palette"
            ),
            Segment(say("{key} help", key=self._names.first("app.help")), "$text-muted", 25, "app.help"),
        ]


def _background(state: ScreenState) -> list[Segment]:
    segments = []
    if state.scan is not None:
        total = f"/{state.scan.total}" if state.scan.total else ""
        segments.append(
            Segment(say("scanning files {done}{total}", done=state.scan.done, total=total), "$secondary", 55)
        )
    if running := sum(task.status == "running" for task in state.tasks):
        segments.append(
            Segment(
                say("{running} in background", running=running), "$secondary", 70, "screen.command('tasks')"
            )
        )
    if state.mcp_loading:
        segments.append(Segment(say("connecting MCP"), "$secondary", 54))
    elif (mcp := state.mcp) is not None and mcp.total:
        colour, weight = ("$text-muted", 35) if mcp.connected == mcp.total else ("$warning", 58)
        words = f"MCP {mcp.connected}/{mcp.total}"
        segments.append(Segment(words, colour, weight, "screen.command('mcp')"))
    return segments
