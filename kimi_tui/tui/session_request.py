"""Request to open a session, and the message that carries it."""

from dataclasses import dataclass
from pathlib import Path

from textual.message import Message

from kimi_tui.base.frozen import frozen


@frozen(kw_only=True)
class SessionRequest:
    """The session to open: a new one in the working directory unless `session_id` is set."""

    session_id: str | None = None
    fork: bool = False
    """Whether to fork the session."""
    read_only: bool = False
    """Whether to open the session read-only, because another process may be writing it."""
    agent: str = ""
    """Agent of a new session. Empty: the agent that the program was started with."""
    checkpoint: int | None = None
    """Checkpoint to show in the timeline. None: the current state."""
    work_dir: Path | None = None
    """Working directory. None: the directory that the app was started in."""
    data_dir: Path | None = None
    """Data directory with the session. None: the user's data directory."""
    fleet_visit: "FleetVisit | None" = None
    """The fleet's task that the session belongs to. None for other sessions."""


@frozen(kw_only=True)
class FleetVisit:
    """A fleet's task that is open in the app."""

    database: Path
    task_id: str
    is_running: bool
    """Whether the task was running when it was opened. The session then belongs to the running attempt."""
    back: SessionRequest
    """The session that was open before."""


@dataclass
class SessionRequested(Message):
    """Posted when the user opens another session."""

    request: SessionRequest
