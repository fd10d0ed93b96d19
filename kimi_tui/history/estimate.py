"""An estimate of what messages weigh, for those that no provider has counted yet."""

from collections.abc import Iterable, Sequence

from kimi_tui.base.content import TextPart, ThinkPart
from kimi_tui.base.message import Message

BYTES_PER_TOKEN = 4
"""Of UTF-8: four letters of English, or a little more than one Chinese character, as tokenizers have it."""
TOKENS_PER_MEDIUM = 1000


def estimated_tokens(messages: Iterable[Message]) -> int:
    """How many tokens `messages` are, roughly; rather too many than too few."""
    return sum(_weight(message) for message in messages)


class RunningEstimate:
    """The weight of a conversation's end, asked for again and again while the conversation grows."""

    def __init__(self) -> None:
        self._start = 0
        self._end = 0
        self._tokens = 0

    def tokens(self, messages: Sequence[Message], *, start: int, settled: int) -> int:
        """`estimated_tokens` of `messages` from `start` on; the first `settled` of them never change."""
        if start != self._start:
            self._start, self._end, self._tokens = start, start, 0
        if settled > self._end:
            self._tokens += estimated_tokens(messages[self._end : settled])
            self._end = settled
        return self._tokens + estimated_tokens(messages[self._end :])


def _weight(message: Message) -> int:
    size = media = 0
    for part in message.content:
        match part:
            case TextPart(text=text) | ThinkPart(think=text):
                size += _bytes(text)
            case _:
                media += 1
    for call in message.tool_calls or ():
        size += _bytes(call.function.name) + _bytes(call.function.arguments or "")
    return -(-size // BYTES_PER_TOKEN) + media * TOKENS_PER_MEDIUM


def _bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "replace"))
