"""Fragments: a finished part cut into the pieces in which a server would stream it."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from kimi_tui.base.content import TextPart, ThinkPart
from kimi_tui.base.message import ToolCall, ToolCallPart
from kimi_tui.llm.provider import StreamPart

Cutter = Callable[[str], Iterable[str]]
"""Cuts a text into pieces that join to it again."""


def every(size: int) -> Cutter:
    """Cuts into pieces of `size` characters."""
    return lambda text: (text[start : start + size] for start in range(0, len(text), size))


def fragments(part: StreamPart, cut: Cutter) -> Iterator[StreamPart]:
    """`part` in the pieces that `cut` makes of its text or arguments; what has neither stays whole."""
    match part:
        case TextPart(text=text) if text:
            yield from (TextPart(piece) for piece in cut(text))
        case ThinkPart(think=think, encrypted=signature) if think:
            yield from (ThinkPart(piece) for piece in cut(think))
            if signature is not None:
                yield ThinkPart("", signature)
        case ToolCall(function=function) if function.arguments:
            yield replace(part, function=replace(function, arguments=""))
            yield from (ToolCallPart(piece) for piece in cut(function.arguments))
        case _:
            yield part
