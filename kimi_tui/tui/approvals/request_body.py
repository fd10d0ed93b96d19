"""Content of a permission request: the command, the diff, or the description."""

from collections.abc import Mapping
from types import MappingProxyType

from kimi_tui.base.terminal_text import sanitize_line, show_invisible
from kimi_tui.frontend.request_summary import rule_of
from kimi_tui.tui.markdown.styled_line import BLANK, Span, StyledLine, span_width, text_style
from kimi_tui.tui.markdown.syntax import highlight
from kimi_tui.tui.markdown.wrap import chop, wrap
from kimi_tui.tui.transcript.diff_view import Diff
from kimi_tui.tui.transcript.render_cache import GUTTER
from kimi_tui.tui.transcript.side_by_side_diff import (
    MIN_SIDE_BY_SIDE_WIDTH,
    can_show_side_by_side,
    render_side_by_side,
)
from kimi_tui.tui.widgets.line_view import LineView
from kimi_tui.wire.display_blocks import BriefBlock, DiffBlock, DisplayBlock, ShellBlock
from kimi_tui.wire.requests import ApprovalRequest


class RequestBody(LineView):
    """Shows a request in full. Only visible lines are painted, so long requests are cheap."""

    two_columns: bool | None = None
    """Whether diffs have two columns; None if the width decides."""

    _request: ApprovalRequest | None = None
    _diffs: Mapping[int, Diff] = MappingProxyType({})
    """Diffs of the request, by index of their display block."""

    def show_request(self, request: ApprovalRequest) -> None:
        """Show `request` from its top."""
        self._request = request
        self._diffs = {
            index: Diff(block) for index, block in enumerate(request.display) if isinstance(block, DiffBlock)
        }
        self.show(self)

    def build_lines(self, width: int) -> list[StyledLine]:
        """Return the request, followed by its rule if that is longer than one line."""
        request = self._request
        if request is None:
            return []
        two_columns = width >= MIN_SIDE_BY_SIDE_WIDTH if self.two_columns is None else self.two_columns
        lines: list[StyledLine] = []
        for index, block in enumerate(request.display):
            block_lines = (
                _diff_lines(self._diffs[index], width, two_columns=two_columns)
                if index in self._diffs
                else _block_lines(block, width)
            )
            lines += [BLANK, *block_lines] if lines and block_lines else block_lines
        lines = lines or _text_lines(request.description, width)
        rule = rule_of(request)
        rule_width = width + GUTTER + self.show_vertical_scrollbar * self.scrollbar_size_vertical
        is_long_rule = span_width([(rule, text_style())]) > rule_width
        return [*lines, BLANK, *_text_lines(rule, width)] if is_long_rule else lines

    def toggle_layout(self) -> None:
        """Toggle between one and two columns in diffs."""
        is_two_columns = (
            self.content_size.width >= MIN_SIDE_BY_SIDE_WIDTH
            if self.two_columns is None
            else self.two_columns
        )
        self.two_columns = not is_two_columns
        self.redraw()


def change_counts(request: ApprovalRequest) -> str:
    """Return the numbers of added and removed lines, such as `+4 −1`; empty if no diff has known numbers."""
    diffs = [Diff(block) for block in request.display if isinstance(block, DiffBlock)]
    if not diffs or any(diff.is_summary for diff in diffs):
        return ""
    return f"+{sum(diff.added_count for diff in diffs)} −{sum(diff.removed_count for diff in diffs)}"


def _block_lines(block: DisplayBlock, width: int) -> list[StyledLine]:
    match block:
        case ShellBlock(command=command, language=language):
            return _command_lines(command, language, width)
        case BriefBlock(text=text):
            return _text_lines(text, width)
        case _:
            return []


def _command_lines(command: str, language: str, width: int) -> list[StyledLine]:
    lines: list[StyledLine] = []
    for spans in highlight(show_invisible(command), language):
        for row, row_spans in enumerate(chop(spans, width - 2)):
            is_first = not lines and row == 0
            lead: Span = ("$ " if is_first else "  ", text_style("dim"))
            lines.append(StyledLine((lead, *row_spans), "\n", 2))
    return lines


def _diff_lines(diff: Diff, width: int, *, two_columns: bool) -> list[StyledLine]:
    head: list[Span] = [(sanitize_line(diff.path), text_style("strong"))]
    if not diff.is_summary:
        head += [
            (f"  +{diff.added_count}", text_style("done")),
            (f" −{diff.removed_count}", text_style("failed")),
        ]
    if two_columns and can_show_side_by_side(diff):
        return [*wrap(head, width), *render_side_by_side(diff, width)]
    return [*wrap(head, width), *diff.lines(width)]


def _text_lines(text: str, width: int) -> list[StyledLine]:
    return [line for row in show_invisible(text).split("\n") for line in wrap([(row, text_style())], width)]
