"""The background tasks: how each one stands, its output as it comes, and stopping it."""

from collections.abc import Callable
from typing import Unpack, assert_never

from kimi_tui.base.terminal import plain, plain_line
from kimi_tui.language.saying import later, retell, say
from kimi_tui.tui.choices import Choice
from kimi_tui.tui.dialogs.following import Followed
from kimi_tui.tui.dialogs.listed import ListedDialog
from kimi_tui.tui.dialogs.pager import Pager
from kimi_tui.tui.hints import Hint
from kimi_tui.tui.key_tables import TASKS_KEYS
from kimi_tui.tui.keys import bindings
from kimi_tui.tui.markdown.line import BLANK, Line, ink
from kimi_tui.tui.markdown.wrap import chop, wrap
from kimi_tui.tui.transcript.blocks.block import whole_seconds
from kimi_tui.wire.background import BackgroundTask, TaskStatus, TaskText
from kimi_tui.wire.commands import ReadTask, StopTask

_NONE = later(
    "Nothing runs in the background, and nothing did in this session.\n\nThe agent starts there what takes "
    "long, such as servers, and sub-agents that it need not wait for. Ask it to."
)
_POLL_S = 0.5
_FROM_END = -60_000
"""Where reading a task's output begins, in bytes."""
_KEPT = 200_000
"""Characters of one task's output that are held here."""


class TasksDialog(ListedDialog[None]):
    """Follows the state of the screen that opened it, and reads the output of the marked task."""

    BINDINGS = bindings(TASKS_KEYS)
    NAME = "tasks"
    HEADING = later("Background tasks")

    def __init__(self, *, copy: Callable[[str], None], **followed: Unpack[Followed]) -> None:
        super().__init__(**followed)
        self._copy = copy
        self._tasks: tuple[BackgroundTask, ...] | None = None
        """What is listed, the newest first."""
        self._read: TaskText | None = None
        """The last piece that was taken in."""
        self._reading = ""
        """The id of the task whose output is shown."""
        self._text = ""
        self._end = 0

    def on_mount(self) -> None:
        """Show how things are, and go on doing so."""
        self._read = self._state().replies.task_text  # of an earlier look
        self._follow()
        self.watch(self._owner, "state", self._follow, init=False)
        self.watch(self.choices, "marked", self._begin_reading, init=False)
        self.set_interval(_POLL_S, self._poll)

    @property
    def marked(self) -> BackgroundTask | None:
        """The marked one."""
        tasks, marked = self._tasks or (), self.choices.marked
        return tasks[marked] if marked < len(tasks) else None

    def _follow(self) -> None:
        state = self._state()
        tasks = tuple(reversed(state.tasks))
        if tasks != self._tasks:
            self._list(tasks)
        text = state.replies.task_text
        if text is not None and text is not self._read:
            self._read = text
            self._take(text)

    def _list(self, tasks: tuple[BackgroundTask, ...]) -> None:
        marked = self.marked.id if self.marked is not None else ""
        self._tasks = tasks
        self.choices.show([_choice(task) for task in tasks])
        ids = [task.id for task in tasks]
        self.choices.marked = ids.index(marked) if marked in ids else 0
        running = sum(task.status == "running" for task in tasks)
        self.title_line.update(
            say("Background tasks   {running} running", running=running) if tasks else say("Background tasks")
        )
        self._begin_reading()

    def _begin_reading(self) -> None:
        task = self.marked
        if task is not None and task.id != self._reading:
            self._reading, self._text, self._end = task.id, "", 0
            self._command(ReadTask(task.id, _FROM_END))
        elif task is not None:
            self._command(ReadTask(task.id, self._end))
        self.details.redraw()

    def _poll(self) -> None:
        if self.marked is not None and self.marked.status == "running":
            self._command(ReadTask(self.marked.id, self._end))

    def _take(self, piece: TaskText) -> None:
        if piece.task_id != self._reading or piece.end <= self._end:
            return
        at_end = self.details.scroll_offset.y >= self.details.max_scroll_y - 1
        self._text = (self._text + piece.text)[-_KEPT:]
        self._end = piece.end
        self.details.redraw()
        if at_end:
            self.call_after_refresh(self.details.scroll_end, animate=False)
        if piece.text:
            self._command(ReadTask(piece.task_id, self._end))  # there may be more of it already

    def _hints(self) -> list[Hint]:
        first = self._names.first
        return [
            Hint(first("tasks.stop"), say("stop it"), "stop"),
            Hint(first("tasks.open"), say("read all of the output"), "open"),
            Hint(first("tasks.close"), say("close"), "close"),
        ]

    def _drawn(self, width: int) -> list[Line]:
        task = self.marked
        if task is None:
            return [line for text in say(_NONE).split("\n") for line in wrap([(text, ink())], width)]
        lines = [BLANK, *wrap([(plain_line(task.command), ink("dim"))], width)[:3]]
        if task.status != "running":
            lines += wrap(
                [(plain_line(f"{retell(task.outcome)}{_lasted(task)}"), ink(_role(task.status)))], width
            )
        lines.append(BLANK)
        for row in plain(self._text).expandtabs(8).rstrip("\n").split("\n"):
            lines += [Line(piece, "" if n else "\n") for n, piece in enumerate(chop([(row, ink())], width))]
        return lines

    def action_stop(self) -> None:
        """Stop the marked task, if it runs."""
        if self.marked is not None and self.marked.status == "running":
            self._command(StopTask(self.marked.id))

    def action_open(self) -> None:
        """Read the output on the whole screen, with search."""
        if self.marked is not None and self._text:
            title = f"{self.marked.id}: {self.marked.description}"
            self.app.push_screen(Pager(title=title, text=self._text, copy=self._copy, names=self._names))


def _choice(task: BackgroundTask) -> Choice:
    words = (
        task.activity if task.status == "running" and task.activity else retell(task.status.replace("_", " "))
    )
    return Choice(
        value=task.id,
        label=f"{_sign(task.status)} {task.id}",
        detail=task.description,
        note=plain_line(words)[:40],
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


def _lasted(task: BackgroundTask) -> str:
    return f" · {whole_seconds(task.ended - task.started)}" if task.ended is not None else ""
