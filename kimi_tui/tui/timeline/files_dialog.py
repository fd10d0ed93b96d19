"""A dialog with a list of files and, beside or below it, the diff of the marked one."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from textual import events, getters, on
from textual.app import ComposeResult
from textual.containers import Container, Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widget import Widget
from textual.widgets import Static

from kimi_tui.language.saying import later, say
from kimi_tui.tui.hints import Hint, Hints
from kimi_tui.tui.key_tables import FILES_KEYS
from kimi_tui.tui.keys import KeyNames, bindings
from kimi_tui.tui.line_view import LineView
from kimi_tui.tui.timeline.detail import copied, drawing
from kimi_tui.tui.timeline.files import FileList, Line, Remark

T = TypeVar("T")
_BESIDE = 110
"""Columns from which on the diff stands beside the list."""
_TALL = 30
"""Rows from which on there is room for blank ones."""
_COMMANDS = later("Ran since; only files can be taken back:")


class FilesDialog(ModalScreen[T]):
    """What plans and comparisons have in common."""

    BINDINGS = bindings(FILES_KEYS)
    AUTO_FOCUS = "FileList"

    files = getters.query_one(FileList)
    detail = getters.query_one(LineView)

    def __init__(self, *, title: str, names: KeyNames, copy: Callable[[str], None]) -> None:
        super().__init__()
        self._title = title
        self.names = names
        self._copy = copy

    def compose(self) -> ComposeResult:
        """From top to bottom: title, what the dialog adds, summary, files and diff, hints."""
        with Vertical(classes="dialog files-dialog"):
            yield Static(self._title, classes="dialog-title", id="files-title", markup=False)
            yield from self.above()
            yield Static(say("Looking at the files …"), id="files-summary", markup=False)
            with Container(id="files-body"):
                yield FileList()
                yield LineView()
            yield Hints(most_lines=2)

    def above(self) -> Sequence[Widget]:
        """What stands between the title and the summary."""
        return ()

    def hints(self) -> list[Hint]:
        """What one can do."""
        return [Hint(self.names.first("files.close"), say("close"), "close"), *self.list_hints()]

    def list_hints(self) -> list[Hint]:
        """What one can do with the files; nothing when there are none."""
        if not self.files.has_lines:
            return []
        return [
            Hint(
                f"{self.names.first('files.up')} {self.names.first('files.down')}", say("choose"), "move(1)"
            ),
            Hint(self.names.first("files.page_down"), say("scroll the diff"), "page_diff(1)"),
            Hint(self.names.first("files.copy"), say("copy the diff"), "copy"),
        ]

    def show_lines(self, lines: Sequence[Line], ticks: set[str]) -> None:
        """List these lines."""
        self.files.show(lines, ticks)
        self.show_hints()

    def show_hints(self) -> None:
        """Say what one can do now."""
        self.query(Hints).last().show(self.hints())

    def on_mount(self) -> None:
        """Say what one can do already."""
        self.show_hints()

    def summarize(self, summary: Content) -> None:
        """Say what it all amounts to."""
        self.query_one("#files-summary", Static).update(summary)

    @on(FileList.Marked)
    def _marked(self, event: FileList.Marked) -> None:
        event.stop()
        self.detail.show(drawing(event.line))

    def on_resize(self, event: events.Resize) -> None:
        """The diff goes beside the list when there is room."""
        self.set_class(event.size.width >= _BESIDE, "-beside")
        self.set_class(event.size.height < _TALL, "-low")

    def action_move(self, lines: int) -> None:
        """Mark another file."""
        self.files.move(lines)

    def action_scroll_diff(self, lines: int) -> None:
        """Scroll the diff."""
        self.detail.scroll_relative(y=lines, animate=False)

    def action_page_diff(self, pages: int) -> None:
        """Scroll the diff by pages."""
        self.detail.scroll_relative(y=pages * max(self.detail.size.height - 1, 1), animate=False)

    def action_copy(self) -> None:
        """Copy the diff of the marked file."""
        if text := copied(self.files.line):
            self._copy(text)

    def action_close(self) -> None:
        """Change nothing."""
        self.dismiss(None)


def command_lines(commands: Sequence[str]) -> list[Line]:
    """The commands that ran since, below the files."""
    if not commands:
        return []
    return [
        Remark(say(_COMMANDS), "$warning"),
        *(Remark(f"  $ {' '.join(command.split())}", "", command, is_command=True) for command in commands),
    ]
