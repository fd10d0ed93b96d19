"""The dialog that shows how the files differ between two checkpoints, or a checkpoint and now."""

from collections.abc import Callable

from textual.content import Content

from kimi_tui.base.terminal import plain_line
from kimi_tui.language.saying import retell, say, say_many
from kimi_tui.tui.hints import Hint
from kimi_tui.tui.key_tables import CHANGES_KEYS
from kimi_tui.tui.keys import KeyNames, bindings
from kimi_tui.tui.timeline.files import Line, Listed, Remark, compared
from kimi_tui.tui.timeline.files_dialog import FilesDialog
from kimi_tui.wire.timeline import Comparison, PatchWritten
from kimi_tui.words.time_travel import told_patch


class ChangesDialog(FilesDialog[str | None]):
    """Shows a comparison once it has come; gives the path of a file that is to be as it was, or None."""

    BINDINGS = bindings(CHANGES_KEYS)

    def __init__(
        self,
        *,
        title: str,
        names: KeyNames,
        copy: Callable[[str], None],
        may_bring_back: bool,
        write_patch: Callable[[], None] | None,
    ) -> None:
        """`write_patch` asks for a patch, of which `show_patch` hears; None where nothing may be written."""
        super().__init__(title=title, names=names, copy=copy)
        self._may_bring_back = may_bring_back
        self._write_patch = write_patch
        self._summary = Content()

    def show_comparison(self, comparison: Comparison) -> None:
        """Show what differs."""
        lines: list[Line] = [compared(file) for file in comparison.files]
        note = plain_line(retell(comparison.note))
        if not lines:
            self.summarize(
                Content.styled(note or say("Nothing differs."), "$warning" if note else "$text-muted")
            )
            return
        if note:
            lines.append(Remark(f"◔ {note}", "$warning", ""))
        added = sum(file.added for file in comparison.files)
        removed = sum(file.removed for file in comparison.files)
        count = len(comparison.files)
        self._summary = Content.assemble(
            (say_many("{count} file", "{count} files", count) + " ", "$text-muted"),
            (f"+{added} ", "$success"),
            (f"−{removed}", "$error"),
        )
        self.show_lines(lines, set())
        self.summarize(self._summary)

    def show_problem(self, text: str) -> None:
        """Say why there is nothing to show, or nothing was written."""
        self.summarize(Content.styled(plain_line(retell(text)), "$warning"))

    def show_patch(self, written: PatchWritten) -> None:
        """The patch is there."""
        words = Content.styled(plain_line(told_patch(written)[0]), "$success")
        self.summarize(Content.assemble(self._summary, " · ", words))

    def hints(self) -> list[Hint]:
        """What one can do."""
        hints = super().hints()
        mine = []
        if self.files.has_lines and self._may_bring_back:
            key = self.names.first("changes.bring_back")
            mine.append(Hint(key, say("have this file as it was"), "bring_back", "bold"))
        if self.files.has_lines and self._write_patch is not None:
            mine.append(Hint(self.names.first("changes.patch"), say("write a patch"), "write_patch"))
        return [*mine, *hints]

    def action_bring_back(self) -> None:
        """Have the marked file as it was at the earlier moment."""
        line = self.files.line
        if self._may_bring_back and isinstance(line, Listed):
            self.dismiss(line.path)

    def action_write_patch(self) -> None:
        """Write all that differs to a file, for git."""
        if self._write_patch is not None and self.files.has_lines:
            self._write_patch()
