"""Time at which a session begins, as its system prompt states it."""

import os
from datetime import UTC, datetime

SESSION_START_VARIABLE = "KIMI_TUI_SESSION_START"
"""Environment variable with the time that a new session states as its start.

`kimi-tui fleet` sets it, so that all attempts at a task begin their requests with the same bytes.
"""


def local_time() -> str:
    """Return the local time with its UTC offset, to the minute."""
    return datetime.now(tz=UTC).astimezone().isoformat(timespec="minutes")


def session_start() -> str:
    """Return the time that a session which begins now states: by default the local time."""
    given = os.environ.get(SESSION_START_VARIABLE, "")
    try:
        datetime.fromisoformat(given)
    except ValueError:
        return local_time()
    return given
