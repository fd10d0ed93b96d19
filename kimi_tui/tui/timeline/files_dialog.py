"""Base dialog with a list of files and the diff of the highlighted one, next to or below the list."""

from collections.abc import Sequence
from typing import TypeVar

from textual import events, getters, on
from textual.app import ComposeResult
from textual.containers import Container, Vertical
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from kimi_tui.base.terminal_text import sanitize_line
from kimi_tui.i18n.translate import tr, tr_lazy, translate_message
from kimi_tui.tui.commands.command_host import CommandHost
from kimi_tui.tui.keys.keymap import KeyLabels, bindings
from kimi_tui.tui.keys.tables import FILES_KEYS
from kimi_tui.tui.timeline.file_detail import FileDetail, detail_text
from kimi_tui.tui.timeline.file_list import FileList, FileListRow, NoteRow
from kimi_tui.tui.timeline.query_dialog import QueryDialog, TimelineQueries
from kimi_tui.tui.widgets.key_hints import KeyHint, KeyHints
from kimi_tui.tui.widgets.line_view import LineView

T = TypeVar("T")
_SIDE_BY_SIDE_COLUMNS = 110
"""Minimum number of columns for the diff to be next to the list."""
_TALL_ROWS = 30
"""Minimum number of rows for blank lines in the layout."""
_COMMANDS_HEADING = tr_lazy("Commands that ran since then (not reverted):")


class FilesDialog(QueryDialog[T]):
    """Base class of the plan, changes and attempts dialogs."""

    BINDINGS = bindings(FILES_KEYS)
    AUTO_FOCUS = "FileList"

    files = getters.query_one(FileList)
    detail = getters.query_one(LineView)

    def __init__(
        self, *, title: str, host: CommandHost, queries: TimelineQueries, key_labels: KeyLabels
    ) -> None:
        super().__init__(title=title, queries=queries, key_labels=key_labels)
        self._host = host

    def compose(self) -> ComposeResult:
        """Yield the title, the widgets of the subclass, the summary, the files and the diff, and the key
        hints.
        """
        with Vertical(classes="dialog files-dialog"):
            yield Static(self._dialog_title, classes="dialog-title", id="files-title", markup=False)
            yield from self.header_widgets()
            yield Static(tr("Comparing files …"), id="files-summary", markup=False)
            with Container(id="files-body"):
                yield FileList()
                yield self.build_detail_view()
            yield KeyHints(max_lines=2)

    def header_widgets(self) -> Sequence[Widget]:
        """Return the widgets between the title and the summary."""
        return ()

    def build_detail_view(self) -> LineView:
        """Return the view for the details of the highlighted file."""
        return LineView()

    def show_detail(self, row: FileListRow | None) -> None:
        """Show the details of a row."""
        self.detail.show(FileDetail(row))

    def hints(self) -> list[KeyHint]:
        """Return the key hints."""
        return [KeyHint(self.key_labels.first_key("files.close"), tr("close"), "close"), *self.list_hints()]

    def list_hints(self) -> list[KeyHint]:
        """Return the key hints for the list of files. Empty for an empty list."""
        if not self.files.has_rows:
            return []
        return [
            KeyHint(
                f"{self.key_labels.first_key('files.up')} {self.key_labels.first_key('files.down')}",
                tr("choose"),
                "move(1)",
            ),
            KeyHint(self.key_labels.first_key("files.page_down"), tr("scroll diff"), "page_diff(1)"),
            KeyHint(self.key_labels.first_key("files.copy"), tr("copy diff"), "copy"),
        ]

    def show_rows(self, rows: Sequence[FileListRow], selected_paths: set[str]) -> None:
        """Show these rows."""
        self.files.show(rows, selected_paths)
        self.show_hints()

    def show_hints(self) -> None:
        """Update the key hints."""
        self.query(KeyHints).last().show(self.hints())

    def on_mount(self) -> None:
        """Show the key hints."""
        self.show_hints()

    def show_summary(self, summary: Content) -> None:
        """Show the summary line."""
        self.query_one("#files-summary", Static).update(summary)

    def show_problem(self, text: str) -> None:
        """Show why a query failed."""
        self.show_summary(Content.styled(sanitize_line(translate_message(text)), "$warning"))

    @on(FileList.Highlighted)
    def _handle_row_highlighted(self, event: FileList.Highlighted) -> None:
        event.stop()
        self.show_detail(event.row)

    def on_resize(self, event: events.Resize) -> None:
        """Put the diff next to the list on a wide terminal."""
        self.set_class(event.size.width >= _SIDE_BY_SIDE_COLUMNS, "-side-by-side")
        self.set_class(event.size.height < _TALL_ROWS, "-low")

    def action_move(self, lines: int) -> None:
        """Highlight another file."""
        self.files.move(lines)

    def action_scroll_diff(self, lines: int) -> None:
        """Scroll the diff."""
        self.detail.scroll_relative(y=lines, animate=False)

    def action_page_diff(self, pages: int) -> None:
        """Scroll the diff by pages."""
        self.detail.scroll_relative(y=pages * max(self.detail.size.height - 1, 1), animate=False)

    def action_copy(self) -> None:
        """Copy the diff of the highlighted file."""
        if text := detail_text(self.files.highlighted_row):
            self._host.copy(text)

    def action_close(self) -> None:
        """Close the dialog without changes."""
        self.dismiss(None)


def command_rows(commands: Sequence[str]) -> list[FileListRow]:
    """Return rows for the commands that ran since the checkpoint, to show below the files."""
    if not commands:
        return []
    return [
        NoteRow(tr(_COMMANDS_HEADING), "$warning"),
        *(NoteRow(f"  $ {' '.join(command.split())}", "", command, is_command=True) for command in commands),
    ]
