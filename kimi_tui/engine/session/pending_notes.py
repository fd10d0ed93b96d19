"""Notes for the model about the user's actions outside the conversation."""

from kimi_tui.soul.reminders import AddNote


class PendingNotes:
    """Collects notes until the model's next step."""

    def __init__(self) -> None:
        self._notes: list[str] = []

    def add(self, note: str) -> None:
        """Send `note` to the model with its next step."""
        self._notes.append(note)

    async def remind(self, add_note: AddNote) -> None:
        """Add the pending notes. Implements `soul.Reminder`."""
        while self._notes:
            await add_note(self._notes[0])
            del self._notes[0]
