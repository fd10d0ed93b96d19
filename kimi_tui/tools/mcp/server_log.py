"""What a server says beside its answers: to the log, never to the screen, and never all of a flood."""

import logging
import re
import time
from collections import deque
from collections.abc import Callable, Iterable

from kimi_tui.base.terminal import plain_line

_LONGEST = 2_000
_LINES_A_MINUTE = 300
_KEPT = 5
_MINUTE = 60.0
_SHORTEST_SECRET = 6


class ServerLog:
    """Takes lines; the last ones explain why a server ended."""

    def __init__(
        self, name: str, *, secrets: Iterable[str] = (), clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._logger = logging.getLogger(f"{__name__}.{re.sub(r'[^-_a-zA-Z0-9]', '_', name)}")
        self._secrets = [secret for secret in secrets if len(secret) >= _SHORTEST_SECRET]
        self._clock = clock
        self._last: deque[str] = deque(maxlen=_KEPT)
        self._minute = 0.0
        self._in_minute = 0

    @property
    def last_words(self) -> str:
        """The last line that says something; empty when there was none."""
        return next((line for line in reversed(self._last) if line.strip()), "")

    def take(self, text: str, *, level: int = logging.INFO) -> None:
        """Log one line."""
        line = self.masked(plain_line(text[:_LONGEST]))
        self._last.append(line)
        now = self._clock()
        if now - self._minute >= _MINUTE:
            self._minute, self._in_minute = now, 0
        self._in_minute += 1
        if self._in_minute <= _LINES_A_MINUTE:
            self._logger.log(level, "%s", line)
        elif self._in_minute == _LINES_A_MINUTE + 1:
            self._logger.warning("it says more than %s lines a minute; the rest is dropped", _LINES_A_MINUTE)

    def masked(self, text: str) -> str:
        """`text` without the secrets that the server was given."""
        for secret in self._secrets:
            text = text.replace(secret, "[hidden]")
        return text
