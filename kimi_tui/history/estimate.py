"""An estimate of what messages weigh, for those that no provider has counted yet."""

from collections.abc import Iterable

from kimi_tui.base.content import ContentPart, TextPart, ThinkPart
from kimi_tui.base.message import Message

BYTES_PER_TOKEN = 4
"""Of UTF-8: four letters of English, or a little more than one Chinese character, as tokenizers have it."""
TOKENS_PER_MEDIUM = 1000


def estimated_tokens(messages: Iterable[Message]) -> int:
    """How many tokens `messages` are, roughly; rather too many than too few."""
    return sum(_weight(message) for message in messages)


def _weight(message: Message) -> int:
    texts = [call.function.name + (call.function.arguments or "") for call in message.tool_calls or ()]
    media = 0
    for part in message.content:
        if (text := _text(part)) is None:
            media += 1
        else:
            texts.append(text)
    size = sum(len(text) if text.isascii() else len(text.encode("utf-8", "replace")) for text in texts)
    return -(-size // BYTES_PER_TOKEN) + media * TOKENS_PER_MEDIUM


def _text(part: ContentPart) -> str | None:
    match part:
        case TextPart(text=text) | ThinkPart(think=text):
            return text
        case _:
            return None
