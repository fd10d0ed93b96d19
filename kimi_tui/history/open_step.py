"""A step under way, as it is noted before its own write."""

from collections.abc import Sequence

from kimi_tui.base.message import Message
from kimi_tui.history.conversation import Conversation, exchange
from kimi_tui.history.notation import DamagedLine, encode, pending_message
from kimi_tui.history.records import Pending


class OpenStep:
    """A step under way, as `_pending` records tell of it. Those that can't be read are left out."""

    def __init__(self, said: Pending, number: int) -> None:
        self.number = number
        """The line of the file that the step's answer was noted in."""
        self._notes = [said]
        self._conversation = Conversation()

    def note(self, result: Pending) -> None:
        """Note a result; it takes the place of one that was noted for the same call."""
        self._notes.append(result)

    @property
    def results(self) -> Sequence[Message]:
        """The results that are there."""
        return self._read().messages[1:]

    def has_call_of(self, result: Message) -> bool:
        """Whether `result` answers one of its calls."""
        said = self._read().messages[:1]
        return any(call.id == result.tool_call_id for it in said for call in it.tool_calls or ())

    def notes(self) -> list[Pending]:
        """What tells of it as far as it has come."""
        return [Pending(encode(message).rstrip()) for message in self._read().messages]

    def finished(self) -> list[Message]:
        """The step's messages if it ends now."""
        messages = self._read().messages
        return exchange(messages[0], messages[1:]) if messages else []

    def _read(self) -> Conversation:
        notes, self._notes = self._notes, []
        for note in notes:
            try:
                message = pending_message(note)
            except DamagedLine:
                continue
            if message.role != "tool":
                self._conversation.say(message)
            elif not self._conversation.answer(message):
                self._conversation.correct(message)
        return self._conversation
