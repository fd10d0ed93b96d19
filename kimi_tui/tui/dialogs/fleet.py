"""Fleet dialog: a live table of a fleet's tasks, any of which opens as a session."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, Unpack

from textual import getters, work
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Static

from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.terminal_text import sanitize, sanitize_line
from kimi_tui.frontend.fleet.opened_task import FleetTaskOpener
from kimi_tui.frontend.fleet.progress import FleetProgress, read_progress
from kimi_tui.frontend.fleet.task_list import ListedTask, TaskState, read_tasks
from kimi_tui.frontend.number_format import format_cost, format_duration
from kimi_tui.frontend.text.cell_width import cell_len, fit_cells, pad_left, pad_right
from kimi_tui.frontend.text.fleet_progress import failure_name, state_name, summary_lines, task_sign
from kimi_tui.i18n.translate import tr, tr_lazy, translate_error, translate_message
from kimi_tui.tui.dialogs.list_dialog import ListDialog
from kimi_tui.tui.dialogs.state_dialog import StateSource
from kimi_tui.tui.keys.keymap import bindings
from kimi_tui.tui.keys.tables import FLEET_KEYS
from kimi_tui.tui.markdown.styled_line import BLANK, StyledLine, text_style
from kimi_tui.tui.markdown.wrap import wrap
from kimi_tui.tui.session_request import FleetVisit, SessionRequest
from kimi_tui.tui.widgets.choice_list import Choice, ChoiceList
from kimi_tui.tui.widgets.key_hints import KeyHint, KeyHints
from kimi_tui.tui.widgets.line_view import LineView

_POLL_S = 1.0
_Filter = Literal["all"] | TaskState
_FILTERS: tuple[_Filter, ...] = ("all", "running", "failed", "passed", "pending")
_MAX_ID_CELLS = 24
_STATE_CELLS = 15
_TIME_CELLS = 10
_COST_CELLS = 7
_LABEL_CELLS = 10
_BAR_CELLS = 20
_MIN_DETAIL_ROWS = 20
"""Minimum height of the screen, in rows, to show the details."""


class FleetDialog(ListDialog[SessionRequest]):
    """Reads a fleet's database once a second. Returns a request to open a task's session."""

    BINDINGS = bindings(FLEET_KEYS)
    NAME = "fleet"
    HEADING = tr_lazy("Fleet")

    summary = getters.query_one("#fleet-summary", Static)
    header = getters.query_one("#fleet-header", Static)

    def __init__(self, database: Path, *, opener: FleetTaskOpener, **source: Unpack[StateSource]) -> None:
        super().__init__(**source)
        self._database = database
        self._opener = opener
        self._tasks: tuple[ListedTask, ...] = ()
        self._shown: tuple[ListedTask, ...] = ()
        """The tasks that match the filter."""
        self._filter: _Filter = "all"
        self._problem = ""
        """Error of the last read. Empty if it succeeded."""
        self._is_opening = False
        self._rows: dict[ListedTask, Choice] = {}
        self._row_id_cells = 0

    def compose(self) -> ComposeResult:
        """Yield the title, the summary, the table, the details and the key hints."""
        with Vertical(id=self.NAME, classes="dialog"):
            yield Static(tr(self.HEADING), classes="dialog-title", markup=False)
            yield Static("", id="fleet-summary", markup=False)
            yield Static("", id="fleet-header", markup=False)
            yield ChoiceList()
            yield LineView(self)
            yield KeyHints(self._hints())

    def on_mount(self) -> None:
        """Read the database, now and once a second."""
        self.watch(self.choices, "highlighted", self.details.redraw, init=False)
        self._read()
        self.set_interval(_POLL_S, self._read)

    def on_resize(self) -> None:
        """Hide the details on a small screen."""
        is_short = self.size.height < _MIN_DETAIL_ROWS
        self.details.display = not is_short
        self.summary.styles.max_height = 2 if is_short else None

    @property
    def highlighted_task(self) -> ListedTask | None:
        """The highlighted task."""
        index = self.choices.highlighted
        return self._shown[index] if index < len(self._shown) else None

    @work(group="fleet", exclusive=True)
    async def _read(self) -> None:
        try:
            progress = await asyncio.to_thread(read_progress, self._database)
            tasks = await asyncio.to_thread(read_tasks, self._database)
        except KimiTuiError as error:
            self._problem = sanitize_line(translate_error(error))
            self.details.redraw()
            return
        self._problem = ""
        self._show_progress(progress)
        if tasks != self._tasks:
            self._show_tasks(tasks)

    def _show_progress(self, progress: FleetProgress) -> None:
        done = round(_BAR_CELLS * progress.done_count / max(progress.total, 1))
        bar = "▓" * done + "░" * (_BAR_CELLS - done)
        self.title_line.update(sanitize_line(f"{tr(self.HEADING)} {progress.name}  {bar}"))
        counts, waiting, cost, time, *more = summary_lines(progress)
        self.summary.update("\n".join((f"{counts} · {waiting}", f"{cost} · {time}", *more)))

    def _show_tasks(self, tasks: tuple[ListedTask, ...]) -> None:
        """Show the tasks that match the filter. The highlight stays on its task."""
        highlighted = self.highlighted_task
        is_first = not self._tasks
        self._tasks = tasks
        self._shown = tuple(task for task in tasks if self._filter in ("all", task.state))
        id_cells = min(max((cell_len(task.id) for task in self._shown), default=4), _MAX_ID_CELLS)
        self.choices.replace(self._choices_of(self._shown, id_cells))
        ids = [task.id for task in self._shown]
        if highlighted is not None and highlighted.id in ids:
            self.choices.highlighted = ids.index(highlighted.id)
        elif is_first:
            running = (index for index, task in enumerate(self._shown) if task.state == "running")
            self.choices.highlighted = next(running, 0)
        self.header.update(_header(id_cells))
        self.details.redraw()

    def _choices_of(self, tasks: Sequence[ListedTask], id_cells: int) -> list[Choice]:
        """Return the rows of tasks. Reuse the rows of unchanged tasks: a fleet has thousands of tasks."""
        rows = self._rows if id_cells == self._row_id_cells else {}
        self._rows = {task: rows.get(task) or _choice(task, id_cells) for task in tasks}
        self._row_id_cells = id_cells
        return list(self._rows.values())

    def _hints(self) -> list[KeyHint]:
        first = self._key_labels.first_key
        hints = [
            KeyHint(first("fleet.open"), tr("open as a session"), "open", "bold"),
            KeyHint(first("fleet.filter"), tr("show: {what}", what=self._filter_name), "filter"),
            KeyHint(first("fleet.close"), tr("close"), "close"),
        ]
        if self._host.fleet_visit is not None:
            hints.insert(1, KeyHint(first("fleet.back"), tr("back to your session"), "back"))
        return hints

    @property
    def _filter_name(self) -> str:
        return tr("all tasks") if self._filter == "all" else state_name(self._filter)

    def build_lines(self, width: int) -> list[StyledLine]:
        """Return the details of the highlighted task."""
        if self._problem:
            return wrap([(self._problem, text_style("failed"))], width)
        task = self.highlighted_task
        if task is None:
            return wrap([(tr("No tasks."), text_style("dim"))], width)
        lines = [BLANK]
        if task.problem:
            lines += wrap([(sanitize_line(translate_message(task.problem)), text_style("failed"))], width)
        for label, text in _facts(task):
            margin = ((pad_right(label, _LABEL_CELLS), text_style("dim")),)
            blank = ((" " * _LABEL_CELLS, text_style()),)
            lines += wrap([(sanitize_line(text), text_style())], width, first=margin, rest=blank)
        return lines

    def _activate_highlighted(self) -> None:
        self.action_open()

    # actions

    def action_open(self) -> None:
        """Open the highlighted task as a session."""
        if self.highlighted_task is not None and not self._is_opening:
            self._open(self.highlighted_task.id)

    @work(group="open", exclusive=True)
    async def _open(self, task_id: str) -> None:
        self._is_opening = True
        try:
            opened = await asyncio.to_thread(self._opener.open_task, self._database, task_id)
        except KimiTuiError as error:
            self.notify(sanitize(translate_error(error)), severity="warning", markup=False)
            return
        finally:
            self._is_opening = False
        visit = FleetVisit(
            database=self._database, task_id=task_id, is_running=opened.is_running, back=self._way_back()
        )
        self.dismiss(
            SessionRequest(
                session_id=opened.session_id,
                read_only=opened.is_running,
                work_dir=opened.work_dir,
                data_dir=opened.data_dir,
                fleet_visit=visit,
            )
        )

    def _way_back(self) -> SessionRequest:
        """Return a request for the session that was open before the first task."""
        if self._host.fleet_visit is not None:
            return self._host.fleet_visit.back
        session = self._host.state.session
        if session is None:
            return SessionRequest()
        is_stored = bool(session.title)  # a session without messages isn't on disk
        return SessionRequest(
            session_id=session.session_id if is_stored else None,
            read_only=session.read_only and is_stored,
            work_dir=Path(session.work_dir),
        )

    def action_back(self) -> None:
        """Return to the session that was open before the first task."""
        if self._host.fleet_visit is not None:
            self.dismiss(self._host.fleet_visit.back)

    def action_filter(self) -> None:
        """List only the tasks of the next state."""
        self._filter = _FILTERS[(_FILTERS.index(self._filter) + 1) % len(_FILTERS)]
        self.query_one(KeyHints).show(self._hints())
        self._show_tasks(self._tasks)


def _header(id_cells: int) -> str:
    columns = (
        pad_right(tr("task"), id_cells + 2),
        pad_right(tr("state"), _STATE_CELLS),
        pad_left(tr("time"), _TIME_CELLS),
        pad_left(tr("cost"), _COST_CELLS),
        tr("prompt"),
    )
    return f" {'  '.join(columns)}"


def _choice(task: ListedTask, id_cells: int) -> Choice:
    state = failure_name(task.failure) if task.failure else state_name(task.state)
    if task.attempts > 1:
        state = f"{state} ×{task.attempts}"
    columns = (
        f"{task_sign(task.state)} {fit_cells(task.id, id_cells)}",
        fit_cells(state, _STATE_CELLS),
        pad_left("" if task.elapsed_s is None else format_duration(task.elapsed_s), _TIME_CELLS),
        pad_left("" if task.cost_usd is None else format_cost(task.cost_usd), _COST_CELLS),
        sanitize_line(task.prompt),
    )
    return Choice(value=task.id, label=task.id, row="  ".join(columns))


def _facts(task: ListedTask) -> list[tuple[str, str]]:
    facts = [
        (tr("prompt"), task.prompt),
        (tr("check"), task.check),
        (tr("attempt"), str(task.attempts) if task.attempts else ""),
        (tr("node"), task.node),
    ]
    return [(label, text) for label, text in facts if text]
