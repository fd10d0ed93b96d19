"""Agent activity, shown in the upper edge of the prompt's border."""

import math
from collections.abc import Callable

from rich.segment import Segment
from textual.content import Content
from textual.geometry import Region
from textual.strip import Strip
from textual.style import Style
from textual.timer import Timer
from textual.widget import Widget

from kimi_tui.frontend.number_format import format_duration
from kimi_tui.frontend.session_state import RESPONDING, RunningTurn, SessionViewState
from kimi_tui.i18n.translate import tr, translate_message
from kimi_tui.tui.keys.keymap import KeyLabels
from kimi_tui.tui.terminal.direct_paint import DirectPainter

_SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
_FRAME_S = 0.1
_CALM_FRAME_S = 1.0
"""Interval of the spinner while a response streams, in seconds. The text already shows that the agent works,
and drawing a spinner frame costs as much as drawing some text.
"""
_STATIC_FRAME_S = 1.0
_MIN_SHOWN_S = 10.0
"""Minimum duration to show, in seconds."""


_LONG_COMMAND_S = 5.0
"""Seconds after which the key that moves a command to the background is shown."""
_CLICK_ACTIONS = ("screen.focus_approval", "screen.stop", "screen.command('background')")
"""Actions that run when the last three parts are clicked."""
REQUEST_CLASS = "request-panel"
"""CSS class of panels that show a request. While such a panel has the focus, the key that focuses it isn't
shown.
"""


class ActivityEdge:
    """Keeps the title of a widget's border up to date. A timer runs only while the agent works."""

    def __init__(self, widget: Widget, *, key_labels: KeyLabels, clock: Callable[[], float]) -> None:
        self._widget = widget
        self._interrupt_binding = key_labels.pressed_keys("turn.interrupt")[0]
        self._interrupt_key = key_labels.first_key("turn.interrupt").replace("escape", "esc")
        self._answer_key = key_labels.first_key("approvals.focus")
        self._background_key = key_labels.first_key("turn.background")
        self._clock = clock
        self._state = SessionViewState()
        self._timer: Timer | None = None
        self._frame = 0
        self._shown_parts: list[str] = []
        self._painter = DirectPainter(widget)

    def update(self, state: SessionViewState) -> None:
        """Show a new session state."""
        self._state = state
        working = state.turn is not None and not state.requests
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
        if working:
            self._timer = self._widget.set_interval(self._period, self._tick)
        self._draw()

    def handle_focus_change(self) -> None:
        """Redraw the title if its keys have changed. They depend on the focused widget."""
        if self._state.turn is not None and self._parts() != self._shown_parts:
            self._draw()

    @property
    def _has_request_focus(self) -> bool:
        """Whether a request panel has the focus."""
        focused = self._widget.screen.focused
        return focused is not None and any(
            node.has_class(REQUEST_CLASS) for node in focused.ancestors_with_self
        )

    @property
    def _can_interrupt(self) -> bool:
        """Whether the interrupt key interrupts. In the focused widget, it may have another binding."""
        active = self._widget.screen.active_bindings.get(self._interrupt_binding)
        return active is None or active.node is self._widget.screen

    @property
    def _can_move_command(self) -> bool:
        """Whether a long-running command can move to the background. Not possible in plan mode."""
        state = self._state
        return (
            self._background_key != ""
            and state.turn is not None
            and not state.turn.is_interrupted
            and not state.requests
            and not (state.session is not None and state.session.plan_mode)
            and state.tool_runs.is_command_running(since=self._clock() - _LONG_COMMAND_S)
        )

    @property
    def _is_static(self) -> bool:
        """Whether animations are off. The user may change this at any time."""
        return self._widget.app.animation_level == "none"

    @property
    def _period(self) -> float:
        if self._is_static:
            return _STATIC_FRAME_S
        turn = self._state.turn
        return _CALM_FRAME_S if turn is not None and turn.activity == RESPONDING else _FRAME_S

    def _tick(self) -> None:
        self._frame += 1
        if self._parts() != self._shown_parts or not self._paint_spinner():
            self._draw()

    def _draw(self) -> None:
        self._shown_parts = self._parts()
        activity = Content(
            f"{self._status_sign} {self._shown_parts[0]}" if self._state.turn else self._shown_parts[0]
        )
        others = [
            Content(part).stylize(Style.from_meta({"@click": action})) if action else Content(part)
            for part, action in zip(self._shown_parts[1:], ("", *_CLICK_ACTIONS), strict=False)
            if part
        ]
        title = Content(" · ").join([activity, *others])
        # Style the text. A class on the widget would compute the styles of all its children.
        self._widget.border_title = title.stylize(self._color)

    @property
    def _status_sign(self) -> str:
        return "●" if self._is_static or self._state.requests else _SPINNER[self._frame % len(_SPINNER)]

    @property
    def _color(self) -> str:
        if self._state.requests:
            return "$warning"
        return "$primary" if self._state.is_busy else "$text-muted"

    def _paint_spinner(self) -> bool:
        """Paint only the spinner's cell. Otherwise the whole border would be drawn ten times a second."""
        edge = self._widget.render_lines(Region(0, 0, self._widget.size.width, 1))[0]
        x = next((at for at, character in enumerate(edge.text) if character in _SPINNER), -1)
        style = next(iter(edge.crop(x, x + 1))).style if x >= 0 else None
        strip = Strip([Segment(self._status_sign, style)], 1)
        border = Region(0, 0, self._widget.outer_size.width, 1)
        return x >= 0 and self._painter.paint([(0, x, strip)], border)

    def _activity_text(self, turn: RunningTurn) -> str:
        wait_s = math.ceil(turn.retry_at - self._clock())
        doing = translate_message(turn.activity)
        return tr("{doing} in {seconds} s", doing=doing, seconds=wait_s) if wait_s > 0 else doing

    def _parts(self) -> list[str]:
        state, turn = self._state, self._state.turn
        if turn is None:
            return [
                tr("compacting the conversation")
                if state.is_compacting
                else tr("sending")
                if state.sent_count
                else ""
            ]
        seconds = self._clock() - turn.started_at
        interrupt_hint = tr("{key} to interrupt", key=self._interrupt_key)
        return [
            tr("stopping") if turn.is_interrupted else self._activity_text(turn),
            format_duration(seconds) if seconds >= _MIN_SHOWN_S else "",
            tr("{key} to answer", key=self._answer_key)
            if state.requests and not self._has_request_focus
            else "",
            "" if turn.is_interrupted or not self._can_interrupt else interrupt_hint,
            tr("{key} for background", key=self._background_key) if self._can_move_command else "",
        ]
