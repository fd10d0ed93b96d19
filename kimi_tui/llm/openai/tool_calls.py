"""Assembler of a chat completion's tool calls from their fragments."""

import json
from dataclasses import dataclass, field
from typing import Any

from kimi_tui.base.ids import new_id
from kimi_tui.base.message import FunctionCall, ToolCall, ToolCallPart
from kimi_tui.llm.lenient_json import loads_lenient

_STANDARD_FIELDS = frozenset({"index", "id", "type", "function"})


@dataclass(slots=True)
class _PartialChatCall:
    server_id: str
    name: str = ""
    fragments: list[str] = field(default_factory=list)
    length: int = 0
    id: str = ""
    """The emitted id. Empty until the name arrives and the call is emitted."""

    @property
    def arguments(self) -> str:
        return "".join(self.fragments)

    @property
    def is_complete(self) -> bool:
        """Whether the arguments so far are valid JSON. The check is fast for most incomplete arguments."""
        last = next((text for text in map(str.rstrip, reversed(self.fragments)) if text), "")
        if not last.endswith("}"):
            return False
        try:
            loads_lenient(self.arguments)
        except ValueError:
            return False
        return True

    def add(self, arguments: str) -> None:
        if arguments:
            self.fragments.append(arguments)
            self.length += len(arguments)

    def is_repeated_by(self, server_id: str, arguments: str) -> bool:
        """Return whether a fragment repeats the whole call, as some servers do at the end."""
        return (
            bool(server_id and arguments)
            and server_id == self.server_id
            and len(arguments) == self.length
            and arguments == self.arguments
            and self.is_complete
        )


class ToolCallAssembler:
    """Assigns fragments to calls, for all known ways in which servers number and name calls.

    Ids are unique within the response: missing ids are generated and duplicates get a number.
    """

    def __init__(self) -> None:
        self._calls: list[_PartialChatCall] = []
        self._by_index: dict[int, _PartialChatCall] = {}
        self._last_emitted: _PartialChatCall | None = None

    @property
    def is_complete(self) -> bool:
        """Whether there are calls, and all their arguments are complete."""
        return bool(self._calls) and all(call.id and call.is_complete for call in self._calls)

    @property
    def has_unnamed(self) -> bool:
        """Whether a call never got a name."""
        return any(not call.id for call in self._calls)

    def add_fragment(self, fragment: dict[str, Any]) -> ToolCall | ToolCallPart | None:
        """Return the part in `fragment`, an entry of `tool_calls`: a call, more arguments, or None."""
        function = fragment.get("function")
        function = function if isinstance(function, dict) else {}
        name = _text(function.get("name"))
        server_id = _text(fragment.get("id"))
        arguments = _arguments(function.get("arguments"))
        call = self._call_of(fragment.get("index"), server_id, name, arguments)
        if call.id:
            return self._add_arguments(call, server_id, arguments)
        call.add(arguments)
        if not name:
            return None
        call.name = name
        call.id = self._unique_id(call.server_id)
        self._last_emitted = call
        extras = {
            key: value for key, value in fragment.items() if key not in _STANDARD_FIELDS and value is not None
        }
        return ToolCall(call.id, FunctionCall(name, call.arguments or None), extras=extras or None)

    def _add_arguments(self, call: _PartialChatCall, server_id: str, arguments: str) -> ToolCallPart | None:
        if not arguments or call.is_repeated_by(server_id, arguments):
            return None
        call.add(arguments)
        return ToolCallPart(arguments, None if call is self._last_emitted else call.id)

    def _call_of(self, index: Any, server_id: str, name: str, arguments: str) -> _PartialChatCall:
        is_numbered = isinstance(index, int)
        if is_numbered and index in self._by_index:
            call: _PartialChatCall | None = self._by_index[index]
        elif is_numbered and name:
            call = None
        else:
            call = self._find_by_id(server_id) or (self._calls[-1] if self._calls else None)
        if call is None or _starts_new_call(call, server_id, name, arguments):
            call = _PartialChatCall(server_id)
            self._calls.append(call)
        call.server_id = call.server_id or server_id
        if is_numbered:
            self._by_index[index] = call
        return call

    def _find_by_id(self, server_id: str) -> _PartialChatCall | None:
        matching = (call for call in reversed(self._calls) if server_id and call.server_id == server_id)
        return next(matching, None)

    def _unique_id(self, server_id: str) -> str:
        used_ids = {call.id for call in self._calls}
        base_id = server_id or f"call_{new_id()}"
        unique_id, count = base_id, 1
        while unique_id in used_ids:
            count += 1
            unique_id = f"{base_id}_{count}"
        return unique_id


def _starts_new_call(call: _PartialChatCall, server_id: str, name: str, arguments: str) -> bool:
    """Return whether a fragment with the index of `call`, or without an index, starts another call.

    Some servers number all parallel calls 0, or don't number them. Other servers repeat id and name in each
    fragment of a call, or give each fragment another id. A name starts a call, unless the arguments of the
    current call are incomplete.
    """
    if not name or not call.name:
        return False
    if name != call.name:
        return True
    if server_id and call.server_id and server_id != call.server_id:
        return not call.length or call.is_complete
    return bool(arguments) and call.is_complete and not call.is_repeated_by(server_id, arguments)


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
