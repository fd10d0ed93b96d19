"""Token estimate for messages that no provider has counted yet."""

from collections.abc import Iterable, Sequence

from kimi_tui.base.content_parts import TextPart, ThinkPart
from kimi_tui.base.message import Message

BYTES_PER_TOKEN = 4
"""UTF-8 bytes per token: four letters of English, or a little more than one Chinese character."""
TOKENS_PER_MEDIUM = 1000


def estimate_tokens(messages: Iterable[Message]) -> int:
    """Return the approximate number of tokens in `messages`, rather too high than too low."""
    return sum(_message_tokens(message) for message in messages)


class RunningTokenEstimate:
    """Incremental estimate for the end of a growing conversation."""

    def __init__(self) -> None:
        self._start = 0
        self._end = 0
        self._tokens = 0

    def tokens(self, messages: Sequence[Message], *, start: int, n_settled: int) -> int:
        """Return the estimate for `messages[start:]`. The first `n_settled` messages must never change."""
        if start != self._start:
            self._start, self._end, self._tokens = start, start, 0
        if n_settled > self._end:
            self._tokens += estimate_tokens(messages[self._end : n_settled])
            self._end = n_settled
        return self._tokens + estimate_tokens(messages[self._end :])


def _message_tokens(message: Message) -> int:
    size = media = 0
    for part in message.content:
        match part:
            case TextPart(text=text) | ThinkPart(think=text):
                size += _utf8_length(text)
            case _:
                media += 1
    for call in message.tool_calls or ():
        size += _utf8_length(call.function.name) + _utf8_length(call.function.arguments or "")
    return -(-size // BYTES_PER_TOKEN) + media * TOKENS_PER_MEDIUM


def _utf8_length(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "replace"))
