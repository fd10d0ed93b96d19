"""List of the files in a plan or comparison, with actions, check boxes and notes."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, assert_never

from textual import events
from textual.content import Content
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.visual import Visual

from kimi_tui.base.terminal_text import sanitize_line
from kimi_tui.frontend.text.cell_width import pad_right
from kimi_tui.i18n.translate import tr, tr_lazy, translate_message
from kimi_tui.tui.timeline.plan_selection import PlanSelection
from kimi_tui.tui.timeline.row_style import style_highlighted
from kimi_tui.wire.display_blocks import DiffBlock
from kimi_tui.wire.timeline import (
    ComparedFile,
    PlannedAction,
    PlannedFile,
    PlannedHunk,
    RevertReason,
    WhoChanged,
)

_ACTION_LABELS: dict[PlannedAction, tuple[str, str, str]] = {
    "restore": (tr_lazy("restore"), "$primary", tr_lazy("The file is restored to its earlier content.")),
    "delete": (tr_lazy("delete"), "$error", tr_lazy("The agent created this file. It is deleted.")),
    "recreate": (
        tr_lazy("recreate"),
        "$success",
        tr_lazy("The file was deleted since then. It is created again."),
    ),
    "rename": (
        tr_lazy("rename back"),
        "$primary",
        tr_lazy("The agent renamed it. It is renamed back and keeps its current content."),
    ),
    "merge": (
        tr_lazy("merge"),
        "$secondary",
        tr_lazy("You edited this file too. Your edits are kept; the agent's edits are reverted."),
    ),
    "conflict": (
        tr_lazy("conflict"),
        "bold $warning",
        tr_lazy("You edited this file too, and the edits conflict. It isn't changed unless you select it."),
    ),
    "keep": (
        tr_lazy("keep"),
        "$text-muted",
        tr_lazy("The file isn't changed unless you select it."),
    ),
    "not covered": (
        tr_lazy("not covered"),
        "$warning",
        tr_lazy("Its earlier content is unknown, so the file isn't changed."),
    ),
}
_AFTER_REVERT: dict[PlannedAction, str] = {
    "rename": tr_lazy("It had another name then. It is renamed back and keeps its current content."),
    "delete": tr_lazy("The file didn't exist then. It is deleted."),
    "merge": tr_lazy("You edited this file since then. Your edits are kept; the rest is restored."),
    "conflict": tr_lazy(
        "You edited this file since then, and the edits conflict. It isn't changed unless you select it."
    ),
}
"""Descriptions for undo, redo and switch plans. Their files were changed by a revert, not by the agent."""
_ADOPTION: dict[PlannedAction, tuple[str, str]] = {
    "restore": (tr_lazy("change"), tr_lazy("The attempt changed this file.")),
    "delete": (tr_lazy("delete"), tr_lazy("The attempt deleted this file.")),
    "recreate": (tr_lazy("create"), tr_lazy("The attempt created this file.")),
    "rename": (tr_lazy("rename"), tr_lazy("The attempt renamed this file.")),
    "merge": (tr_lazy("merge"), tr_lazy("Both changes are kept.")),
    "conflict": (tr_lazy("conflict"), tr_lazy("The file isn't changed unless you select it.")),
}
"""Labels and descriptions for plans that adopt attempts."""
_CHANGE_LABELS: dict[str, tuple[str, str]] = {
    "added": (tr_lazy("added"), "$success"),
    "removed": (tr_lazy("removed"), "$error"),
    "changed": (tr_lazy("changed"), "$primary"),
    "not covered": (tr_lazy("not covered"), "$warning"),
}
_AUTHOR_LABELS: dict[WhoChanged, str] = {
    "agent": "",
    "you": tr_lazy("changed by you"),
    "both": tr_lazy("changed by the agent and you"),
    "another session": tr_lazy("changed by another session"),
    "agent or another session": tr_lazy("changed by the agent or another session"),
    "agent and another session": tr_lazy("changed by the agent and another session"),
    "": "",
}
_BOTH_LABEL = tr_lazy("both")
_LABEL_CELLS = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class FileRow:
    """A row for a file."""

    path: str
    renamed_to: str = ""
    """New path of a file that is renamed."""
    label: str
    """Planned action on the file, as an English word for translation."""
    style: str
    added: int = 0
    removed: int = 0
    diff: DiffBlock | None = None
    hunks: tuple[DiffBlock, ...] = ()
    """The changed lines, if the file is too long for a diff."""
    no_diff: str = ""
    """Reason for a missing diff. Empty if the file has a diff."""
    description: str = ""
    """Sentence about the planned action on the file."""
    note: str = ""
    is_selectable: bool = False
    is_partial: bool = False
    """Whether only a part of the change is selected."""

    @property
    def names(self) -> str:
        """The path. For a renamed file, also the new path."""
        return f"{self.path} → {self.renamed_to}" if self.renamed_to else self.path


@dataclass(frozen=True, slots=True)
class NoteRow:
    """A row that isn't a file: a heading, a note or a command."""

    text: str
    style: str = ""
    full: str = ""
    """Text to show when the row is highlighted. Empty for a heading."""
    is_command: bool = False


FileListRow = FileRow | NoteRow


def plan_row(file: PlannedFile, reason: RevertReason) -> FileRow:
    """Return the row of a file in a plan with the reason `reason`."""
    label, style, description = _ACTION_LABELS[file.action]
    if reason in ("undo", "redo", "switch"):
        description = _AFTER_REVERT.get(file.action, description)
    if reason == "adopt":
        label, description = _ADOPTION.get(file.action, (label, description))
    return FileRow(
        path=file.path,
        renamed_to=file.renamed_to,
        label=label,
        style=style,
        added=file.added,
        removed=file.removed,
        diff=file.diff,
        hunks=_hunk_diffs(
            file.hunks or next((it.hunks for it in file.choices if it.choice == file.choice), ())
        ),
        no_diff=translate_message(file.no_diff),
        description=description,
        note=" · ".join(
            filter(
                None,
                (
                    translate_message(file.note),
                    _author_label(file) if file.action in ("restore", "delete") else "",
                ),
            )
        ),
        is_selectable=file.action != "not covered",
    )


def _hunk_diffs(hunks: Sequence[PlannedHunk]) -> tuple[DiffBlock, ...]:
    return tuple(hunk.diff for hunk in hunks)


def _author_label(file: PlannedFile | ComparedFile) -> str:
    label = _AUTHOR_LABELS[file.by]
    return tr(label) if label else ""


def chosen_plan_row(file: PlannedFile, reason: RevertReason, selection: PlanSelection) -> FileRow:
    """Return the row of a file in a plan, with the user's selection."""
    row = plan_row(file, reason)
    added, removed = selection.count_lines(file.path)
    row = replace(
        row,
        added=added,
        removed=removed,
        hunks=_hunk_diffs(selection.hunks_of(file.path)),
        is_partial=selection.is_partial(file.path),
    )
    choice, planned = selection.choice_of(file.path), selection.planned_choice(file.path)
    if choice is None or planned is None or choice == file.choice:
        return row
    action = "keep" if choice == "mine" else planned.action
    label, style, _ = _ACTION_LABELS[action]
    return replace(row, label=_BOTH_LABEL if choice == "both" else label, style=style, description="")


def comparison_row(file: ComparedFile) -> FileRow:
    """Return the row of a file in a comparison."""
    label, style = _CHANGE_LABELS[file.change]
    return FileRow(
        path=file.path,
        label=label,
        style=style,
        added=file.added,
        removed=file.removed,
        diff=file.diff,
        no_diff=translate_message(file.no_diff),
        note=" · ".join(filter(None, (translate_message(file.note), _author_label(file)))),
    )


class FileList(ScrollView, can_focus=True, inherit_bindings=False):
    """Scrollable list that renders only visible rows. Key bindings come from the enclosing dialog."""

    DEFAULT_CSS = """
    FileList { height: auto; overflow-x: hidden; scrollbar-size: 1 1; }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = {"files--marked"}

    @dataclass
    class Highlighted(Message):
        """Sent when another row is highlighted."""

        row: FileListRow | None

    class SelectionChanged(Message):
        """Sent when the selected files change."""

    def __init__(self) -> None:
        super().__init__()
        self._rows: tuple[FileListRow, ...] = ()
        self._highlighted_index = 0
        self.selectable_paths: tuple[str, ...] = ()
        """The paths that can be selected."""
        self.selected_paths: set[str] = set()
        """The paths that are selected."""
        self.is_dimmed = False
        """Whether the files are irrelevant because only the conversation is reverted."""

    @property
    def highlighted_row(self) -> FileListRow | None:
        """The highlighted row."""
        return self._rows[self._highlighted_index] if self._highlighted_index < len(self._rows) else None

    @property
    def highlighted_path(self) -> str | None:
        """The path of the highlighted file. None if the highlighted row isn't a file."""
        row = self.highlighted_row
        return row.path if isinstance(row, FileRow) else None

    def show(self, rows: Sequence[FileListRow], selected_paths: set[str]) -> None:
        """Show these rows and highlight the first."""
        self._rows, self.selected_paths = tuple(rows), selected_paths
        self.selectable_paths = tuple(
            row.path for row in rows if isinstance(row, FileRow) and row.is_selectable
        )
        self._highlighted_index = 0
        self.virtual_size = Size(0, len(self._rows))
        self.scroll_to(y=0, animate=False)
        self.refresh(layout=True)
        self.post_message(self.Highlighted(self.highlighted_row))

    def row_of(self, path: str) -> FileRow | None:
        """Return the row of a file."""
        return next((row for row in self._rows if isinstance(row, FileRow) and row.path == path), None)

    def replace_row(self, row: FileRow, *, is_selected: bool) -> None:
        """Replace the row with the same path."""
        self._rows = tuple(
            row if isinstance(it, FileRow) and it.path == row.path else it for it in self._rows
        )
        self.selected_paths = self.selected_paths - {row.path} | ({row.path} if is_selected else set())
        self.refresh()

    @property
    def has_rows(self) -> bool:
        """Whether the list has any rows."""
        return bool(self._rows)

    def highlight_path(self, path: str) -> None:
        """Highlight the row of a file. If the list doesn't contain the file, highlight the first row."""
        index = next(
            (at for at, row in enumerate(self._rows) if isinstance(row, FileRow) and row.path == path), 0
        )
        self.move(index - self._highlighted_index)

    def set_dimmed(self, is_dimmed: bool) -> None:
        """Set whether the files are irrelevant."""
        self.is_dimmed = is_dimmed
        self.refresh()

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """Return one line per row."""
        return max(1, len(self._rows))

    def move(self, lines: int) -> None:
        """Move the highlight by this many rows."""
        if not self._rows:
            return
        self._highlighted_index = max(0, min(self._highlighted_index + lines, len(self._rows) - 1))
        self.scroll_to_highlighted()
        self.refresh()
        self.post_message(self.Highlighted(self.highlighted_row))

    def on_resize(self) -> None:
        """Keep the highlighted row visible."""
        self.scroll_to_highlighted()

    def scroll_to_highlighted(self) -> None:
        """Make the highlighted row visible."""
        top, height = round(self.scroll_offset.y), max(self.size.height, 1)
        if not top <= self._highlighted_index < top + height:
            self.scroll_to(
                y=self._highlighted_index
                if self._highlighted_index < top
                else self._highlighted_index - height + 1,
                animate=False,
            )

    def toggle(self) -> None:
        """Select or deselect the highlighted file."""
        row = self.highlighted_row
        if isinstance(row, FileRow) and row.is_selectable and not self.is_dimmed:
            self.selected_paths ^= {row.path}
            self.refresh()
            self.post_message(self.SelectionChanged())

    def toggle_all(self) -> None:
        """Select all files, or none if all are selected."""
        selectable = set(self.selectable_paths)
        if not self.is_dimmed:
            self.selected_paths = set() if self.selected_paths >= selectable else selectable
            self.refresh()
            self.post_message(self.SelectionChanged())

    def on_click(self, event: events.Click) -> None:
        """Highlight the clicked row. A click on its check box, or a double click, also toggles the file."""
        event.stop()
        index = event.y + round(self.scroll_offset.y)
        if index < len(self._rows):
            self.move(index - self._highlighted_index)
            if event.x < 4 or event.chain == 2:
                self.toggle()

    def render_line(self, y: int) -> Strip:
        """Render visible line `y`."""
        width = self.scrollable_content_region.width
        index = y + round(self.scroll_offset.y)
        if index >= len(self._rows):
            return Strip.blank(width, self.rich_style)
        style = self.visual_style
        line = self._build_row(self._rows[index], width)
        if index == self._highlighted_index:
            style = self.get_visual_style("files--marked")
            line = style_highlighted(line, self, "files--marked")
        return Visual.to_strips(self, line, width, 1, style, pad=True)[0]

    def _build_row(self, row: FileListRow, width: int) -> Content:
        match row:
            case NoteRow(text=text, style=style):
                return Content.styled(sanitize_line(text), style).truncate(width, ellipsis=True, pad=True)
            case FileRow():
                return self._build_file_row(row, width)
            case _:
                assert_never(row)

    def _build_file_row(self, row: FileRow, width: int) -> Content:
        box: tuple[str, str] | str = ""
        if self.selectable_paths:
            is_selected = row.path in self.selected_paths and not self.is_dimmed
            tick = "-" if row.is_partial else "✔"
            box = (f"[{tick}] " if is_selected else "[ ] ", "$success" if is_selected else "$text-muted")
            box = box if row.is_selectable else ("    ", "")
        counts = Content.assemble(
            (f" +{row.added}" if row.added else "", "$success"),
            (f" −{row.removed}" if row.removed else "", "$error"),
        )
        dim_style = "$foreground 45%" if self.is_dimmed else ""
        text = Content.assemble(
            box,
            (pad_right(tr(row.label), _LABEL_CELLS), dim_style or row.style),
            (sanitize_line(row.names), dim_style),
            (f"  {sanitize_line(row.note)}" if row.note else "", "$text-muted"),
        )
        text_width = max(width - counts.cell_length, 8)
        return Content.assemble(text.truncate(text_width, ellipsis=True, pad=True), counts)
