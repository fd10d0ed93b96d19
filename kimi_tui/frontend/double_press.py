"""Detection of double key presses, such as for a key that quits."""

from collections.abc import Callable


class DoublePress:
    """Detects a second press within `within_s` seconds of the first."""

    def __init__(self, *, within_s: float, clock: Callable[[], float]) -> None:
        self._within_s = within_s
        self._clock = clock
        self._first_at: float | None = None

    def press(self) -> bool:
        """Record a press. Return whether it completes a double press. The next press is a first one again."""
        first_at, now = self._first_at, self._clock()
        is_again = first_at is not None and now - first_at < self._within_s
        self._first_at = None if is_again else now
        return is_again

    def reset(self) -> None:
        """Forget the first press. Call this when the user does something else."""
        self._first_at = None
