"""Sessions that some process has open, found by their locks."""

import time
from pathlib import Path

from kimi_tui.base.frozen import frozen
from kimi_tui.base.paths import sessions_dir
from kimi_tui.history.session_lock import SessionLock
from kimi_tui.history.session_state import SessionState, read_state


@frozen(kw_only=True)
class OpenSession:
    """A session that a process has open."""

    id: str
    state: SessionState
    """Content of its `state.json`."""
    open_s: float
    """Seconds since the process opened it."""


def find_open_sessions(data_dir: Path) -> tuple[OpenSession, ...]:
    """Return the sessions that are open in any process, including this one, last opened first.

    Blocks. Leaves out sessions without messages, since they have no files yet.
    """
    opened = []
    for lock_file in sessions_dir(data_dir).glob("*/locks/*"):
        state_file = lock_file.parent.parent / lock_file.name / "state.json"
        if not SessionLock(lock_file).is_held() or not state_file.exists():
            continue
        try:
            opened_at = lock_file.stat().st_mtime
        except OSError:  # closed just now
            continue
        if (state := read_state(state_file)) is not None:
            open_s = max(0.0, time.time() - opened_at)
            opened.append(OpenSession(id=lock_file.name, state=state, open_s=open_s))
    return tuple(sorted(opened, key=lambda session: session.open_s))
