"""What the prompt's keys do, to be clicked: marks at the right end of its lower edge."""

from textual.content import Content
from textual.geometry import Region
from textual.style import Style
from textual.widget import Widget

from kimi_tui.base.terminal import plain_line
from kimi_tui.base.value import value
from kimi_tui.language.saying import say
from kimi_tui.tui.commands.line import parsed
from kimi_tui.tui.keys import KeyNames
from kimi_tui.tui.prompt.mode import PromptMode
from kimi_tui.tui.state import ScreenState
from kimi_tui.tui.status.header import shortened

_GAP = Content(" · ")
_AROUND = 6
"""Cells of the edge that its corners and the blanks beside the marks take."""


@value
class _Seen:
    """What the marks depend on."""

    send: str
    """What sending would do; empty while there is nothing to send."""
    stops: bool
    shell: str
    """Where the user's shell stands; empty while the agent is talked to."""
    width: int


class LowerEdge:
    """Keeps the subtitle of a widget's border up to date.

    The widget has an action `press` that takes `menu`, `send` or `shell`.
    """

    def __init__(self, widget: Widget, *, names: KeyNames) -> None:
        self._widget = widget
        self._names = names
        self._shown: _Seen | None = None

    def follow(self, state: ScreenState, *, text: str, mode: PromptMode, place: str) -> None:
        """The text, the mode or the session's state may have changed; `place` is where the shell stands."""
        runs = bool(state.shells) or (state.turn is not None and not state.turn.interrupted)
        seen = _Seen(
            _what_sending_does(state, text, mode),
            runs,
            place if mode == "shell" else "",
            self._widget.size.width,
        )
        if seen != self._shown:
            self._shown = seen
            self._show(self._drawn(seen))

    def _show(self, drawn: Content) -> None:
        """Put it into the edge, as setting `border_subtitle` does, without all of the widget being drawn."""
        widget = self._widget
        widget._border_subtitle = drawn
        left, top = widget.content_offset
        widget.refresh(Region(-left, widget.outer_size.height - 1 - top, widget.outer_size.width, 1))

    def _drawn(self, seen: _Seen) -> Content:
        marks = [_mark("+", "", "press('menu')", "$text-muted")]
        if seen.send:
            marks.append(_mark("↵", seen.send, "press('send')", "$primary"))
        if seen.stops:
            marks.append(_mark("■", say("stop"), "screen.stop", "$error"))
        drawn = Content("  ").join(marks)
        room = seen.width - _AROUND - drawn.cell_length - _GAP.cell_length
        told = self._told_of_shell(seen.shell, room) if seen.shell else []
        return _GAP.join([*told, drawn])

    def _told_of_shell(self, place: str, room: int) -> list[Content]:
        """What there is room for: the way back before all, then the place, then what else can be typed."""
        back = Content(say("{key} talks to the agent", key=self._names.first("prompt.shell")))
        back = back.stylize(Style.from_meta({"@click": "press('shell')"}))
        where = Content(shortened(plain_line(place), max(room - back.cell_length - _GAP.cell_length, 0)))
        more = Content(say("!! gives the terminal"))
        choices = ([back, more, where], [back, where], [back])
        return next((it for it in choices if _GAP.join(it).cell_length <= room), [])


def _mark(sign: str, word: str, action: str, style: str) -> Content:
    mark = Content.assemble((sign, f"bold {style}"), (f" {word}" if word else "", style))
    return mark.stylize(Style.from_meta({"@click": action}))


def _what_sending_does(state: ScreenState, text: str, mode: PromptMode) -> str:
    if not text.strip():
        return ""
    if mode == "shell" or text.startswith("!") or parsed(text.strip()) is not None:
        return say("run")
    return say("queue") if state.busy else say("send")
