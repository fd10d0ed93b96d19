"""Sent chats: conversations as the JSON that was sent of them, so that a request costs what is new in it.

A request repeats the one before it and goes on. Made anew each time, it would cost more with each message:
with 20,000 of them as much as the answer to it.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from kimi_tui.base.message import Message
from kimi_tui.llm.chat_dialect import ChatDialect
from kimi_tui.llm.chat_request import ChatMessages
from kimi_tui.llm.provider import ThinkingEffort
from kimi_tui.llm.request_body import encoded

_KEPT = 2
"""Conversations: an agent's and that of one beside it; what was left must not stay in memory for long."""


class _Way(NamedTuple):
    """What messages depend on beside the conversation."""

    system_prompt: str
    dialect: ChatDialect
    effort: ThinkingEffort | None


class SentChats:
    """The latest conversations with one server."""

    def __init__(self) -> None:
        self._chats: list[_Chat] = []
        """The latest last."""

    def messages(
        self,
        system_prompt: str,
        history: Sequence[Message],
        *,
        dialect: ChatDialect,
        effort: ThinkingEffort | None,
    ) -> bytes:
        """`messages` of the request, as a JSON array."""
        way, history = _Way(system_prompt, dialect, effort), tuple(history)
        chat = next((chat for chat in reversed(self._chats) if chat.goes_on_as(way, history)), None)
        others = [known for known in self._chats if known is not chat]
        self._chats = others  # one that turns out to be no JSON is not to be gone on with
        chat = chat or _Chat(way)
        messages = chat.going_on(history)
        self._chats = [*others[-_KEPT + 1 :], chat]
        return messages


class _Chat:
    """One conversation as far as it was sent."""

    def __init__(self, way: _Way) -> None:
        self._way = way
        self._history: tuple[Message, ...] = ()
        self._messages = ChatMessages(dialect=way.dialect, effort=way.effort)
        self._json = bytearray()
        if way.system_prompt:
            self._json += encoded({"role": "system", "content": way.system_prompt})

    def goes_on_as(self, way: _Way, history: tuple[Message, ...]) -> bool:
        """Whether `history` begins as what was sent."""
        return way == self._way and history[: len(self._history)] == self._history

    def going_on(self, history: tuple[Message, ...]) -> bytes:
        """The JSON array for `history`, which begins as what was sent."""
        fresh = history[len(self._history) :]
        self._json += self._following(
            [sent for message in fresh for sent in self._messages.sent_for(message)]
        )
        self._history = history
        return b"".join((b"[", self._json, self._following(self._messages.left), b"]"))

    def _following(self, messages: Sequence[dict[str, Any]]) -> bytes:
        """The JSON of `messages`, as it follows what is there."""
        if not messages:
            return b""
        return b"," * bool(self._json) + encoded(messages)[1:-1]
