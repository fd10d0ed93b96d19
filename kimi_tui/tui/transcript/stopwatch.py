"""Stopwatch of a block."""

from collections.abc import Callable

Clock = Callable[[], float]
"""Monotonic time in seconds."""


class Stopwatch:
    """Measures a duration without its pauses. Starts when it is created."""

    def __init__(self, clock: Clock | None) -> None:
        """Without a clock, as for history, the time is unknown."""
        self._clock = clock
        self._elapsed_before = 0.0
        self._is_paused = False
        self._started_at = clock() if clock is not None else 0.0

    def start(self) -> None:
        """Resume after a pause. If the stopwatch is running, drop the time since the last start."""
        self._is_paused = False
        if self._clock is not None:
            self._started_at = self._clock()

    def pause(self) -> None:
        """Stop until `start`."""
        self._elapsed_before = self.elapsed
        self._is_paused = True

    @property
    def elapsed(self) -> float:
        """Seconds so far. 0 if the time is unknown."""
        if self._clock is None or self._is_paused:
            return self._elapsed_before
        return self._elapsed_before + self._clock() - self._started_at

    @property
    def duration(self) -> float | None:
        """Seconds so far. None if the time is unknown."""
        return self.elapsed if self._clock is not None else None
