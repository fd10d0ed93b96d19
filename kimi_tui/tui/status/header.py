"""The line on top: program, work dir, session title; model and modes."""

from pathlib import Path

from rich.cells import cell_len
from textual.app import RenderResult
from textual.content import Content
from textual.reactive import reactive
from textual.widget import Widget

from kimi_tui.base.terminal import plain_line
from kimi_tui.language.saying import say
from kimi_tui.tui.segments import Segment, bar
from kimi_tui.tui.state import ScreenState

_MODEL = 28
"""Cells that a model's name may take anyway; of wide terminals a third."""
_TITLE = 8
"""Where there is less room, the title is left out."""


class HeaderLine(Widget):
    """Where we are and whom we talk to."""

    DEFAULT_CSS = """
    HeaderLine { height: 1; width: 1fr; padding: 0 1; }
    """

    state: reactive[ScreenState] = reactive(ScreenState(), repaint=False)

    def __init__(self, work_dir: Path) -> None:
        super().__init__()
        self.auto_links = False
        self._work_dir = home_relative(work_dir)
        self._shown: object = None

    def watch_state(self) -> None:
        """Draw it when it says something else."""
        if self._sides() != self._shown:
            self.refresh()

    def render(self) -> RenderResult:
        """The line, cut to the width there is."""
        self._shown = left, right = self._sides()
        return bar(left, right, self.size.width)

    def _sides(self) -> tuple[list[Segment], list[Segment]]:
        session = self.state.session
        left = [
            Segment("kimi-tui", "bold $primary", 60),
            Segment(shortened(self._work_dir, self.size.width // 2), "$foreground", 55),
        ]
        if session is None:
            how = (
                (say("not started"), "bold $error")
                if self.state.failed
                else (say("starting …"), "$text-muted")
            )
            return left, [Segment(*how, 80)]
        if session.agent not in ("", "default"):
            left.append(Segment(plain_line(session.agent), "$secondary", 42, "screen.command('agents')"))
        right = self._model()
        if session.title:
            room = self.size.width - sum(segment.content.cell_length + 2 for segment in (*left, *right))
            title = Content(plain_line(session.title)).truncate(max(_TITLE, room), ellipsis=True).plain
            left.append(Segment(title, "$text-muted", 40, "screen.command('sessions')"))
        return left, right

    def _model(self) -> list[Segment]:
        session = self.state.session
        assert session is not None
        if session.read_only:
            return [Segment(say("read-only"), "bold $warning", 90, "screen.command('write')")]
        segments = []
        name = (
            say("demo, not a model") if self.state.is_demo else plain_line(session.model) or say("no model")
        )
        name = Content(name).truncate(max(_MODEL, self.size.width // 3), ellipsis=True).plain
        colour = "$warning" if self.state.is_demo or not session.model else "$foreground"
        segments.append(Segment(name, f"bold {colour}", 90, "screen.command('model')"))
        if session.thinking:
            segments.append(Segment(say("thinking"), "$secondary", 45, "screen.command('thinking')"))
        if session.plan_mode:
            segments.append(Segment(say("plan"), "bold $accent", 80, "screen.cycle_mode"))
        elif session.accept_edits:
            segments.append(Segment(say("accepts edits"), "bold $success", 70, "screen.cycle_mode"))
        if session.sandbox:
            segments.append(Segment(say("sandbox"), "bold $success", 65))
        if session.yolo:
            segments.append(Segment("yolo", "bold $error", 85, "screen.command('yolo')"))
        return segments


def shortened(path: str, width: int) -> str:
    """`path` without its first parts when it is wider than `width` cells."""
    parts = path.split("/")
    while len(parts) > 2 and cell_len("/".join(parts)) > width:
        parts = ["…", *parts[2:]]
    return "/".join(parts)


def home_relative(path: Path) -> str:
    """`path` with the home folder as `~`, fit for the screen."""
    try:
        return plain_line(f"~/{path.relative_to(Path.home())}".removesuffix("/."))
    except (ValueError, RuntimeError):
        return plain_line(str(path))
