"""Wire messages in which each text tries to control the terminal and to inject markup."""

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from kimi_tui.wire.channel import Outgoing
from kimi_tui.wire.events import Event, ReplayBegin, ReplayEnd
from kimi_tui.wire.requests import Request

HOSTILE = "[red]x[/red] \x1b]0;evil\x07\x1b[2J\x9b2J\u202egpj\u200b\r\n\ud800[link=http://evil]y"
_FIRST = (ReplayBegin, ReplayEnd)
"""Messages between these are part of a replay."""


def every_message() -> Iterator[Outgoing]:
    """Yield one message of each type."""
    kinds = (*get_args(Event), *get_args(Request))
    for kind in (*_FIRST, *(kind for kind in kinds if kind not in _FIRST)):
        yield _fill(kind)


def _fill(kind: Any) -> Any:
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return _fill(inner[0])
    if origin in (Union, UnionType):
        return _fill(next(each for each in inner if each is not NoneType))
    if origin is Literal:
        return inner[0]
    if origin is tuple:
        return (_fill(inner[0]),)
    if origin is dict:
        return {HOSTILE: _fill(inner[1])}
    if is_dataclass(kind):
        hints = get_type_hints(kind)
        return kind(**{each.name: _fill(hints[each.name]) for each in fields(kind)})
    values = {str: HOSTILE, int: 1, float: 1.0, bool: False, Any: HOSTILE}
    return values[kind]


def assert_harmless(shown: str) -> None:
    """Assert that `shown` has no characters that control a terminal."""
    unsafe = {char for char in shown if (not char.isprintable() and char != "\n") and char != "\u200b"}
    assert not unsafe, f"{sorted(map(ascii, unsafe))} weren't removed:\n{shown}"
