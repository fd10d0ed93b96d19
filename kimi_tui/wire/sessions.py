"""The sessions on disk, as front ends list them."""

from typing import Literal

from kimi_tui.base.value import value


@value
class ListedSession:
    """One session."""

    id: str
    title: str
    work_dir: str
    """Empty when nothing says any more where it worked."""
    updated: float
    """When it was last used, in seconds since the epoch."""
    snippet: str = ""
    """Where the text that was looked for stands in it."""


@value
class SessionList:
    """Ours: the answer to ListSessions, and sent after a session was renamed or deleted."""

    sessions: tuple[ListedSession, ...]
    """Last used first; the session that is open is among them once something was said in it."""
    text: str = ""
    """The text that was looked for."""


@value
class SaidWords:
    """What somebody said, perhaps cut."""

    speaker: Literal["user", "agent"]
    text: str


@value
class SessionPreview:
    """Ours: the answer to PreviewSession: how the conversation ended."""

    id: str
    said: tuple[SaidWords, ...]
    """Oldest first; nothing when nothing was said."""
