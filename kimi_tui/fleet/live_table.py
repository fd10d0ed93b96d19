"""Live table of a fleet in a plain terminal."""

import threading
import time
from pathlib import Path

from rich.console import Console, Group
from rich.live import Live
from rich.padding import Padding
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.terminal_text import sanitize_line
from kimi_tui.frontend.fleet.progress import FleetProgress, read_progress
from kimi_tui.frontend.number_format import format_duration
from kimi_tui.frontend.text.fleet_progress import summary_lines
from kimi_tui.i18n.translate import tr

_REFRESH_S = 1.0
_SUMMARY_HEIGHT = 10


class LiveTable:
    """Draws the progress of a database once a second, from its own thread."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._console = Console(stderr=True)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._draw, daemon=True)

    def start(self) -> None:
        """Start drawing."""
        self._thread.start()

    def print_line(self, line: str) -> None:
        """Implement `LineWriter.print_line`: print a line above the table."""
        self._console.print(line, markup=False, highlight=False)

    def close(self) -> None:
        """Draw a last time and stop."""
        self._stop.set()
        self._thread.join()

    def _draw(self) -> None:
        with Live(console=self._console, auto_refresh=False, transient=True) as live:
            while not self._stop.wait(_REFRESH_S):
                try:
                    progress = read_progress(self._path)
                except KimiTuiError:
                    continue  # the driver reports it
                live.update(render_progress(progress, height=self._console.height), refresh=True)


def watch_progress(path: Path) -> None:
    """Draw the progress on stdout until nothing is running or pending. Raises KimiTuiError."""
    console = Console()
    with Live(console=console, auto_refresh=False) as live:
        while True:
            progress = read_progress(path)
            live.update(render_progress(progress, height=console.height), refresh=True)
            if not progress.running and not progress.pending:
                return
            time.sleep(_REFRESH_S)


def render_progress(progress: FleetProgress, *, height: int) -> Group:
    """Return the progress as a bar, a summary and a table of running tasks that fits into `height` lines."""
    table = Table(box=None, pad_edge=False, expand=True)
    table.add_column(tr("task"), no_wrap=True, style="bold")
    table.add_column(tr("attempt"), justify="right")
    table.add_column(tr("time"), justify="right", no_wrap=True)
    table.add_column(tr("node"), no_wrap=True)
    table.add_column(tr("prompt"), no_wrap=True, ratio=1)
    room = max(height - _SUMMARY_HEIGHT - len(progress.failures), 3)
    for attempt in progress.attempts[:room]:
        table.add_row(
            Text(attempt.task_id),
            str(attempt.attempt),
            format_duration(attempt.elapsed_s),
            Text(sanitize_line(attempt.node)),
            Text(sanitize_line(attempt.prompt), overflow="ellipsis"),
        )
    bar = Padding(
        ProgressBar(total=max(progress.total, 1), completed=progress.done_count), 0
    )  # ends its line
    title = Text(sanitize_line(progress.name), style="bold")
    return Group(
        title, bar, *(Text(line) for line in summary_lines(progress)), *([table] if progress.attempts else [])
    )
