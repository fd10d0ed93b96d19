"""Ids of tool calls, unique among the open calls of concurrent agents."""

from collections.abc import Sequence
from typing import Protocol

from kimi_tui.base.message import Message


class ReservedIds(Protocol):
    """Ids that new calls can't use."""

    def __contains__(self, call_id: object, /) -> bool:
        """Return whether an id is reserved."""
        ...

    def add(self, call_id: str, /) -> None:
        """Reserve an id."""
        ...

    def discard(self, call_id: str, /) -> None:
        """Release an id."""
        ...


class CallIds:
    """Ids of one agent's calls. The ids of concurrent agents are also reserved.

    Front ends identify a call only by its id, but providers restart the numbering in each conversation.
    """

    def __init__(self, siblings: "list[CallIds] | None" = None) -> None:
        self._siblings = siblings if siblings is not None else []
        self._siblings.append(self)
        self._own: set[str] = set()
        self._history: Sequence[Message] = ()
        self._n_read = 0
        self._ids_in_history: set[str] = set()
        """Ids in the messages that have been read."""

    def new_sibling(self) -> "CallIds":
        """Return a new CallIds for another agent of the session. Close it when that agent ends."""
        return CallIds(self._siblings)

    def prepare_for(self, history: Sequence[Message]) -> None:
        """Prepare for a response to `history`.

        Pass the same object again if the conversation has only grown, and a different object for a different
        conversation.
        """
        if history is not self._history or len(history) < self._n_read:
            self._history, self._n_read, self._ids_in_history = history, 0, set()
        unread = history[self._n_read :]
        self._ids_in_history.update(call.id for message in unread for call in message.tool_calls or ())
        self._n_read = len(history)
        self._own = set(self._ids_in_history)

    def owns(self, call_id: str) -> bool:
        """Return whether `call_id` belongs to a call of this agent."""
        return call_id in self._own

    def close(self) -> None:
        """Release all ids of the agent."""
        self._siblings.remove(self)

    def __contains__(self, call_id: object, /) -> bool:
        """Return whether `call_id` belongs to a call of any agent."""
        return any(call_id in one._own for one in self._siblings)

    def add(self, call_id: str, /) -> None:
        """Reserve an id for a call of this agent."""
        self._own.add(call_id)

    def discard(self, call_id: str, /) -> None:
        """Release the id of a call that was dropped."""
        self._own.discard(call_id)
