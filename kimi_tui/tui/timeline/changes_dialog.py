"""Dialog that shows how the files differ between two checkpoints, or between a checkpoint and now."""

from collections.abc import Callable

from textual.content import Content

from kimi_tui.base.terminal_text import sanitize_line
from kimi_tui.frontend.text.timeline import patch_text
from kimi_tui.i18n.translate import tr, tr_n, translate_message
from kimi_tui.tui.keys.keymap import KeyLabels, bindings
from kimi_tui.tui.keys.tables import CHANGES_KEYS
from kimi_tui.tui.timeline.file_list import FileListRow, FileRow, NoteRow, comparison_row
from kimi_tui.tui.timeline.files_dialog import FilesDialog
from kimi_tui.tui.widgets.key_hints import KeyHint
from kimi_tui.wire.timeline import Comparison, PatchWritten


class ChangesDialog(FilesDialog[str | None]):
    """Shows a comparison once it arrives. Returns the path of a file to restore, or None."""

    BINDINGS = bindings(CHANGES_KEYS)

    def __init__(
        self,
        *,
        title: str,
        key_labels: KeyLabels,
        copy: Callable[[str], None],
        can_restore: bool,
        write_patch: Callable[[], None] | None,
    ) -> None:
        """`write_patch` requests a patch, which arrives in `show_patch`. It is None if nothing may be
        written.
        """
        super().__init__(title=title, key_labels=key_labels, copy=copy)
        self._can_restore = can_restore
        self._write_patch = write_patch
        self._summary = Content()

    def show_comparison(self, comparison: Comparison) -> None:
        """Show the differences."""
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

    def show_problem(self, text: str) -> None:
        """Show why the comparison or the patch failed."""
        self.show_summary(Content.styled(sanitize_line(translate_message(text)), "$warning"))

    def show_patch(self, patch: PatchWritten) -> None:
        """Show where the patch was written."""
        headline = Content.styled(sanitize_line(patch_text(patch)[0]), "$success")
        self.show_summary(Content.assemble(self._summary, " · ", headline))

    def hints(self) -> list[KeyHint]:
        """Return the key hints."""
        hints = []
        if self.files.has_rows and self._can_restore:
            key = self.key_labels.first_key("changes.bring_back")
            hints.append(KeyHint(key, tr("restore this file"), "bring_back", "bold"))
        if self.files.has_rows and self._write_patch is not None:
            hints.append(
                KeyHint(self.key_labels.first_key("changes.patch"), tr("write a patch"), "write_patch")
            )
        return [*hints, *super().hints()]

    def action_bring_back(self) -> None:
        """Return the highlighted file as the one to restore."""
        row = self.files.highlighted_row
        if self._can_restore and isinstance(row, FileRow):
            self.dismiss(row.path)

    def action_write_patch(self) -> None:
        """Write all differences to a patch file for git."""
        if self._write_patch is not None and self.files.has_rows:
            self._write_patch()
