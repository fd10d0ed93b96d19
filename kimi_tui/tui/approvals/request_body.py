"""Content of a permission request: the command, the diff, or the description."""

from collections.abc import Mapping
from types import MappingProxyType

from textual.message import Message
from textual.strip import Strip

from kimi_tui.base.terminal_text import sanitize_line, show_invisible
from kimi_tui.frontend.text.effect_lines import LineKind, describe_effects
from kimi_tui.frontend.text.request_summary import reason_of, rule_of
from kimi_tui.frontend.unusual_lines import find_unusual_lines
from kimi_tui.i18n.translate import tr_n
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
from kimi_tui.wire.command_effects import CommandEffects
from kimi_tui.wire.display_blocks import BriefBlock, DiffBlock, DisplayBlock, ShellBlock
from kimi_tui.wire.requests import ApprovalRequest

_EFFECT_ROLES: Mapping[LineKind, tuple[str, ...]] = MappingProxyType(
    {
        "ok": ("done",),
        "failed": ("failed",),
        "note": ("dim",),
        "output": ("dim",),
        "file": (),
        "conflict": ("failed", "strong"),
    }
)


class RequestBody(LineView):
    """Shows a request in full. Only visible lines are painted, so long requests are cheap."""

    two_columns: bool | None = None
    """Whether diffs have two columns. None: depends on the width."""

    class CommandPainted(Message):
        """Posted when more of the command or its effects has been on the screen."""

    class RuleMoved(Message):
        """Posted when `has_rule` has changed."""

    has_rule: bool = False
    """Whether the rule is at the end of the request, because it is longer than a line."""
    _request: ApprovalRequest | None = None
    _n_command_rows: int = 0
    """Number of rows up to the end of the command, or of the list of its effects."""
    _painted_rows: set[int]
    """Rows of the command and its effects that have been on the screen."""
    _diffs: Mapping[int, Diff] = MappingProxyType({})
    """Diffs of the request, by index of their display block."""

    def __init__(self) -> None:
        super().__init__()
        self._painted_rows = set()

    def show_request(self, request: ApprovalRequest) -> None:
        """Show `request` from its top."""
        self._request = request
        self._n_command_rows = 0
        self._painted_rows = set()
        self._diffs = {
            index: Diff(block) for index, block in enumerate(request.display) if isinstance(block, DiffBlock)
        }
        self.show(self)

    @property
    def n_unseen_rows(self) -> int:
        """Number of rows of the command and its effects that haven't been on the screen yet."""
        return max(self._n_command_rows - len(self._painted_rows), 0)

    def render_line(self, y: int) -> Strip:
        """Render visible line `y`, and note that it has been on the screen."""
        strip = super().render_line(y)
        row = y + round(self.scroll_offset.y)
        if row < self._n_command_rows and row not in self._painted_rows:
            self._painted_rows.add(row)
            self.post_message(self.CommandPainted())
        return strip

    def build_lines(self, width: int) -> list[StyledLine]:
        """Return the request, followed by its rule if that is longer than one line."""
        request = self._request
        if request is None:
            return []
        two_columns = width >= MIN_SIDE_BY_SIDE_WIDTH if self.two_columns is None else self.two_columns
        lines: list[StyledLine] = []
        n_command_rows = 0
        for index, block in enumerate(request.display):
            if isinstance(block, BriefBlock) and request.effects is not None:
                block_lines = effect_lines(request.effects, width)
            elif index in self._diffs:
                block_lines = _diff_lines(self._diffs[index], width, two_columns=two_columns)
            else:
                block_lines = _block_lines(block, width)
            lines += [BLANK, *block_lines] if lines and block_lines else block_lines
            if isinstance(block, BriefBlock) and request.effects is not None:
                n_command_rows = len(lines)
            if isinstance(block, ShellBlock):
                n_command_rows = len(lines)
                if reason := reason_of(request):
                    lines += [BLANK, *_text_lines(reason, width)]
        self._set_command_rows(n_command_rows)
        lines = lines or _text_lines(request.description, width)
        rule = rule_of(request)
        rule_width = width + GUTTER + self.show_vertical_scrollbar * self.scrollbar_size_vertical
        is_long_rule = span_width([(rule, text_style())]) > rule_width
        if is_long_rule != self.has_rule:
            self.has_rule = is_long_rule
            self.post_message(self.RuleMoved())
        return [*lines, BLANK, *_text_lines(rule, width)] if is_long_rule else lines

    def _set_command_rows(self, count: int) -> None:
        """Set the number of rows of the command. A change makes them unseen again, unless all were seen."""
        was_seen = bool(self._n_command_rows) and not self.n_unseen_rows
        if count != self._n_command_rows:
            self._n_command_rows = count
            self._painted_rows = set(range(count)) if was_seen else set()

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
    """Return the numbers of added and removed lines, such as `+4 −1`. Empty if all numbers are unknown."""
    diffs = [Diff(block) for block in request.display if isinstance(block, DiffBlock)]
    if not diffs or any(diff.is_summary for diff in diffs):
        return ""
    return f"+{sum(diff.added_count for diff in diffs)} −{sum(diff.removed_count for diff in diffs)}"


def _block_lines(block: DisplayBlock, width: int) -> list[StyledLine]:
    match block:
        case ShellBlock(command=command, language=language):
            return [*_unusual_lines(command, width), *_command_lines(command, language, width)]
        case BriefBlock(text=text):
            return _text_lines(text, width)
        case _:
            return []


def effect_lines(effects: CommandEffects, width: int) -> list[StyledLine]:
    """Return the lines of a command's effects."""
    return [
        line
        for each in describe_effects(effects)
        for line in wrap([(show_invisible(each.text), text_style(*_EFFECT_ROLES[each.kind]))], width)
    ]


def _unusual_lines(command: str, width: int) -> list[StyledLine]:
    unusual = find_unusual_lines(command)
    if not unusual:
        return []
    head = tr_n("{count} line. Unusual:", "{count} lines. Unusual:", len(command.splitlines()))
    rows = [(f"{number:>4}  {show_invisible(line)}", text_style("failed")) for number, line in unusual]
    return [
        *wrap([(head, text_style("dim"))], width),
        *(line for row in rows for line in wrap([row], width)),
        BLANK,
    ]


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
