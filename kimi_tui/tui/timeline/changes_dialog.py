"""The dialog that shows how the files differ between two checkpoints, or a checkpoint and now."""

from textual.content import Content

from kimi_tui.base.terminal import plain_line
from kimi_tui.language.saying import retell, say, say_many
from kimi_tui.tui.timeline.files import Line, Remark, compared
from kimi_tui.tui.timeline.files_dialog import FilesDialog
from kimi_tui.wire.timeline import Comparison


class ChangesDialog(FilesDialog[None]):
    """Shows a comparison once it has come."""

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
        self.show_lines(lines, set())
        self.summarize(
            Content.assemble(
                (say_many("{count} file", "{count} files", count) + " ", "$text-muted"),
                (f"+{added} ", "$success"),
                (f"−{removed}", "$error"),
            )
        )

    def show_problem(self, text: str) -> None:
        """Say why there is nothing to show."""
        self.summarize(Content.styled(plain_line(retell(text)), "$warning"))
