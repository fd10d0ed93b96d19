"""Details of the highlighted row of a file list: the diff, or the whole command."""

from kimi_tui.base.terminal_text import sanitize, sanitize_line
from kimi_tui.i18n.translate import tr
from kimi_tui.tui.markdown.styled_line import BLANK, Span, StyledLine, text_style
from kimi_tui.tui.markdown.syntax import highlight
from kimi_tui.tui.markdown.wrap import chop, wrap
from kimi_tui.tui.timeline.file_list import FileListRow, FileRow, NoteRow
from kimi_tui.tui.transcript.diff_view import Diff
from kimi_tui.tui.widgets.line_view import Draw


def render_detail(row: FileListRow | None) -> Draw:
    """Return a function that renders the details of a row for a given width."""
    match row:
        case FileRow(diff=diff) if diff is not None:
            rendered = Diff(diff)
            return lambda width: [*_header_lines(row, width), *rendered.lines(width)]
        case FileRow():
            return lambda width: [*_header_lines(row, width), *_no_diff_lines(row, width)]
        case NoteRow(full=full, is_command=True):
            return lambda width: _command_lines(full, width)
        case NoteRow(full=full):
            return lambda width: wrap([(sanitize_line(full), text_style())], width)
        case _:
            return lambda _: []


def detail_text(row: FileListRow | None) -> str:
    """Return the text to copy for a row."""
    match row:
        case FileRow(diff=diff) if diff is not None:
            return Diff(diff).to_unified()
        case FileRow(path=path):
            return path
        case NoteRow(full=full):
            return full
        case _:
            return ""


def _header_lines(row: FileRow, width: int) -> list[StyledLine]:
    spans: list[Span] = [(sanitize_line(row.path), text_style("strong"))]
    if row.added or row.removed:
        spans += [(f"  +{row.added}", text_style("done")), (f" −{row.removed}", text_style("failed"))]
    lines = wrap(spans, width)
    for text in (tr(row.description) if row.description else "", row.note):
        if text:
            lines += wrap([(sanitize_line(text), text_style("dim"))], width)
    return [*lines, BLANK]


def _no_diff_lines(row: FileRow, width: int) -> list[StyledLine]:
    if row.path.endswith("/"):
        return []
    text = tr("No diff: the file is empty, binary or too long, or only its mode changes.")
    return wrap([(text, text_style("dim"))], width)


def _command_lines(text: str, width: int) -> list[StyledLine]:
    lines = wrap(
        [
            (
                tr("This command ran since then. Only its changes to the listed files can be reverted."),
                text_style("waiting"),
            )
        ],
        width,
    )
    lines.append(BLANK)
    for spans in highlight(sanitize(text), "bash"):
        lines += [StyledLine(piece) for piece in chop(spans, width)]
    return lines
