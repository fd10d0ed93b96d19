"""Details of the highlighted row of a file list: the diff, or the whole command."""

from kimi_tui.base.terminal_text import sanitize, sanitize_line
from kimi_tui.i18n.translate import tr
from kimi_tui.tui.markdown.styled_line import BLANK, Span, StyledLine, text_style
from kimi_tui.tui.markdown.syntax import highlight
from kimi_tui.tui.markdown.wrap import chop, wrap
from kimi_tui.tui.timeline.file_list import FileListRow, FileRow, NoteRow
from kimi_tui.tui.transcript.diff_view import RenderedDiff


class FileDetail:
    """Details of a row, for a `LineView`."""

    def __init__(self, row: FileListRow | None) -> None:
        self._row = row
        self._diff = _rendered_diff(row) if isinstance(row, FileRow) else None

    def build_lines(self, width: int) -> list[StyledLine]:
        """Return the lines for a width in cells."""
        match self._row:
            case FileRow() as row if self._diff is not None:
                return [*_header_lines(row, width), *self._diff.lines(width, 0, self._diff.row_count)]
            case FileRow() as row:
                return [*_header_lines(row, width), *_no_diff_lines(row, width)]
            case NoteRow(full=full, is_command=True):
                return _command_lines(full, width)
            case NoteRow(full=full):
                lines = sanitize(full).splitlines()
                return [part for line in lines for part in wrap([(line, text_style())], width)]
            case _:
                return []


class FileHeader:
    """Path, counts and notes of a row, to show above the hunks of the file."""

    def __init__(self, row: FileRow) -> None:
        self._row = row

    def build_lines(self, width: int) -> list[StyledLine]:
        """Return the lines for a width in cells."""
        return _header_lines(self._row, width)


def detail_text(row: FileListRow | None) -> str:
    """Return the text to copy for a row."""
    match row:
        case FileRow() if (diff := _rendered_diff(row)) is not None:
            return "\n".join(hunk.to_unified() for hunk in diff.hunks)
        case FileRow(path=path):
            return path
        case NoteRow(full=full):
            return full
        case _:
            return ""


def _rendered_diff(row: FileRow) -> RenderedDiff | None:
    blocks = (row.diff,) if row.diff is not None else row.hunks
    return RenderedDiff(blocks) if blocks else None


def _header_lines(row: FileRow, width: int) -> list[StyledLine]:
    spans: list[Span] = [(sanitize_line(row.names), text_style("strong"))]
    if row.added or row.removed:
        spans += [(f"  +{row.added}", text_style("done")), (f" −{row.removed}", text_style("failed"))]
    lines = wrap(spans, width)
    for text in (tr(row.description) if row.description else "", row.note):
        if text:
            lines += wrap([(sanitize_line(text), text_style("dim"))], width)
    return [*lines, BLANK]


def _no_diff_lines(row: FileRow, width: int) -> list[StyledLine]:
    return wrap([(sanitize_line(row.no_diff), text_style("dim"))], width) if row.no_diff else []


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
