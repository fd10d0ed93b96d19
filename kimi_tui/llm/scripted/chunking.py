"""Splitting of a finished part into the fragments that a server would stream."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from kimi_tui.base.content_parts import TextPart, ThinkPart
from kimi_tui.base.message import ToolCall, ToolCallPart
from kimi_tui.llm.provider import StreamPart

TextSplitter = Callable[[str], Iterable[str]]
"""Splits a text into chunks that join to the same text."""


def fixed_chunks(size: int) -> TextSplitter:
    """Return a splitter into chunks of `size` characters."""
    return lambda text: (text[start : start + size] for start in range(0, len(text), size))


def split_into_chunks(part: StreamPart, split: TextSplitter) -> Iterator[StreamPart]:
    """Yield `part` with its text or arguments split by `split`. Other parts aren't split."""
    match part:
        case TextPart(text=text) if text:
            yield from (TextPart(piece) for piece in split(text))
        case ThinkPart(think=think, encrypted=signature) if think:
            yield from (ThinkPart(piece) for piece in split(think))
            if signature is not None:
                yield ThinkPart("", signature)
        case ToolCall(function=function) if function.arguments:
            yield replace(part, function=replace(function, arguments=""))
            yield from (ToolCallPart(piece) for piece in split(function.arguments))
        case _:
            yield part
