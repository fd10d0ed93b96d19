"""What the agent is doing, in the prompt's upper edge."""

import math
from collections.abc import Callable

from rich.segment import Segment
from textual.content import Content
from textual.geometry import Region
from textual.strip import Strip
from textual.style import Style
from textual.timer import Timer
from textual.widget import Widget

from kimi_tui.language.saying import retell, say
from kimi_tui.tui.brush import Brush
from kimi_tui.tui.figures import duration
from kimi_tui.tui.keys import KeyNames
from kimi_tui.tui.state import ANSWERING, ScreenState, Turn

_SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
_FRAME_S = 0.1
_CALM_FRAME_S = 1.0
"""While words appear, which show that the agent works. A turn of the spinner costs as much as some words."""
_SECOND = 1.0
_SHOWN_FROM_S = 10.0
"""Shorter times are not worth a look."""


_CLICKS = ("screen.focus_approval", "screen.stop")
"""What a click on the last two of the parts does."""
ASKS = "asks"
"""The class of what asks the user: while it has the keyboard, no key has to lead there."""


class ActivityEdge:
    """Keeps the title of a widget's border up to date; a timer runs only while the agent works."""

    def __init__(self, widget: Widget, *, names: KeyNames, clock: Callable[[], float]) -> None:
        self._widget = widget
        self._interrupt_binding = names.first("turn.interrupt")
        self._interrupt_key = self._interrupt_binding.replace("escape", "esc")
        self._answer_key = names.first("approvals.focus")
        self._clock = clock
        self._state = ScreenState()
        self._timer: Timer | None = None
        self._frame = 0
        self._shown: list[str] = []
        self._brush = Brush(widget, lambda: Region(0, 0, widget.outer_size.width, 1))

    def follow(self, state: ScreenState) -> None:
        """The session's state has changed."""
        self._state = state
        working = state.turn is not None and not state.requests
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
        if working:
            self._timer = self._widget.set_interval(self._period, self._tick)
        self._draw()

    def keyboard_moved(self) -> None:
        """Another widget has the keyboard, whose keys may do other things."""
        if self._state.turn is not None and self._parts() != self._shown:
            self._draw()

    @property
    def _is_there(self) -> bool:
        """Whether the keyboard is where the user answers."""
        focused = self._widget.screen.focused
        return focused is not None and any(node.has_class(ASKS) for node in focused.ancestors_with_self)

    @property
    def _interrupts(self) -> bool:
        """Whether the key that interrupts does nothing else where the keyboard is."""
        active = self._widget.screen.active_bindings.get(self._interrupt_binding)
        return active is None or active.node is self._widget.screen

    @property
    def _still(self) -> bool:
        """Whether nothing moves by itself, which the user may change at any time."""
        return self._widget.app.animation_level == "none"

    @property
    def _period(self) -> float:
        if self._still:
            return _SECOND
        turn = self._state.turn
        return _CALM_FRAME_S if turn is not None and turn.activity == ANSWERING else _FRAME_S

    def _tick(self) -> None:
        self._frame += 1
        if self._parts() != self._shown or not self._turn_spinner():
            self._draw()

    def _draw(self) -> None:
        self._shown = self._parts()
        doing = Content(f"{self._mark} {self._shown[0]}" if self._state.turn else self._shown[0])
        others = [
            Content(part).stylize(Style.from_meta({"@click": action})) if action else Content(part)
            for part, action in zip(self._shown[1:], ("", *_CLICKS), strict=False)
            if part
        ]
        self._widget.border_title = Content(" · ").join([doing, *others])

    @property
    def _mark(self) -> str:
        return "●" if self._still or self._state.requests else _SPINNER[self._frame % len(_SPINNER)]

    def _turn_spinner(self) -> bool:
        """Change the one cell only: the whole frame would be drawn otherwise, ten times a second."""
        edge = self._widget.render_lines(Region(0, 0, self._widget.size.width, 1))[0]
        x = next((at for at, character in enumerate(edge.text) if character in _SPINNER), -1)
        style = next(iter(edge.crop(x, x + 1))).style if x >= 0 else None
        return x >= 0 and self._brush.paint([(0, x, Strip([Segment(self._mark, style)], 1))])

    def _doing(self, turn: Turn) -> str:
        wait_s = math.ceil(turn.again_at - self._clock())
        doing = retell(turn.activity)
        return say("{doing} in {seconds} s", doing=doing, seconds=wait_s) if wait_s > 0 else doing

    def _parts(self) -> list[str]:
        state, turn = self._state, self._state.turn
        if turn is None:
            return [
                say("compacting the conversation")
                if state.compacting
                else say("sending")
                if state.sent
                else ""
            ]
        seconds = self._clock() - turn.started
        interrupting = say("{key} interrupts", key=self._interrupt_key)
        return [
            say("stopping") if turn.interrupted else self._doing(turn),
            duration(seconds) if seconds >= _SHOWN_FROM_S else "",
            say("{key} answers", key=self._answer_key) if state.requests and not self._is_there else "",
            "" if turn.interrupted or not self._interrupts else interrupting,
        ]
