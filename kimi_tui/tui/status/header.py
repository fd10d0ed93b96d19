"""Header line: program, working directory and session title; model and sandbox."""

from pathlib import Path

from rich.cells import cell_len
from textual.app import RenderResult
from textual.content import Content
from textual.reactive import reactive
from textual.widget import Widget

from kimi_tui.base.terminal_text import sanitize_line
from kimi_tui.frontend.session_state import SessionViewState
from kimi_tui.frontend.text.models import thinking_label
from kimi_tui.i18n.translate import tr
from kimi_tui.tui.widgets.segment_bar import Segment, fit_segments

_MODEL_CELLS = 28
"""Minimum cells for the model's name. On wide terminals, the name has a third of the width."""
_MIN_TITLE_CELLS = 8
"""Minimum cells for the title. With fewer cells, the title is omitted."""


class HeaderLine(Widget):
    """Working directory and session on the left, model on the right."""

    DEFAULT_CSS = """
    HeaderLine { height: 1; width: 1fr; padding: 0 1; }
    """

    state: reactive[SessionViewState] = reactive(SessionViewState(), repaint=False)

    def __init__(self, work_dir: Path) -> None:
        super().__init__()
        self.auto_links = False
        self._work_dir = home_relative(work_dir)
        self._shown_segments: object = None

    def watch_state(self) -> None:
        """Redraw if the text has changed."""
        if self._build_sides() != self._shown_segments:
            self.refresh()

    def render(self) -> RenderResult:
        """Return the line, cut to the available width."""
        self._shown_segments = left, right = self._build_sides()
        return fit_segments(left, right, self.size.width)

    def _build_sides(self) -> tuple[list[Segment], list[Segment]]:
        session = self.state.session
        left = [
            Segment("kimi-tui", "bold $primary", 60),
            Segment(shorten_path(self._work_dir, self.size.width // 2), "$foreground", 55),
        ]
        if session is None:
            status = (
                (tr("failed to start"), "bold $error")
                if self.state.has_failed
                else (tr("starting …"), "$text-muted")
            )
            return left, [Segment(*status, 80)]
        if session.agent not in ("", "default"):
            left.append(Segment(sanitize_line(session.agent), "$secondary", 42, "screen.command('agents')"))
        right = self._model_segments()
        if session.title:
            room = self.size.width - sum(segment.content.cell_length + 2 for segment in (*left, *right))
            title = (
                Content(sanitize_line(session.title))
                .truncate(max(_MIN_TITLE_CELLS, room), ellipsis=True)
                .plain
            )
            left.append(Segment(title, "$text-muted", 40, "screen.command('sessions')"))
        return left, right

    def _model_segments(self) -> list[Segment]:
        session = self.state.session
        assert session is not None
        if session.read_only:
            return [Segment(tr("read-only"), "bold $warning", 90, "screen.command('write')")]
        segments = []
        name = (
            tr("demo, no model")
            if self.state.is_demo
            else sanitize_line(session.model_label) or tr("no model")
        )
        name = Content(name).truncate(max(_MODEL_CELLS, self.size.width // 3), ellipsis=True).plain
        color = "$warning" if self.state.is_demo or not session.model else "$foreground"
        segments.append(Segment(name, f"bold {color}", 90, "screen.command('model')"))
        if session.thinking:
            level = thinking_label(session.thinking_effort, session.thinking_levels)
            segments.append(Segment(level, "$secondary", 45, "screen.command('thinking')"))
        if session.sandbox:
            segments.append(Segment(tr("sandbox"), "bold $success", 65))
        return segments


def shorten_path(path: str, width: int) -> str:
    """Return `path` in at most `width` cells. If it is wider, replace its first directories by `…`."""
    parts = path.split("/")
    while len(parts) > 2 and cell_len("/".join(parts)) > width:
        parts = ["…", *parts[2:]]
    return "/".join(parts)


def home_relative(path: Path) -> str:
    """Return `path` with the home directory as `~`, sanitized."""
    try:
        return sanitize_line(f"~/{path.relative_to(Path.home())}".removesuffix("/."))
    except (ValueError, RuntimeError):
        return sanitize_line(str(path))
