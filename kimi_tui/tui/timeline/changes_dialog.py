"""Dialog that shows how the files differ between two checkpoints, or between a checkpoint and now."""

from dataclasses import replace

from textual.content import Content

from kimi_tui.base.frozen import frozen
from kimi_tui.base.terminal_text import sanitize_line
from kimi_tui.frontend.text.timeline import patch_text
from kimi_tui.i18n.translate import tr, tr_n, translate_message
from kimi_tui.tui.commands.command_host import CommandHost
from kimi_tui.tui.keys.keymap import KeyLabels, bindings
from kimi_tui.tui.keys.tables import CHANGES_KEYS
from kimi_tui.tui.timeline.file_list import FileListRow, FileRow, NoteRow, comparison_row
from kimi_tui.tui.timeline.files_dialog import FilesDialog
from kimi_tui.tui.timeline.query_dialog import Reply, TimelineQueries
from kimi_tui.tui.timeline.row_renderer import checkpoint_title
from kimi_tui.tui.widgets.key_hints import KeyHint
from kimi_tui.wire.commands import Compare, WritePatch
from kimi_tui.wire.review import PlannedFileContent, ReadPlannedFile
from kimi_tui.wire.timeline import Comparison, PatchWritten, TimelineNode


@frozen
class ReviewRequested:
    """The user wants to review the changes."""


class ChangesDialog(FilesDialog[str | ReviewRequested | None]):
    """Shows a comparison once it arrives. Returns a file's path to restore, ReviewRequested, or None."""

    BINDINGS = bindings(CHANGES_KEYS)

    def __init__(
        self,
        before: TimelineNode,
        after: TimelineNode | None,
        *,
        host: CommandHost,
        queries: TimelineQueries,
        key_labels: KeyLabels,
    ) -> None:
        """Without `after`, compare with the current files."""
        end = tr("now") if after is None else checkpoint_title(after)
        title = tr("Changes from {before} to {end}", before=checkpoint_title(before), end=end)
        super().__init__(title=title, host=host, queries=queries, key_labels=key_labels)
        self._before = before.id
        self._after = after.id if after is not None else None
        self._can_write = not host.state.read_only
        self._summary = Content()
        self._comparison_id = ""
        self._missing: set[str] = set()
        """Paths of the files whose diffs haven't been requested yet."""

    def on_mount(self) -> None:
        """Request the comparison."""
        self._queries.ask(Compare(self._before, self._after))

    def show_reply(self, reply: Reply) -> None:
        """Show the differences, or the path of the written patch."""
        match reply:
            case Comparison():
                self._show_comparison(reply)
            case PlannedFileContent():
                self._add_diff(reply)
            case PatchWritten():
                headline = Content.styled(sanitize_line(patch_text(reply)[0]), "$success")
                self.show_summary(Content.assemble(self._summary, " · ", headline))
            case _:
                pass

    def show_detail(self, row: FileListRow | None) -> None:
        """Show the details of a row. Request its diff if the diff is missing."""
        super().show_detail(row)
        if isinstance(row, FileRow) and row.path in self._missing:
            self._missing.remove(row.path)
            self._queries.ask(ReadPlannedFile(self._comparison_id, row.path))

    def _add_diff(self, content: PlannedFileContent) -> None:
        """Show a diff that wasn't part of the comparison."""
        row = self.files.row_of(content.file.path)
        if row is None or content.plan != self._comparison_id:
            return
        row = replace(row, diff=content.file.diff, no_diff=translate_message(content.file.no_diff))
        self.files.replace_row(row, is_selected=False)
        if self.files.highlighted_path == row.path:
            self.show_detail(row)

    def _show_comparison(self, comparison: Comparison) -> None:
        self._comparison_id = comparison.id
        self._missing = {file.path for file in comparison.files if file.is_on_request}
        rows: list[FileListRow] = [comparison_row(file) for file in comparison.files]
        note = sanitize_line(translate_message(comparison.note))
        if not rows:
            self.show_summary(
                Content.styled(note or tr("No files differ."), "$warning" if note else "$text-muted")
            )
            return
        if note:
            rows.append(NoteRow(f"◔ {note}", "$warning", ""))
        added = sum(file.added for file in comparison.files)
        removed = sum(file.removed for file in comparison.files)
        count = len(comparison.files)
        self._summary = Content.assemble(
            (tr_n("{count} file", "{count} files", count) + " ", "$text-muted"),
            (f"+{added} ", "$success"),
            (f"−{removed}", "$error"),
        )
        self.show_rows(rows, set())
        self.show_summary(self._summary)

    def hints(self) -> list[KeyHint]:
        """Return the key hints."""
        hints = super().hints()
        if not self.files.has_rows or not self._can_write:
            return hints
        first = self.key_labels.first_key
        return [
            KeyHint(first("changes.bring_back"), tr("restore this file"), "bring_back", "bold"),
            KeyHint(first("changes.review"), tr("review"), "review"),
            KeyHint(first("changes.patch"), tr("write a patch"), "write_patch"),
            *hints,
        ]

    def action_bring_back(self) -> None:
        """Return the highlighted file as the one to restore."""
        row = self.files.highlighted_row
        if self._can_write and isinstance(row, FileRow):
            self.dismiss(row.path)

    def action_review(self) -> None:
        """Return that the user wants to review the changes."""
        if self._can_write and self.files.has_rows:
            self.dismiss(ReviewRequested())

    def action_write_patch(self) -> None:
        """Write all differences to a patch file for git."""
        if self._can_write and self.files.has_rows:
            self._queries.ask(WritePatch(self._before, self._after))
