"""Lines of a reviewed file: its hunks in one or two columns, with the comments below their lines."""

from collections.abc import Collection, Iterator, Sequence

from kimi_tui.base.frozen import frozen
from kimi_tui.base.terminal_text import sanitize, sanitize_line
from kimi_tui.frontend.review_file import ReviewedHunk, ReviewFile
from kimi_tui.frontend.text.change_review import CHANGE_LABELS
from kimi_tui.frontend.text_diff import DiffRow
from kimi_tui.i18n.translate import tr, translate_message
from kimi_tui.tui.markdown.styled_line import BLANK, Span, Spans, StyledLine, span_width, text_style
from kimi_tui.tui.markdown.wrap import wrap
from kimi_tui.tui.transcript.diff_view import Diff, render_row
from kimi_tui.tui.transcript.side_by_side_diff import can_show_side_by_side, side_by_side_rows
from kimi_tui.wire.review import ReviewComment

_BAR = "┃ "


@frozen(kw_only=True)
class ReviewPlace:
    """Content of a line: the target of keys and clicks."""

    hunk: ReviewedHunk | None = None
    line: int | None = None
    """Line number in the later state. None for a removed line. For a heading, the number of the hunk's first
    added line, or else of its first unchanged line.
    """
    removed_line: int | None = None
    """The number of a removed line in the earlier state."""
    comment: ReviewComment | None = None
    is_heading: bool = False
    """Whether the line is the heading of the hunk."""


@frozen(kw_only=True)
class ReviewContent:
    """A file as the review shows it."""

    file: ReviewFile
    comments: tuple[ReviewComment, ...] = ()
    """The comments on the file."""
    marked: frozenset[str] = frozenset()
    """The ids of the hunks that are to be reverted."""
    is_side_by_side: bool = False
    can_revert: bool = True
    """Whether hunks can be reverted. Only if the later state of the review is the current state."""


class ReviewLines:
    """Lays out a file, and records the place of each line."""

    def __init__(self, content: ReviewContent, diffs: dict[str, Diff]) -> None:
        """`diffs` caches the compared hunks of the file."""
        self._content = content
        self._diffs = diffs
        self.places: list[ReviewPlace | None] = []
        """Place of each line. None for lines that the cursor skips."""
        self.boxes: dict[int, int] = {}
        """The column at which the check box of a hunk begins, by the index of its heading."""

    def build_lines(self, width: int) -> list[StyledLine]:
        """Return the lines for a width in cells."""
        content, file = self._content, self._content.file
        self.places, self.boxes = [], {}
        lines: list[StyledLine] = []
        self._add(lines, _header_lines(file, width), None)
        for hunk in file.hunks:
            self._diffs.setdefault(hunk.id, Diff(hunk.diff))
        digits = max((self._diffs[hunk.id].digits for hunk in file.hunks), default=1)
        if not file.hunks:
            self._add_whole_file(lines, width)
        waiting = list(content.comments)
        removed = {row.number for it in file.hunks for row in self._diffs[it.id].rows if row.sign == "−"}
        for number, hunk in enumerate(file.hunks, 1):
            if number > 1:
                self._add(lines, [BLANK], None)
            heading, column = self._heading(hunk, number, width)
            if column:
                self.boxes[len(lines)] = column
            first = _first_new_line(self._diffs[hunk.id])
            self._add(lines, [heading], ReviewPlace(hunk=hunk, line=first, is_heading=True))
            waiting = self._add_rows(lines, hunk, digits, width, removed, waiting)
        self._add_other_comments(lines, waiting, width)
        return lines

    def _add(self, lines: list[StyledLine], added: Sequence[StyledLine], place: ReviewPlace | None) -> None:
        """Add lines. The first line is at `place`. The cursor skips the other lines."""
        lines += added
        self.places += [place if not at else None for at in range(len(added))]

    def _add_rows(
        self,
        lines: list[StyledLine],
        hunk: ReviewedHunk,
        digits: int,
        width: int,
        removed_lines: Collection[int],
        waiting: list[ReviewComment],
    ) -> list[ReviewComment]:
        """Add the rows of a hunk with their comments. Return the `waiting` comments on other lines.

        `removed_lines` are the removed lines of all hunks.
        """
        diff = self._diffs[hunk.id]
        indent = digits + 3
        if self._has_two_columns(diff):
            indent += (width + 3) // 2  # below the right column
        for old, new, rendered in self._rows(diff, digits, width):
            line = new.number if new is not None and new.number else None
            removed = old.number if line is None and old is not None and old.number else None
            has_number = line is not None or removed is not None
            place = ReviewPlace(hunk=hunk, line=line, removed_line=removed) if has_number else None
            self._add(lines, rendered, place)
            left_line = old.number if old is not None and old.sign == "−" else None
            for comment in waiting:
                if _shown_removed_line(comment, removed_lines) is not None:
                    is_here = comment.removed_line == left_line
                else:
                    is_here = comment.line is not None and comment.line == line
                if is_here:
                    self._add_comment(lines, comment, indent, width, hunk)
                    waiting = [it for it in waiting if it is not comment]
        return waiting

    def _rows(
        self, diff: Diff, digits: int, width: int
    ) -> Iterator[tuple[DiffRow | None, DiffRow | None, list[StyledLine]]]:
        if self._has_two_columns(diff):
            yield from side_by_side_rows(diff, width, digits=digits)
            return
        rows = diff.highlight_rows()
        if all(row.sign in " ⋯" for row, _ in rows):
            text = tr("Only invisible characters differ, such as the end of the last line.")
            yield None, None, wrap([(text, text_style("dim"))], width)
        for row, code in rows:
            old, new = (row, None) if row.sign == "−" else (None, row)
            yield old, new, render_row(row, code, digits, width)

    def _has_two_columns(self, diff: Diff) -> bool:
        return self._content.is_side_by_side and can_show_side_by_side(diff)

    def _heading(self, hunk: ReviewedHunk, number: int, width: int) -> tuple[StyledLine, int]:
        """Return the heading of a hunk, and the column of its check box or 0."""
        diff, total = self._diffs[hunk.id], len(self._content.file.hunks)
        first = next((row.number for row in diff.rows if row.sign in ("+", "−")), hunk.diff.new_start)
        is_marked = hunk.id in self._content.marked
        spans: list[Span] = [
            (f"{number}/{total} ", text_style("dim")),
            (tr("line {number}", number=first), text_style("strong")),
            (f"  +{hunk.added}" if hunk.added else "", text_style("done")),
            (f"  −{hunk.removed}" if hunk.removed else "", text_style("failed")),
            (f"  {tr('with your edits')}" if hunk.is_yours else "", text_style("waiting")),
            (" ", text_style()),
        ]
        return _with_box(spans, width, is_marked=is_marked, has_box=self._content.can_revert)

    def _add_whole_file(self, lines: list[StyledLine], width: int) -> None:
        """Add a place for a file without hunks, so that it can be reverted as a whole."""
        file = self._content.file
        text = translate_message(file.no_diff) or tr("The change can't be shown by lines.")
        if file.is_on_request:
            text = tr("Comparing files …")
        spans: list[Span] = [(f"{sanitize_line(text)} ", text_style("dim"))]
        has_box = self._content.can_revert and file.can_be_reverted and not file.is_on_request
        line, column = _with_box(spans, width, is_marked="" in self._content.marked, has_box=has_box)
        if column:
            self.boxes[len(lines)] = column
        self._add(lines, [line], ReviewPlace(is_heading=True))

    def _add_other_comments(
        self, lines: list[StyledLine], comments: Collection[ReviewComment], width: int
    ) -> None:
        """Add comments on lines outside of all hunks, together with these lines."""
        for comment in comments:
            place = tr("removed line") if comment.is_removed else tr("changed since")
            if comment.line is not None:
                place = tr("line {number}", number=comment.line)
            spans: list[Span] = [
                (f"{place}  ", text_style("strong")),
                (sanitize_line(comment.code).strip(), text_style("dim")),
            ]
            self._add(lines, [BLANK, *wrap(spans, width)], None)
            self._add_comment(lines, comment, 0, width, None)

    def _add_comment(
        self,
        lines: list[StyledLine],
        comment: ReviewComment,
        indent: int,
        width: int,
        hunk: ReviewedHunk | None,
    ) -> None:
        margin: Spans = ((" " * indent, text_style()), (_BAR, text_style("user-bar")))
        text = sanitize(comment.text)
        wrapped = [
            line.indent(margin)
            for paragraph in text.split("\n")
            for line in wrap([(paragraph, text_style("user"))], max(width - span_width(margin), 8))
        ]
        removed = comment.removed_line if comment.line is None else None
        place = ReviewPlace(hunk=hunk, line=comment.line, removed_line=removed, comment=comment)
        self._add(lines, wrapped, place)


def _shown_removed_line(comment: ReviewComment, removed_lines: Collection[int]) -> int | None:
    """Return the removed line above the comment. None if the comment is below another line."""
    is_removed = comment.is_removed or comment.line is None
    return comment.removed_line if is_removed and comment.removed_line in removed_lines else None


def _with_box(spans: list[Span], width: int, *, is_marked: bool, has_box: bool) -> tuple[StyledLine, int]:
    """Return a heading with a rule and, at its end, a check box. Also return the column of the box, or 0."""
    box = f" [{'↺' if is_marked else ' '}] {tr('revert')}" if has_box else ""
    rule = max(width - span_width(spans) - span_width([(box, text_style())]), 0)
    style = text_style("waiting", "strong") if is_marked else text_style("dim")
    line = StyledLine((*spans, ("─" * rule, text_style("rule")), (box, style)))
    return line, span_width(spans) + rule if box else 0


def _first_new_line(diff: Diff) -> int | None:
    rows = sorted((row for row in diff.rows if row.sign in ("+", " ") and row.number), key=_is_unchanged)
    return rows[0].number if rows else None


def _is_unchanged(row: DiffRow) -> bool:
    return row.sign == " "


def _header_lines(file: ReviewFile, width: int) -> list[StyledLine]:
    spans: list[Span] = [
        (sanitize_line(file.names), text_style("strong")),
        (f"  {tr(CHANGE_LABELS[file.change])}", text_style("dim")),
        (f"  +{file.added}" if file.added else "", text_style("done")),
        (f" −{file.removed}" if file.removed else "", text_style("failed")),
    ]
    lines = wrap(spans, width)
    if file.note:
        lines += wrap([(sanitize_line(translate_message(file.note)), text_style("dim"))], width)
    return [*lines, BLANK]
