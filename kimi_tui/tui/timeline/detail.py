"""What is shown of the marked line of a file list: its diff, or the whole command."""

from kimi_tui.base.terminal import plain, plain_line
from kimi_tui.language.saying import say
from kimi_tui.tui.line_view import Draw
from kimi_tui.tui.markdown.line import BLANK, Line, Span, ink
from kimi_tui.tui.markdown.syntax import highlight
from kimi_tui.tui.markdown.wrap import chop, wrap
from kimi_tui.tui.timeline.files import Line as FileLine
from kimi_tui.tui.timeline.files import Listed, Remark
from kimi_tui.tui.transcript.diff import Diff


def drawing(line: FileLine | None) -> Draw:
    """What draws the marked line in full."""
    match line:
        case Listed(diff=diff) if diff is not None:
            compared = Diff(diff)
            return lambda width: [*_head(line, width), *compared.lines(width)]
        case Listed():
            return lambda width: [*_head(line, width), *_without_diff(line, width)]
        case Remark(full=full, is_command=True):
            return lambda width: _command(full, width)
        case Remark(full=full):
            return lambda width: wrap([(plain_line(full), ink())], width)
        case _:
            return lambda _: []


def copied(line: FileLine | None) -> str:
    """What a copy of the marked line gives."""
    match line:
        case Listed(diff=diff) if diff is not None:
            return Diff(diff).unified()
        case Listed(path=path):
            return path
        case Remark(full=full):
            return full
        case _:
            return ""


def _head(line: Listed, width: int) -> list[Line]:
    spans: list[Span] = [(plain_line(line.path), ink("strong"))]
    if line.added or line.removed:
        spans += [(f"  +{line.added}", ink("done")), (f" −{line.removed}", ink("failed"))]
    lines = wrap(spans, width)
    for text in (say(line.told) if line.told else "", line.note):
        if text:
            lines += wrap([(plain_line(text), ink("dim"))], width)
    return [*lines, BLANK]


def _without_diff(line: Listed, width: int) -> list[Line]:
    if line.path.endswith("/"):
        return []
    words = say("There is no diff to show: it is empty or no text, too long, or only its mode changes.")
    return wrap([(words, ink("dim"))], width)


def _command(text: str, width: int) -> list[Line]:
    lines = wrap(
        [(say("This ran since. What it did outside of the listed files stays as it is."), ink("waiting"))],
        width,
    )
    lines.append(BLANK)
    for spans in highlight(plain(text), "bash"):
        lines += [Line(piece) for piece in chop(spans, width)]
    return lines
