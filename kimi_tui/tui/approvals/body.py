"""What an approval would do: the command, the diff, or else the description."""

from kimi_tui.base.terminal import plain_line, revealed
from kimi_tui.tui.approvals.summary import rule_of
from kimi_tui.tui.line_view import LineView
from kimi_tui.tui.markdown.line import BLANK, Line, Span, ink, span_width
from kimi_tui.tui.markdown.syntax import highlight
from kimi_tui.tui.markdown.wrap import chop, wrap
from kimi_tui.tui.transcript.diff import Diff
from kimi_tui.tui.transcript.side_by_side import WIDE, reads_well_side_by_side, side_by_side
from kimi_tui.wire.display import BriefBlock, DiffBlock, DisplayBlock, ShellBlock
from kimi_tui.wire.requests import ApprovalRequest


class RequestBody(LineView):
    """The request in full; as long as it may be, only what is in sight is painted."""

    beside: bool | None = None
    """Whether diffs have two columns; None where the width decides."""

    def show_request(self, request: ApprovalRequest) -> None:
        """Show that request from its top; last the rule, if the line for it is too short."""
        diffs = {
            index: Diff(block) for index, block in enumerate(request.display) if isinstance(block, DiffBlock)
        }

        def draw(width: int) -> list[Line]:
            beside = width >= WIDE if self.beside is None else self.beside
            lines: list[Line] = []
            for index, block in enumerate(request.display):
                drawn = _diff(diffs[index], width, beside=beside) if index in diffs else _block(block, width)
                lines += [BLANK, *drawn] if lines and drawn else drawn
            lines = lines or _text(request.description, width)
            rule = rule_of(request)
            return [*lines, BLANK, *_text(rule, width)] if span_width([(rule, ink())]) > width else lines

        self.show(draw)

    def toggle_layout(self) -> None:
        """Diffs in two columns instead of one, or the other way round."""
        beside = self.content_size.width >= WIDE if self.beside is None else self.beside
        self.beside = not beside
        self.redraw()


def changes_of(request: ApprovalRequest) -> str:
    """How many lines would change, such as `+4 −1`; empty when none or when nobody counted."""
    diffs = [Diff(block) for block in request.display if isinstance(block, DiffBlock)]
    if not diffs or any(diff.is_summary for diff in diffs):
        return ""
    return f"+{sum(diff.added for diff in diffs)} −{sum(diff.removed for diff in diffs)}"


def _block(block: DisplayBlock, width: int) -> list[Line]:
    match block:
        case ShellBlock(command=command, language=language):
            return _command(command, language, width)
        case BriefBlock(text=text):
            return _text(text, width)
        case _:
            return []


def _command(command: str, language: str, width: int) -> list[Line]:
    lines: list[Line] = []
    for spans in highlight(revealed(command), language):
        for row, piece in enumerate(chop(spans, width - 2)):
            first = not lines and row == 0
            lead: Span = ("$ " if first else "  ", ink("dim"))
            lines.append(Line((lead, *piece), "\n", 2))
    return lines


def _diff(diff: Diff, width: int, *, beside: bool) -> list[Line]:
    head: list[Span] = [(plain_line(diff.path), ink("strong"))]
    if not diff.is_summary:
        head += [(f"  +{diff.added}", ink("done")), (f" −{diff.removed}", ink("failed"))]
    if beside and reads_well_side_by_side(diff):
        return [*wrap(head, width), *side_by_side(diff, width)]
    return [*wrap(head, width), *diff.lines(width)]


def _text(text: str, width: int) -> list[Line]:
    return [line for row in revealed(text).split("\n") for line in wrap([(row, ink())], width)]
