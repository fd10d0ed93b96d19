"""Log of a server's other output: rate limited, and written only to the log file, never to the screen."""

import logging
import re
import time
from collections import deque
from collections.abc import Iterable

from kimi_tui.base.terminal_text import sanitize_line

_MAX_LINE_CHARS = 2_000
_MAX_LINES_PER_MINUTE = 300
_KEPT_LINES = 5
_MINUTE = 60.0
_MIN_SECRET_CHARS = 6


class ServerLog:
    """Logs lines and keeps the last lines, because they explain why a server exited."""

    def __init__(self, name: str, *, secrets: Iterable[str] = ()) -> None:
        self._logger = logging.getLogger(f"{__name__}.{re.sub(r'[^-_a-zA-Z0-9]', '_', name)}")
        self._secrets = [secret for secret in secrets if len(secret) >= _MIN_SECRET_CHARS]
        self._last_lines: deque[str] = deque(maxlen=_KEPT_LINES)
        self._minute_start = 0.0
        self._minute_count = 0

    @property
    def last_line(self) -> str:
        """The last line that isn't blank; empty without such a line."""
        return next((line for line in reversed(self._last_lines) if line.strip()), "")

    def log(self, text: str, *, level: int = logging.INFO) -> None:
        """Log one line."""
        line = self.mask_secrets(sanitize_line(text[:_MAX_LINE_CHARS]))
        self._last_lines.append(line)
        now = time.monotonic()
        if now - self._minute_start >= _MINUTE:
            self._minute_start, self._minute_count = now, 0
        self._minute_count += 1
        if self._minute_count <= _MAX_LINES_PER_MINUTE:
            self._logger.log(level, "%s", line)
        elif self._minute_count == _MAX_LINES_PER_MINUTE + 1:
            self._logger.warning("more than %s lines per minute; dropping the rest", _MAX_LINES_PER_MINUTE)

    def mask_secrets(self, text: str) -> str:
        """Return `text` without the secrets in the server's config."""
        for secret in self._secrets:
            text = text.replace(secret, "[hidden]")
        return text
