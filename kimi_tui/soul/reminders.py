"""Reminders: system notes that the program adds to the conversation before a step."""

from collections.abc import Awaitable, Callable
from typing import Protocol

AddNote = Callable[[str], Awaitable[None]]
"""Appends a note to the conversation and the journal. Raises JournalWriteError without adding the note."""


class Reminder(Protocol):
    """Adds notes about events, for example that a background task has finished."""

    async def remind(self, add_note: AddNote, /) -> None:
        """Add the notes that are due before the next step, if any. Each note is added once."""
