"""View of the hunks of a file, to include or exclude, and of the choices for the file."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import assert_never

from textual import events
from textual.message import Message

from kimi_tui.i18n.translate import tr
from kimi_tui.tui.keys.keymap import bindings
from kimi_tui.tui.keys.tables import HUNK_KEYS
from kimi_tui.tui.markdown.styled_line import BLANK, Span, StyledLine, text_style
from kimi_tui.tui.markdown.wrap import wrap
from kimi_tui.tui.transcript.diff_view import Diff
from kimi_tui.tui.widgets.line_view import LineSource, LineView
from kimi_tui.wire.timeline import ConflictChoice, PlannedHunk

_TICK_CELLS = 6
"""Number of columns at the left, with the margin and the check box. A click on them toggles a hunk."""


@dataclass(frozen=True, slots=True)
class ChoiceLine:
    """A line for one of the choices of a file."""

    choice: ConflictChoice
    key: str
    label: str
    is_chosen: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class FileHunks:
    """The hunks and choices of a file, below a header."""

    header: LineSource
    hunks: Sequence[PlannedHunk] = ()
    included: Collection[str] = ()
    """The ids of the hunks that are included."""
    choices: Sequence[ChoiceLine] = ()


class HunkView(LineView, can_focus=True, inherit_bindings=False):
    """Shows the hunks of a file. Without hunks and choices, it shows only the header and can't be focused."""

    BINDINGS = bindings(HUNK_KEYS)
    FOCUS_ON_CLICK = False  # the layout would change between pressing and releasing the button

    @dataclass
    class HunksToggled(Message):
        """Sent when the user includes or excludes hunks."""

        ids: tuple[str, ...]

    @dataclass
    class Chosen(Message):
        """Sent when the user clicks a choice."""

        choice: ConflictChoice

    @dataclass
    class LineAsked(Message):
        """Sent when the user wants to know who wrote a line of the current file."""

        line: int

    class Left(Message):
        """Sent when the user leaves the view."""

    def __init__(self) -> None:
        super().__init__()
        self._file: FileHunks | None = None
        self._current = 0
        """Index of the hunk that keys apply to."""
        self._targets: dict[int, PlannedHunk | ChoiceLine] = {}
        """Target of a click on a line, by the index of the line."""

    @property
    def can_be_entered(self) -> bool:
        """Whether the file has hunks or choices."""
        return self._file is not None and bool(self._file.hunks or self._file.choices)

    def show_file(self, file: FileHunks, *, keeps_position: bool = False) -> None:
        """Show a file. With `keeps_position`, stay at the current hunk and line."""
        line = round(self.scroll_offset.y)
        self._file = file
        self._current = min(self._current, max(len(file.hunks) - 1, 0)) if keeps_position else 0
        self.show(_HunkLines(file, self._targets))
        if keeps_position:
            self.scroll_to(y=line, animate=False)
        self._mark()

    def show_only(self, source: LineSource) -> None:
        """Show the lines of `source`, without hunks or choices."""
        self._file = None
        self._targets.clear()
        self.show(source)

    def on_focus(self) -> None:
        """Mark the current hunk."""
        self._mark()

    def on_blur(self) -> None:
        """Remove the mark."""
        self.highlight_line(None)

    def action_move_hunk(self, hunks: int) -> None:
        """Move to another hunk."""
        if self._file is not None and self._file.hunks:
            self._current = max(0, min(self._current + hunks, len(self._file.hunks) - 1))
            self._mark()

    def action_scroll_hunks(self, lines: int) -> None:
        """Scroll the lines."""
        self.scroll_relative(y=lines, animate=False)

    def action_toggle_hunk(self) -> None:
        """Include or exclude the current hunk."""
        if self._file is not None and self._file.hunks:
            self.post_message(self.HunksToggled((self._file.hunks[self._current].id,)))

    def action_toggle_all_hunks(self) -> None:
        """Include all hunks, or none if all are included."""
        if self._file is None:
            return
        ids = [hunk.id for hunk in self._file.hunks]
        excluded = [it for it in ids if it not in self._file.included]
        self.post_message(self.HunksToggled(tuple(excluded or ids)))

    def action_explain_hunk(self) -> None:
        """Ask who wrote the first line that the current hunk removes, or the line before what it adds."""
        if self._file is None or not self._file.hunks:
            return
        diff = self._file.hunks[self._current].diff
        rows = Diff(diff).rows
        removed = next((row.number for row in rows if row.sign == "−"), None)
        context = next((row.old_number for row in rows if row.sign == " "), diff.old_start)
        self.post_message(self.LineAsked(max(removed or context, 1)))

    def action_leave_hunks(self) -> None:
        """Return to where the view was entered."""
        self.post_message(self.Left())

    def on_click(self, event: events.Click) -> None:
        """Select the choice or hunk at the clicked line. A click on a check box toggles the hunk."""
        offset = event.get_content_offset(self)  # without the border
        if offset is None:
            return
        target = self._targets.get(offset.y + round(self.scroll_offset.y))
        match target:
            case None:
                return
            case ChoiceLine(choice=choice):
                self.post_message(self.Chosen(choice))
            case PlannedHunk():
                assert self._file is not None
                self._current = list(self._file.hunks).index(target)
                self._mark()
                if offset.x < _TICK_CELLS or event.chain == 2:
                    self.action_toggle_hunk()
            case _:
                assert_never(target)
        event.stop()

    def _mark(self) -> None:
        if self._file is None or not self._file.hunks or not self.has_focus:
            return
        self._lay_out(self.scrollable_content_region.width)
        current = self._file.hunks[self._current]
        line = next((at for at, target in self._targets.items() if target == current), None)
        self.highlight_line(line)


class _HunkLines:
    """Lays out a file, and records the target of a click on each line."""

    def __init__(self, file: FileHunks, targets: dict[int, PlannedHunk | ChoiceLine]) -> None:
        self._file = file
        self._targets = targets

    def build_lines(self, width: int) -> list[StyledLine]:
        """Return the header, the choices and the hunks."""
        self._targets.clear()
        lines = self._file.header.build_lines(width)
        for choice in self._file.choices:
            self._add(lines, choice, _choice_spans(choice), width)
        if self._file.choices:
            lines.append(BLANK)
        for number, hunk in enumerate(self._file.hunks):
            diff = Diff(hunk.diff)
            if number:
                lines.append(BLANK)
            self._add(lines, hunk, self._hunk_spans(hunk, diff), width)
            lines += diff.lines(width) or wrap([(_invisible_change(), text_style("dim"))], width)
        return lines

    def _add(
        self, lines: list[StyledLine], target: PlannedHunk | ChoiceLine, spans: list[Span], width: int
    ) -> None:
        added = wrap(spans, width)
        self._targets.update(dict.fromkeys(range(len(lines), len(lines) + len(added)), target))
        lines += added

    def _hunk_spans(self, hunk: PlannedHunk, diff: Diff) -> list[Span]:
        is_included = hunk.id in self._file.included
        first = next((row.number for row in diff.rows if row.sign in ("+", "−")), hunk.diff.old_start)
        return [
            ("[✔] " if is_included else "[ ] ", text_style("done" if is_included else "dim")),
            (tr("line {number}", number=first), text_style("strong")),
            (f"  +{hunk.added}" if hunk.added else "", text_style("done")),
            (f"  −{hunk.removed}" if hunk.removed else "", text_style("failed")),
        ]


def _choice_spans(choice: ChoiceLine) -> list[Span]:
    return [
        ("● " if choice.is_chosen else "○ ", text_style("done" if choice.is_chosen else "dim")),
        (f"{choice.key} ", text_style("strong")),
        (choice.label, text_style("strong") if choice.is_chosen else text_style()),
    ]


def _invisible_change() -> str:
    return tr("Only invisible characters differ, such as the end of the last line.")
