"""The messages that arrived since the last frame, classified by who handles them."""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import Any, TypeGuard, TypeVar, get_args

from kimi_tui.wire.channel import Outgoing
from kimi_tui.wire.events import (
    ConversationEvent,
    ReplayBoundary,
    SessionEvent,
    SideQuestionEvent,
    TimelineEvent,
)
from kimi_tui.wire.requests import UserRequest

ConversationMessage = ConversationEvent | UserRequest
"""A message that the conversation shows."""
TranscriptMessage = ConversationMessage | ReplayBoundary
"""A message for a transcript, which also shows where a replay begins and ends."""
SessionMessage = SessionEvent | UserRequest
"""A message that changes the state of the session."""

_Message = TypeVar("_Message")
_CONVERSATION_TYPES = frozenset(get_args(ConversationMessage))
_TRANSCRIPT_TYPES = frozenset(get_args(TranscriptMessage))
_SESSION_TYPES = frozenset(get_args(SessionMessage))
_TIMELINE_TYPES = frozenset(get_args(TimelineEvent))
_SIDE_QUESTION_TYPES = frozenset(get_args(SideQuestionEvent))


def is_conversation_message(message: object) -> TypeGuard[ConversationMessage]:
    """Return whether the conversation shows `message`."""
    return type(message) in _CONVERSATION_TYPES


def is_session_message(message: object) -> TypeGuard[SessionMessage]:
    """Return whether `message` changes the state of the session."""
    return type(message) in _SESSION_TYPES


class MessageBatch:
    """A batch of messages. Each list is in the order of arrival; a message may be in several lists."""

    def __init__(self, messages: Sequence[Outgoing]) -> None:
        self.all = messages
        """All messages."""
        self._by_type: dict[type, list[Any]] = {}
        for message in messages:
            self._by_type.setdefault(type(message), []).append(message)
        self.session: list[SessionMessage] = self._select(messages, _SESSION_TYPES)
        self.conversation: list[TranscriptMessage] = self._select(messages, _TRANSCRIPT_TYPES)
        self.timeline: list[TimelineEvent] = self._select(messages, _TIMELINE_TYPES)
        self.side_questions: list[SideQuestionEvent] = self._select(messages, _SIDE_QUESTION_TYPES)

    def of_type(self, kind: type[_Message]) -> Sequence[_Message]:
        """Return the messages of type `kind`."""
        return self._by_type.get(kind, [])

    def has_any(self, *kinds: type) -> bool:
        """Return whether there is a message of one of the types `kinds`."""
        return not self._by_type.keys().isdisjoint(kinds)

    def drop_from_conversation(self, message: Outgoing) -> None:
        """Remove `message` from the messages for the conversation, because a dialog shows it."""
        self.conversation = [each for each in self.conversation if each is not message]

    def _select(self, messages: Sequence[Outgoing], kinds: AbstractSet[type]) -> list[Any]:
        if not self.has_any(*kinds):
            return []
        return [message for message in messages if type(message) in kinds]
