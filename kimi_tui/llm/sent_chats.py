"""Sent chats: conversations as the JSON that was sent of them, so that a request costs what is new in it.

A request repeats the one before it and goes on. Made anew each time, it would cost more with each message:
with 20,000 of them as much as the answer to it.
"""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from kimi_tui.base.message import Message
from kimi_tui.llm.request_body import encoded

_BITE = 400
"""Messages that are made ready at a time, which takes a few milliseconds: keys are answered in between."""
_KEPT = 2
"""Conversations: an agent's and that of one beside it; what was left must not stay in memory for long."""

W = TypeVar("W")
"""What messages depend on beside the conversation."""


class Growing(Protocol):
    """A conversation on its way into a request, one message after another."""

    @property
    def first(self) -> list[dict[str, Any]]:
        """What stands before its first message."""
        ...

    def sent_for(self, message: Message) -> list[dict[str, Any]]:
        """What the next message of the conversation adds to those of the request that stay as they are."""
        ...

    @property
    def left(self) -> list[dict[str, Any]]:
        """What follows when no message does."""
        ...


class Sent(NamedTuple):
    """`messages` of a request."""

    json: bytes
    """All of them, as a JSON array."""
    left: list[dict[str, Any]]
    """The last of them: those that may be others in the next request."""


class SentChats(Generic[W]):
    """The latest conversations with one server."""

    def __init__(self, begin: Callable[[W], Growing]) -> None:
        self._begin = begin
        self._chats: list[_Chat[W]] = []
        """The latest last."""

    async def messages(self, way: W, history: Sequence[Message]) -> Sent:
        """What is sent of `history`."""
        return (await self._gone_on(way, tuple(history))).sent()

    async def prepare(self, way: W, history: Sequence[Message]) -> None:
        """Make a conversation ready that will be gone on with."""
        whole = tuple(history)
        if not any(chat.holds(way, whole) for chat in self._chats):
            await self._gone_on(way, whole)

    async def _gone_on(self, way: W, history: tuple[Message, ...]) -> "_Chat[W]":
        """The chat that holds `history`."""
        while True:
            chat = self._latest(way, history)
            async with chat.busy:
                if chat not in self._chats or not chat.goes_on_as(way, history):
                    continue  # a request before this one failed, or went on in another way
                try:
                    await chat.take(history)
                except Exception:  # what turns out to be no JSON is not to be gone on with
                    self._chats = [known for known in self._chats if known is not chat]
                    raise
                return chat

    def _latest(self, way: W, history: tuple[Message, ...]) -> "_Chat[W]":
        chat = next((chat for chat in reversed(self._chats) if chat.goes_on_as(way, history)), None)
        others = [known for known in self._chats if known is not chat]
        chat = chat or _Chat(way, self._begin(way))
        self._chats = [*others[-_KEPT + 1 :], chat]
        return chat


class _Chat(Generic[W]):
    """One conversation as far as it was sent."""

    def __init__(self, way: W, messages: Growing) -> None:
        self._way = way
        self.history: tuple[Message, ...] = ()
        self.busy = asyncio.Lock()
        """Held by whoever goes on with it."""
        self._messages = messages
        self._json = bytearray()
        self._json += self._following(messages.first)

    def goes_on_as(self, way: W, history: tuple[Message, ...]) -> bool:
        """Whether `history` begins as what was sent."""
        return way == self._way and history[: len(self.history)] == self.history

    def holds(self, way: W, history: tuple[Message, ...]) -> bool:
        """Whether what was sent begins as `history`."""
        return way == self._way and self.history[: len(history)] == history

    async def take(self, history: tuple[Message, ...]) -> None:
        """Go on up to the end of `history`, which begins as what was sent."""
        while fresh := history[len(self.history) : len(self.history) + _BITE]:
            self._json += self._following(
                [sent for message in fresh for sent in self._messages.sent_for(message)]
            )
            self.history = history[: len(self.history) + len(fresh)]
            if len(self.history) < len(history):
                await asyncio.sleep(0)

    def sent(self) -> Sent:
        """What is sent of it now."""
        left = self._messages.left
        return Sent(b"".join((b"[", self._json, self._following(left), b"]")), left)

    def _following(self, messages: Sequence[dict[str, Any]]) -> bytes:
        """The JSON of `messages`, as it follows what is there."""
        if not messages:
            return b""
        return b"," * bool(self._json) + encoded(messages)[1:-1]
