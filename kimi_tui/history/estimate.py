"""An estimate of what messages weigh, for those that no provider has counted yet."""

from collections.abc import Iterable

from kimi_tui.base.content import TextPart, ThinkPart
from kimi_tui.base.message import Message

BYTES_PER_TOKEN = 4
"""Of UTF-8: four letters of English, or a little more than one Chinese character, as tokenizers have it."""
TOKENS_PER_MEDIUM = 1000


def estimated_tokens(messages: Iterable[Message]) -> int:
    """How many tokens `messages` are, roughly; rather too many than too few."""
    return sum(_weight(message) for message in messages)


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
