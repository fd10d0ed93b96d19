"""Cache of encoded conversations, so that a request only encodes new messages.

A request contains the messages of the previous request and new messages. Without a cache, the cost of
encoding would grow with the conversation: with 20,000 messages, encoding takes as long as the response.
"""

import asyncio
from collections.abc import Sequence
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from kimi_tui.base.message import Message
from kimi_tui.llm.transport.json_body import encode_body

_BATCH_SIZE = 400
"""Messages to encode before yielding to the event loop. A batch takes a few milliseconds."""
_MAX_CONVERSATIONS = 2
"""An agent's and one other conversation, such as a sub-agent's. Few, because old conversations use memory."""


class IncrementalEncoder(Protocol):
    """Encodes the messages of a conversation one after another."""

    @property
    def leading_messages(self) -> list[dict[str, Any]]:
        """Encoded messages before the first message of the conversation."""
        ...

    def encode(self, message: Message) -> list[dict[str, Any]]:
        """Encode the next message. Return the encoded messages that later messages can't change."""
        ...

    @property
    def trailing_messages(self) -> list[dict[str, Any]]:
        """Encoded messages that complete this request, but may differ in the next request."""
        ...


class EncodingStyle(Protocol):
    """The settings that affect the encoding. Equal styles encode a conversation identically."""

    def create_encoder(self) -> IncrementalEncoder:
        """Return an encoder for a new conversation."""
        ...


StyleT = TypeVar("StyleT", bound=EncodingStyle)


class CachedRequest(NamedTuple):
    """The encoded `messages` of a request."""

    json: bytes
    """All encoded messages, as a JSON array."""
    trailing_messages: list[dict[str, Any]]
    """The last encoded messages, which may differ in the next request."""


class RequestCache(Generic[StyleT]):
    """Cache of the latest conversations with one server."""

    def __init__(self) -> None:
        self._conversations: list[_CachedConversation[StyleT]] = []
        """Conversations, most recently used last."""

    async def build_request(self, style: StyleT, history: Sequence[Message]) -> CachedRequest:
        """Return the encoded messages of `history`."""
        return (await self._extend_conversation(style, tuple(history))).build_request()

    async def prepare(self, style: StyleT, history: Sequence[Message]) -> None:
        """Encode `history` in advance, unless a cached conversation already covers it."""
        whole = tuple(history)
        if not any(conversation.covers(style, whole) for conversation in self._conversations):
            await self._extend_conversation(style, whole)

    async def _extend_conversation(
        self, style: StyleT, history: tuple[Message, ...]
    ) -> "_CachedConversation[StyleT]":
        """Return the cached conversation, extended to `history`."""
        while True:
            conversation = self._find_or_create(style, history)
            async with conversation.lock:
                if conversation not in self._conversations or not conversation.is_prefix_of(style, history):
                    continue  # a concurrent request failed, or extended it with other messages
                try:
                    await conversation.extend(history)
                except Exception:  # a message can't be encoded: the conversation must not be reused
                    self._conversations = [it for it in self._conversations if it is not conversation]
                    raise
                return conversation

    def _find_or_create(self, style: StyleT, history: tuple[Message, ...]) -> "_CachedConversation[StyleT]":
        conversation = next(
            (it for it in reversed(self._conversations) if it.is_prefix_of(style, history)), None
        )
        others = [it for it in self._conversations if it is not conversation]
        conversation = conversation or _CachedConversation(style)
        self._conversations = [*others[-_MAX_CONVERSATIONS + 1 :], conversation]
        return conversation


class _CachedConversation(Generic[StyleT]):
    """One conversation and the JSON of its messages so far."""

    def __init__(self, style: StyleT) -> None:
        self._style = style
        self.history: tuple[Message, ...] = ()
        self.lock = asyncio.Lock()
        """Held while the conversation is extended."""
        self._encoder = style.create_encoder()
        self._json = bytearray()
        self._json += self._encode_following(self._encoder.leading_messages)

    def is_prefix_of(self, style: StyleT, history: tuple[Message, ...]) -> bool:
        """Return whether `history` starts with this conversation."""
        return style == self._style and history[: len(self.history)] == self.history

    def covers(self, style: StyleT, history: tuple[Message, ...]) -> bool:
        """Return whether this conversation starts with `history`."""
        return style == self._style and self.history[: len(history)] == history

    async def extend(self, history: tuple[Message, ...]) -> None:
        """Encode the new messages in `history`. `history` must start with this conversation."""
        while batch := history[len(self.history) : len(self.history) + _BATCH_SIZE]:
            self._json += self._encode_following(
                [encoded for message in batch for encoded in self._encoder.encode(message)]
            )
            self.history = history[: len(self.history) + len(batch)]
            if len(self.history) < len(history):
                await asyncio.sleep(0)

    def build_request(self) -> CachedRequest:
        """Return the request for the conversation so far."""
        trailing = self._encoder.trailing_messages
        return CachedRequest(b"".join((b"[", self._json, self._encode_following(trailing), b"]")), trailing)

    def _encode_following(self, messages: Sequence[dict[str, Any]]) -> bytes:
        """Return the JSON of `messages` as a continuation of the cached array."""
        if not messages:
            return b""
        return b"," * bool(self._json) + encode_body(messages)[1:-1]
