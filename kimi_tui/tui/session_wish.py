"""Which session the user wants to have open, and the message that asks for it."""

from dataclasses import dataclass
from pathlib import Path

from textual.message import Message

from kimi_tui.base.value import value


@value(kw_only=True)
class SessionWish:
    """A new session in the work dir, unless it names one."""

    session_id: str | None = None
    fork: bool = False
    """Whether to go on in a copy of it."""
    read_only: bool = False
    """Whether only to read it, which another process may write."""
    agent: str = ""
    """Which agent a new one has; empty for the one that the program was started with."""
    work_dir: Path | None = None
    """Where it works; None for where the app was opened."""


@dataclass
class SessionWanted(Message):
    """The user wants another session in place of the one that is open."""

    wish: SessionWish
