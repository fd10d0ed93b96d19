"""List of the files of a review, with viewed marks and the numbers of comments and marked hunks."""

from dataclasses import dataclass

from rich.cells import cell_len
from textual.content import Content

from kimi_tui.base.terminal_text import sanitize_line
from kimi_tui.frontend.review_file import ReviewedChange
from kimi_tui.tui.timeline.file_list import FileList, FileRow

CHANGE_LETTERS: dict[ReviewedChange, tuple[str, str]] = {
    "added": ("A", "$success"),
    "removed": ("D", "$error"),
    "renamed": ("R", "$secondary"),
    "changed": ("M", "$primary"),
    "uncovered": ("!", "$warning"),
}
"""Git's letters for changes, and their styles."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewedFileRow(FileRow):
    """Row for a file of a review. Selected if the user has viewed the file."""

    comments: int = 0
    marked: int = 0
    """Number of hunks to be reverted."""


class ReviewFileList(FileList, can_focus=False):
    """Shows the files. A click on a check box marks the file as viewed."""

    def _build_file_row(self, row: FileRow, width: int) -> Content:
        is_viewed = row.path in self.selected_paths
        extra = row if isinstance(row, ReviewedFileRow) else None
        counts = Content.assemble(
            (f" {extra.comments}✎" if extra is not None and extra.comments else "", "$secondary"),
            (f" {extra.marked}↺" if extra is not None and extra.marked else "", "bold $warning"),
            (f" +{row.added}" if row.added else "", "$success"),
            (f" −{row.removed}" if row.removed else "", "$error"),
        )
        box = ("[✔] ", "$success") if is_viewed else ("[ ] ", "$text-muted")
        name_width = max(width - counts.cell_length - 6, 8)
        text = Content.assemble(
            box,
            (f"{row.label} ", row.style),
            (_shorten_left(sanitize_line(row.names), name_width), "$text-muted" if is_viewed else ""),
        )
        text_width = max(width - counts.cell_length, 8)
        return Content.assemble(text.truncate(text_width, ellipsis=True, pad=True), counts)


def _shorten_left(text: str, width: int) -> str:
    """Return `text` in at most `width` cells. Cut off the start, because names are at the end."""
    if cell_len(text) <= width:
        return text
    while text and cell_len(text) > width - 1:
        text = text[1:]
    return f"…{text}"
