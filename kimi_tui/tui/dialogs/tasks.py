"""Tasks dialog: lists the background tasks, shows their live output, and stops them."""

from typing import Unpack, assert_never

from kimi_tui.base.terminal_text import sanitize, sanitize_line
from kimi_tui.i18n.translate import tr, tr_lazy, translate_message
from kimi_tui.tui.dialogs.list_dialog import ListDialog
from kimi_tui.tui.dialogs.pager import Pager
from kimi_tui.tui.dialogs.state_dialog import StateSource
from kimi_tui.tui.keys.keymap import bindings
from kimi_tui.tui.keys.tables import TASKS_KEYS
from kimi_tui.tui.markdown.styled_line import BLANK, StyledLine, text_style
from kimi_tui.tui.markdown.wrap import chop, wrap
from kimi_tui.tui.transcript.blocks.block import format_whole_seconds
from kimi_tui.tui.widgets.choice_list import Choice
from kimi_tui.tui.widgets.key_hints import KeyHint
from kimi_tui.wire.background import BackgroundTask, TaskStatus, TaskText
from kimi_tui.wire.commands import ReadTask, StopTask

_NO_TASKS = tr_lazy(
    "No background tasks.\n\n"
    "The agent can run servers, other long commands and sub-agents in the background. Ask it to."
)
_POLL_S = 0.5
_FROM_END = -60_000
"""Offset in bytes from the end at which to start reading a task's output."""
_MAX_CHARACTERS = 200_000
"""Maximum number of output characters to keep."""


class TasksDialog(ListDialog[None]):
    """Lists the tasks of the session and shows the output of the highlighted one."""

    BINDINGS = bindings(TASKS_KEYS)
    NAME = "tasks"
    HEADING = tr_lazy("Background tasks")

    def __init__(self, **source: Unpack[StateSource]) -> None:
        super().__init__(**source)
        self._tasks: tuple[BackgroundTask, ...] | None = None
        """The listed tasks, newest first."""
        self._last_output: TaskText | None = None
        """The last piece of output that was handled."""
        self._shown_task_id = ""
        """The id of the task whose output is shown."""
        self._text = ""
        self._end = 0

    def on_mount(self) -> None:
        """Show the tasks, watch them for changes, and poll the output of a running task."""
        self._last_output = self._host.state.replies.task_text  # left by an earlier dialog
        self._update_from_state()
        self.watch(self._owner, "state", self._update_from_state, init=False)
        self.watch(self.choices, "highlighted", self._request_output, init=False)
        self.set_interval(_POLL_S, self._poll)

    @property
    def highlighted_task(self) -> BackgroundTask | None:
        """The highlighted task."""
        tasks, index = self._tasks or (), self.choices.highlighted
        return tasks[index] if index < len(tasks) else None

    def _update_from_state(self) -> None:
        state = self._host.state
        tasks = tuple(reversed(state.tasks))
        if tasks != self._tasks:
            self._show_tasks(tasks)
        text = state.replies.task_text
        if text is not None and text is not self._last_output:
            self._last_output = text
            self._append_output(text)

    def _show_tasks(self, tasks: tuple[BackgroundTask, ...]) -> None:
        highlighted = self.highlighted_task.id if self.highlighted_task is not None else ""
        self._tasks = tasks
        self.choices.show([_choice(task) for task in tasks])
        ids = [task.id for task in tasks]
        self.choices.highlighted = ids.index(highlighted) if highlighted in ids else 0
        running = sum(task.status == "running" for task in tasks)
        self.title_line.update(
            tr("Background tasks   {running} running", running=running) if tasks else tr("Background tasks")
        )
        self._request_output()

    def _request_output(self) -> None:
        task = self.highlighted_task
        if task is not None and task.id != self._shown_task_id:
            self._shown_task_id, self._text, self._end = task.id, "", 0
            self._host.command(ReadTask(task.id, _FROM_END))
        elif task is not None:
            self._host.command(ReadTask(task.id, self._end))
        self.details.redraw()

    def _poll(self) -> None:
        if self.highlighted_task is not None and self.highlighted_task.status == "running":
            self._host.command(ReadTask(self.highlighted_task.id, self._end))

    def _append_output(self, piece: TaskText) -> None:
        if piece.task_id != self._shown_task_id or piece.end <= self._end:
            return
        at_end = self.details.scroll_offset.y >= self.details.max_scroll_y - 1
        self._text = (self._text + piece.text)[-_MAX_CHARACTERS:]
        self._end = piece.end
        self.details.redraw()
        if at_end:
            self.call_after_refresh(self.details.scroll_end, animate=False)
        if piece.text:
            self._host.command(ReadTask(piece.task_id, self._end))  # more output may be available

    def _hints(self) -> list[KeyHint]:
        first = self._key_labels.first_key
        return [
            KeyHint(first("tasks.stop"), tr("stop"), "stop"),
            KeyHint(first("tasks.open"), tr("view output"), "open"),
            KeyHint(first("tasks.close"), tr("close"), "close"),
        ]

    def build_lines(self, width: int) -> list[StyledLine]:
        """Return the details of the highlighted task."""
        task = self.highlighted_task
        if task is None:
            return [
                line for text in tr(_NO_TASKS).split("\n") for line in wrap([(text, text_style())], width)
            ]
        lines = [BLANK, *wrap([(sanitize_line(task.command), text_style("dim"))], width)[:3]]
        if task.status != "running":
            lines += wrap(
                [
                    (
                        sanitize_line(f"{translate_message(task.outcome)}{_duration_text(task)}"),
                        text_style(_role(task.status)),
                    )
                ],
                width,
            )
        lines.append(BLANK)
        for row in sanitize(self._text).expandtabs(8).rstrip("\n").split("\n"):
            lines += [
                StyledLine(piece, "" if n else "\n")
                for n, piece in enumerate(chop([(row, text_style())], width))
            ]
        return lines

    def action_stop(self) -> None:
        """Stop the highlighted task if it is running."""
        if self.highlighted_task is not None and self.highlighted_task.status == "running":
            self._host.command(StopTask(self.highlighted_task.id))

    def action_open(self) -> None:
        """Show the output on the full screen, with search."""
        if self.highlighted_task is not None and self._text:
            title = f"{self.highlighted_task.id}: {self.highlighted_task.description}"
            self.app.push_screen(
                Pager(title=title, text=self._text, copier=self._host, key_labels=self._key_labels)
            )


def _choice(task: BackgroundTask) -> Choice:
    status = (
        task.activity
        if task.status == "running" and task.activity
        else translate_message(task.status.replace("_", " "))
    )
    return Choice(
        value=task.id,
        label=f"{_sign(task.status)} {task.id}",
        detail=task.description,
        note=sanitize_line(status)[:40],
    )


def _sign(status: TaskStatus) -> str:
    match status:
        case "running":
            return "⟳"
        case "done":
            return "✔"
        case "failed" | "timed_out":
            return "✗"
        case "stopped" | "lost":
            return "⊘"
        case _:
            assert_never(status)


def _role(status: TaskStatus) -> str:
    return "done" if status == "done" else "failed" if status in ("failed", "timed_out") else "cancelled"


def _duration_text(task: BackgroundTask) -> str:
    return f" · {format_whole_seconds(task.ended - task.started)}" if task.ended is not None else ""
