"""An unfinished step, reconstructed from its pending records."""

from collections.abc import Sequence

from kimi_tui.base.message import Message
from kimi_tui.history.message_history import MessageHistory, message_with_results
from kimi_tui.history.record_codec import DamagedLine, encode, pending_message
from kimi_tui.history.records import PendingRecord


class PendingStep:
    """An unfinished step. Pending records that can't be read are skipped."""

    def __init__(self, first: PendingRecord, number: int) -> None:
        self.number = number
        """The line of the step's first pending record in the file."""
        self._records = [first]
        self._history = MessageHistory()

    def add_result(self, result: PendingRecord) -> None:
        """Add a result. It replaces an earlier one for the same call."""
        self._records.append(result)

    @property
    def results(self) -> Sequence[Message]:
        """The results so far."""
        return self._parse_records().messages[1:]

    def has_call_for(self, result: Message) -> bool:
        """Return whether `result` answers one of the step's calls."""
        response = self._parse_records().messages[:1]
        return any(
            call.id == result.tool_call_id for message in response for call in message.tool_calls or ()
        )

    def to_records(self) -> list[PendingRecord]:
        """Return records that describe the current state of the step."""
        return [PendingRecord(encode(message).rstrip()) for message in self._parse_records().messages]

    def final_messages(self) -> list[Message]:
        """Return the step's messages, with an interrupted result for each unfinished call."""
        messages = self._parse_records().messages
        return message_with_results(messages[0], messages[1:]) if messages else []

    def _parse_records(self) -> MessageHistory:
        records, self._records = self._records, []
        for record in records:
            try:
                message = pending_message(record)
            except DamagedLine:
                continue
            if message.role != "tool":
                self._history.append(message)
            elif not self._history.add_result(message):
                self._history.replace_result(message)
        return self._history
