"""Tool calls of a chat completion, put together from their fragments."""

import json
from dataclasses import dataclass, field
from typing import Any

from kimi_tui.base.identity import new_id
from kimi_tui.base.message import FunctionCall, ToolCall, ToolCallPart
from kimi_tui.llm.json_text import parsed

_OWN_FIELDS = frozenset({"index", "id", "type", "function"})


@dataclass(slots=True)
class _Call:
    server_id: str
    name: str = ""
    fragments: list[str] = field(default_factory=list)
    length: int = 0
    id: str = ""
    """What we call it; empty while its name, and so the call itself, has not come."""

    @property
    def arguments(self) -> str:
        return "".join(self.fragments)

    @property
    def is_whole(self) -> bool:
        """Whether the arguments so far are a JSON object; cheap while they aren't."""
        last = next((text for text in map(str.rstrip, reversed(self.fragments)) if text), "")
        if not last.endswith("}"):
            return False
        try:
            parsed(self.arguments)
        except ValueError:
            return False
        return True

    def add(self, arguments: str) -> None:
        if arguments:
            self.fragments.append(arguments)
            self.length += len(arguments)

    def is_repeated_by(self, server_id: str, arguments: str) -> bool:
        """Whether a server that ends with all calls in one piece says this one again."""
        return (
            bool(server_id and arguments)
            and server_id == self.server_id
            and len(arguments) == self.length
            and arguments == self.arguments
            and self.is_whole
        )


class ChatCalls:
    """Tells which call each fragment belongs to, however a server numbers and names them.

    Ids are unique within the answer: a missing one is made up, one that comes twice is numbered.
    """

    def __init__(self) -> None:
        self._calls: list[_Call] = []
        self._by_index: dict[int, _Call] = {}
        self._last_shown: _Call | None = None

    @property
    def are_whole(self) -> bool:
        """Whether there are calls and the arguments of each are whole."""
        return bool(self._calls) and all(call.id and call.is_whole for call in self._calls)

    @property
    def has_nameless(self) -> bool:
        """Whether a call came whose name never did."""
        return any(not call.id for call in self._calls)

    def take(self, fragment: dict[str, Any]) -> ToolCall | ToolCallPart | None:
        """What `fragment`, an entry of `tool_calls`, adds: a call, more of its arguments, or nothing."""
        function = fragment.get("function")
        function = function if isinstance(function, dict) else {}
        name = _text(function.get("name"))
        server_id = _text(fragment.get("id"))
        arguments = _arguments(function.get("arguments"))
        call = self._call_of(fragment.get("index"), server_id, name, arguments)
        if call.id:
            return self._continued(call, server_id, arguments)
        call.add(arguments)
        if not name:
            return None
        call.name = name
        call.id = self._unique_id(call.server_id)
        self._last_shown = call
        extras = {
            key: value for key, value in fragment.items() if key not in _OWN_FIELDS and value is not None
        }
        return ToolCall(call.id, FunctionCall(name, call.arguments or None), extras=extras or None)

    def _continued(self, call: _Call, server_id: str, arguments: str) -> ToolCallPart | None:
        if not arguments or call.is_repeated_by(server_id, arguments):
            return None
        call.add(arguments)
        return ToolCallPart(arguments, None if call is self._last_shown else call.id)

    def _call_of(self, index: Any, server_id: str, name: str, arguments: str) -> _Call:
        is_numbered = isinstance(index, int)
        if is_numbered and index in self._by_index:
            known: _Call | None = self._by_index[index]
        elif is_numbered and name:
            known = None
        else:
            known = self._known_by_id(server_id) or (self._calls[-1] if self._calls else None)
        if known is None or _begins_another(known, server_id, name, arguments):
            known = _Call(server_id)
            self._calls.append(known)
        known.server_id = known.server_id or server_id
        if is_numbered:
            self._by_index[index] = known
        return known

    def _known_by_id(self, server_id: str) -> _Call | None:
        matching = (call for call in reversed(self._calls) if server_id and call.server_id == server_id)
        return next(matching, None)

    def _unique_id(self, server_id: str) -> str:
        taken = {call.id for call in self._calls}
        wanted = server_id or f"call_{new_id()}"
        unique, count = wanted, 1
        while unique in taken:
            count += 1
            unique = f"{wanted}_{count}"
        return unique


def _begins_another(known: _Call, server_id: str, name: str, arguments: str) -> bool:
    """Whether a fragment that is numbered like `known`, or not at all, begins another call all the same.

    Some servers number each parallel call 0, or none; others repeat id and name in each fragment of one call,
    or even give each fragment an id of its own. A name begins a call; arguments that are not whole keep it
    open.
    """
    if not name or not known.name:
        return False
    if name != known.name:
        return True
    if server_id and known.server_id and server_id != known.server_id:
        return not known.length or known.is_whole
    return bool(arguments) and known.is_whole and not known.is_repeated_by(server_id, arguments)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _arguments(value: Any) -> str:
    match value:
        case str():
            return value
        case None:
            return ""
        case _:
            return json.dumps(value, ensure_ascii=False)
