"""The pacer: how often the pane is drawn, and how long it may work at a time."""

from collections.abc import Callable
from time import perf_counter
from typing import Protocol

FRAME_S = 1 / 25
"""The least time between two drawings that nobody asked for by a key. Batches come less often, so that
each is drawn as it comes."""
_SHARE = 4
"""Drawing takes at most one part in so many of the time, however much one drawing costs."""

_HELD_S = 0.002
"""How soon it is looked again whether something more urgent is over."""


class _Timer(Protocol):
    def stop(self) -> None:
        """Cancel it."""


class Pacer:
    """Runs `draw` soon after it is requested: at once after a rest, else when the next frame is due."""

    def __init__(
        self,
        draw: Callable[[], None],
        set_timer: Callable[[float, Callable[[], None]], _Timer],
        *,
        is_held: Callable[[], bool] = lambda: False,
        now: Callable[[], float] = perf_counter,
    ) -> None:
        """`is_held` says that something more urgent is on its way; it must not do so for ever."""
        self._draw = draw
        self._set_timer = set_timer
        self._now = now
        self._is_held = is_held
        self._timer: _Timer | None = None
        self._next = 0.0

    @property
    def pending(self) -> bool:
        """Whether a drawing is to come."""
        return self._timer is not None

    def request(self) -> None:
        """Something has changed."""
        if self._timer is not None:
            return
        wait = self._next - self._now()
        if self._is_held():
            wait = max(wait, _HELD_S)
        if wait <= 0:
            self.draw_now()
        else:
            self._timer = self._set_timer(wait, self._due)

    def _due(self) -> None:
        if self._is_held():
            self._timer = self._set_timer(_HELD_S, self._due)
        else:
            self.draw_now()

    def draw_now(self) -> None:
        """Draw without waiting: a key was pressed."""
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
        began = self._now()
        self._draw()
        ended = self._now()
        self._next = began + max(FRAME_S, (ended - began) * _SHARE)
