"""What the program tells the model of its own accord: before a step, as system notes in the user's place."""

from collections.abc import Awaitable, Callable
from typing import Protocol

Say = Callable[[str], Awaitable[None]]
"""Puts a note into the conversation, on disk too. Raises JournalWriteError: then it was not said."""


class Reminder(Protocol):
    """Has something to say now and then, such as that a background task has ended."""

    async def __call__(self, say: Say, /) -> None:
        """Say what is to be said before the next step, if anything. What was said is not said again."""
