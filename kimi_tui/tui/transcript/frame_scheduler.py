"""Frame scheduler: limits how often the pane is drawn, and the share of time spent on it."""

from collections.abc import Callable
from time import perf_counter
from typing import Protocol

FRAME_S = 1 / 25
"""Minimum time between two frames not caused by a key. Message batches arrive less often, so that each is
drawn as it arrives.
"""
_LOAD_DIVISOR = 4
"""Drawing takes at most 1/4 of the time, however long one frame takes."""

_RECHECK_S = 0.002
"""Interval at which `is_blocked` is polled."""


class _Timer(Protocol):
    def stop(self) -> None:
        """Cancel the timer."""


class FrameScheduler:
    """Runs `draw` after a request: immediately if idle, otherwise when the next frame is due."""

    def __init__(
        self,
        draw: Callable[[], None],
        set_timer: Callable[[float, Callable[[], None]], _Timer],
        *,
        is_blocked: Callable[[], bool] = lambda: False,
        now: Callable[[], float] = perf_counter,
    ) -> None:
        """`is_blocked` returns whether something more urgent is pending. It must become False eventually."""
        self._draw = draw
        self._set_timer = set_timer
        self._now = now
        self._is_blocked = is_blocked
        self._timer: _Timer | None = None
        self._next_frame_at = 0.0

    @property
    def is_pending(self) -> bool:
        """Whether a frame is scheduled."""
        return self._timer is not None

    def request(self) -> None:
        """Request a frame."""
        if self._timer is not None:
            return
        delay = self._next_frame_at - self._now()
        if self._is_blocked():
            delay = max(delay, _RECHECK_S)
        if delay <= 0:
            self.draw_now()
        else:
            self._timer = self._set_timer(delay, self._on_timer)

    def _on_timer(self) -> None:
        if self._is_blocked():
            self._timer = self._set_timer(_RECHECK_S, self._on_timer)
        else:
            self.draw_now()

    def draw_now(self) -> None:
        """Draw without waiting, in response to a key."""
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
        started_at = self._now()
        self._draw()
        finished_at = self._now()
        self._next_frame_at = started_at + max(FRAME_S, (finished_at - started_at) * _LOAD_DIVISOR)
