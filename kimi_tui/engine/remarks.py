"""What the model should know of what the user did beside the conversation, until its next step."""

from kimi_tui.soul.reminders import Say


class Remarks:
    """Collects remarks and says them before the next step."""

    def __init__(self) -> None:
        self._unsaid: list[str] = []

    def add(self, remark: str) -> None:
        """Have the model know `remark` from its next step on."""
        self._unsaid.append(remark)

    async def remind(self, say: Say) -> None:
        """A `soul.Reminder`: says what came since the last time."""
        while self._unsaid:
            await say(self._unsaid[0])
            del self._unsaid[0]
