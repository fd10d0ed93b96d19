"""Finds sessions that aren't on a screen and need the user or have ended their work."""

from collections.abc import Sequence

from kimi_tui.wire.running_session import RunningSession


class SessionAlerts:
    """Compares the running sessions with the previous list. Reports a session once per state or request."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[str, tuple[str, ...]]] | None = None
        """State and open requests of each session. None before the first list."""

    def update(self, sessions: Sequence[RunningSession], *, current_id: str | None) -> list[RunningSession]:
        """Return the sessions to report, except those on a screen: the current one, and those with a client.

        The first call returns an empty list: later lists are compared with the first one.
        """
        before = self._known
        self._known = {session.id: _progress(session) for session in sessions}
        if before is None:
            return []
        return [
            session
            for session in sessions
            if session.state in ("awaiting approval", "done", "failed")
            and not session.clients
            and session.id != current_id
            and before.get(session.id) != self._known[session.id]
        ]


def _progress(session: RunningSession) -> tuple[str, tuple[str, ...]]:
    return session.state, tuple(request.id for request in session.open_requests)
