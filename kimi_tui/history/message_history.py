"""Message history that can be sent: every tool call has one result, in order, right after its message."""

from collections.abc import Iterable, Sequence

from kimi_tui.base.content_parts import TextPart, system_note
from kimi_tui.base.message import Message, ToolCall, user_message

INTERRUPTED = "The tool call was interrupted before it finished. What it did until then is not known."


def interrupted_result(call: ToolCall) -> Message:
    """Return the result of a call that did not finish."""
    return Message("tool", (system_note(INTERRUPTED),), tool_call_id=call.id)


def interrupted_messages(partial: Message) -> list[Message]:
    """Return an incomplete response, followed by a note that tells the model about the interruption."""
    text = "The response above was interrupted before it was complete."
    if not partial.text:
        text = "You were interrupted while you were still thinking."
    return [partial, user_message((system_note(text),))]


def is_note(message: Message) -> bool:
    """Return whether the program wrote the message on the user's behalf: it contains only system notes."""
    return all(isinstance(part, TextPart) and part.text.startswith("<system>") for part in message.content)


class MessageHistory:
    """Messages in order. Only the calls of the newest message may still await results.

    Call ids need to be unique only within one message: some servers restart their numbering for each
    response.
    """

    def __init__(self, messages: list[Message] | None = None) -> None:
        self.messages = messages if messages is not None else []
        self._calls: tuple[ToolCall, ...] = ()
        self._has_result: list[bool] = []
        self.is_open = False
        """Whether a call awaits its result."""
        self._first_result = 0
        self._early_results: dict[str | None, Message] = {}

    def append(self, message: Message) -> None:
        """Append a message that isn't a tool result. All calls must have been answered."""
        self.messages.append(message)
        self._calls = message.tool_calls or ()
        self._has_result = [False] * len(self._calls)
        self._first_result = len(self.messages)
        self.is_open = bool(self._calls)
        early_results, self._early_results = self._early_results, {}
        for call in self._calls:
            if call.id in early_results:
                self.add_result(early_results[call.id])

    def hold_early_result(self, result: Message) -> None:
        """Keep a result that no call awaits, in case the next message has the call.

        A second result for a call of the newest message is dropped: a later call may have the same id.
        """
        if not any(call.id == result.tool_call_id for call in self._calls):
            self._early_results[result.tool_call_id] = result

    def repeats_unanswered(self, message: Message) -> bool:
        """Return whether `message` repeats the newest message while calls of that message await results."""
        return bool(self.pending_calls) and self.messages[self._first_result - 1] == message

    def add_result(self, result: Message) -> bool:
        """Insert a tool result at its position. Return False if no call awaits it."""
        for index, call in enumerate(self._calls):
            if call.id == result.tool_call_id and not self._has_result[index]:
                self.messages.insert(self._first_result + sum(self._has_result[:index]), result)
                self._has_result[index] = True
                self.is_open = not all(self._has_result)
                return True
        return False

    def replace_result(self, result: Message) -> bool:
        """Replace the existing result of a call. Return False if the call has no result."""
        for index in range(self._first_result, len(self.messages)):
            if self.messages[index].tool_call_id == result.tool_call_id:
                self.messages[index] = result
                return True
        return False

    @property
    def n_settled(self) -> int:
        """Number of messages, from the first, that can no longer change."""
        return self._first_result

    @property
    def pending_calls(self) -> list[ToolCall]:
        """The calls that await a result."""
        return [call for call, done in zip(self._calls, self._has_result, strict=True) if not done]

    def missing_results(self, finished: Iterable[Message] = ()) -> list[Message]:
        """Return a result for each open call: from `finished`, or one that says the call was interrupted."""
        left = list(finished)
        return [_pop_result(left, call) or interrupted_result(call) for call in self.pending_calls]


def message_with_results(
    message: Message, results: Sequence[Message], *, finished: Iterable[Message] = ()
) -> list[Message]:
    """Return an assistant message followed by a result for each of its calls, in their order.

    A call without a result gets one from `finished`, or one that says the call was interrupted.
    Raises ValueError for a result that answers none of the calls.
    """
    conversation = MessageHistory()
    conversation.append(message)
    for result in results:
        if not conversation.add_result(result):
            raise ValueError(f"no call awaits a result for {result.tool_call_id!r}")
    for result in conversation.missing_results(finished):
        conversation.add_result(result)
    return conversation.messages


def complete_tool_results(messages: Iterable[Message]) -> list[Message]:
    """Return `messages` with results without a call removed and missing results added, ready to be sent."""
    conversation = MessageHistory()
    for message in messages:
        if message.role == "tool":
            conversation.add_result(message)
            continue
        for result in conversation.missing_results():
            conversation.add_result(result)
        conversation.append(message)
    for result in conversation.missing_results():
        conversation.add_result(result)
    return conversation.messages


def _pop_result(results: list[Message], call: ToolCall) -> Message | None:
    for index, result in enumerate(results):
        if result.tool_call_id == call.id:
            return results.pop(index)
    return None
