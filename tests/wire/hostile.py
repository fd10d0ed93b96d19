"""Every message of the Wire as an enemy fills it in: each text tries to drive the terminal and the markup."""

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from kimi_tui.wire.channel import Outgoing
from kimi_tui.wire.events import Event, ReplayBegin, ReplayEnd
from kimi_tui.wire.requests import Request

HOSTILE = "[red]x[/red] \x1b]0;evil\x07\x1b[2J\x9b2J\u202egpj\u200b\r\n\ud800[link=http://evil]y"
_FIRST = (ReplayBegin, ReplayEnd)
"""What comes within them counts as long gone."""


def every_message() -> Iterator[Outgoing]:
    """One of each."""
    kinds = (*get_args(Event), *get_args(Request))
    for kind in (*_FIRST, *(kind for kind in kinds if kind not in _FIRST)):
        yield _filled(kind)


def _filled(kind: Any) -> Any:
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return _filled(inner[0])
    if origin in (Union, UnionType):
        return _filled(next(each for each in inner if each is not NoneType))
    if origin is Literal:
        return inner[0]
    if origin is tuple:
        return (_filled(inner[0]),)
    if origin is dict:
        return {HOSTILE: _filled(inner[1])}
    if is_dataclass(kind):
        hints = get_type_hints(kind)
        return kind(**{each.name: _filled(hints[each.name]) for each in fields(kind)})
    plain = {str: HOSTILE, int: 1, float: 1.0, bool: False, Any: HOSTILE}
    return plain[kind]


def assert_harmless(shown: str) -> None:
    """That nothing in `shown` drives a terminal."""
    found = {char for char in shown if (not char.isprintable() and char != "\n") and char != "\u200b"}
    assert not found, f"{sorted(map(ascii, found))} got through:\n{shown}"
