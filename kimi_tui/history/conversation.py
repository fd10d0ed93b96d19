"""A conversation that can be sent: every tool call has one result, in order, right after its message."""

from collections.abc import Iterable, Sequence

from kimi_tui.base.content import TextPart, system_note
from kimi_tui.base.message import Message, ToolCall, user_message

INTERRUPTED = "The tool call was interrupted before it finished. What it did until then is not known."


def interrupted_result(call: ToolCall) -> Message:
    """The result of a call that did not finish."""
    return Message("tool", (system_note(INTERRUPTED),), tool_call_id=call.id)


def broken_off(partial: Message) -> list[Message]:
    """An answer that did not come to its end, with what the model is told of that."""
    words = "The answer above broke off before it was complete."
    if not partial.text:
        words = "You were interrupted while you were still thinking."
    return [partial, user_message((system_note(words),))]


def is_note(message: Message) -> bool:
    """Whether the program said it in the user's place: there is nothing but system notes in it."""
    return all(isinstance(part, TextPart) and part.text.startswith("<system>") for part in message.content)


class Conversation:
    """Messages in order. Only the newest message's calls may still await results.

    Ids of calls need to be unique within one message only: some servers number them anew each time.
    """

    def __init__(self, messages: list[Message] | None = None) -> None:
        self.messages = messages if messages is not None else []
        self._calls: tuple[ToolCall, ...] = ()
        self._answered: list[bool] = []
        self.is_open = False
        """Whether a call awaits its result."""
        self._first_result = 0

    def say(self, message: Message) -> None:
        """Append a message that is no tool result. Every call must have been answered."""
        self.messages.append(message)
        self._calls = message.tool_calls or ()
        self._answered = [False] * len(self._calls)
        self._first_result = len(self.messages)
        self.is_open = bool(self._calls)

    def answer(self, result: Message) -> bool:
        """Put a tool result into its place. False when no call awaits it."""
        for index, call in enumerate(self._calls):
            if call.id == result.tool_call_id and not self._answered[index]:
                self.messages.insert(self._first_result + sum(self._answered[:index]), result)
                self._answered[index] = True
                self.is_open = not all(self._answered)
                return True
        return False

    def correct(self, result: Message) -> bool:
        """Put a tool result into the place of the one that its call has. False when it has none."""
        for at in range(self._first_result, len(self.messages)):
            if self.messages[at].tool_call_id == result.tool_call_id:
                self.messages[at] = result
                return True
        return False

    @property
    def settled(self) -> int:
        """How many messages, from the first, never change any more."""
        return self._first_result

    @property
    def unanswered(self) -> list[ToolCall]:
        """The calls that await a result."""
        return [call for call, done in zip(self._calls, self._answered, strict=True) if not done]

    def missing_results(self, finished: Iterable[Message] = ()) -> list[Message]:
        """A result for each call that awaits one: from `finished`, else one that says it was interrupted."""
        left = list(finished)
        return [_take(left, call) or interrupted_result(call) for call in self.unanswered]


def exchange(said: Message, results: Sequence[Message], *, finished: Iterable[Message] = ()) -> list[Message]:
    """An assistant message with a result for each of its calls, in their order.

    A call without a result gets it from `finished`, else one that says it was interrupted.
    Raises ValueError for a result that answers none of the calls.
    """
    conversation = Conversation()
    conversation.say(said)
    for result in results:
        if not conversation.answer(result):
            raise ValueError(f"no call awaits a result for {result.tool_call_id!r}")
    for result in conversation.missing_results(finished):
        conversation.answer(result)
    return conversation.messages


def sendable(messages: Iterable[Message]) -> list[Message]:
    """`messages` made fit to send: results without a call are dropped, calls without one are answered."""
    conversation = Conversation()
    for message in messages:
        if message.role == "tool":
            conversation.answer(message)
            continue
        for result in conversation.missing_results():
            conversation.answer(result)
        conversation.say(message)
    for result in conversation.missing_results():
        conversation.answer(result)
    return conversation.messages


def _take(results: list[Message], call: ToolCall) -> Message | None:
    for index, result in enumerate(results):
        if result.tool_call_id == call.id:
            return results.pop(index)
    return None
