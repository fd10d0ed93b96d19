"""What counts only when it is done again soon, such as a key that leaves."""

from collections.abc import Callable


class Twice:
    """Tells the second time from the first, which is forgotten after `within_s` seconds."""

    def __init__(self, *, within_s: float, clock: Callable[[], float]) -> None:
        self._within_s = within_s
        self._clock = clock
        self._first_at: float | None = None

    def again(self) -> bool:
        """It is done: whether for the second time. What comes then is a first time again."""
        first_at, now = self._first_at, self._clock()
        is_again = first_at is not None and now - first_at < self._within_s
        self._first_at = None if is_again else now
        return is_again

    def forget(self) -> None:
        """Something else was done in between."""
        self._first_at = None
