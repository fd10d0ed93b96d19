"""Ids of tool calls: two agents that work beside each other never have the same one open."""

from collections.abc import Sequence
from typing import Protocol

from kimi_tui.base.message import Message


class TakenIds(Protocol):
    """Ids that a new call can't have."""

    def __contains__(self, call_id: object, /) -> bool:
        """Whether it is taken."""
        ...

    def add(self, call_id: str, /) -> None:
        """Take it."""
        ...

    def discard(self, call_id: str, /) -> None:
        """Let it go."""
        ...


class CallIds:
    """The ids of one agent's calls. Those of the agents beside it count as taken, too.

    Servers number calls anew for each conversation, and front ends know a call by its id alone.
    """

    def __init__(self, among: "list[CallIds] | None" = None) -> None:
        self._all = among if among is not None else []
        self._all.append(self)
        self._own: set[str] = set()
        self._history: Sequence[Message] = ()
        self._read = 0
        self._said: set[str] = set()
        """Those of the messages that were read."""

    def beside(self) -> "CallIds":
        """Those of another agent of the session. `close` them when it has ended."""
        return CallIds(self._all)

    def begin(self, history: Sequence[Message]) -> None:
        """The next answer is to `history`, which may have grown at its end; another is another object."""
        if history is not self._history or len(history) < self._read:
            self._history, self._read, self._said = history, 0, set()
        fresh = history[self._read :]
        self._said.update(call.id for message in fresh for call in message.tool_calls or ())
        self._read = len(history)
        self._own = set(self._said)

    def owns(self, call_id: str) -> bool:
        """Whether a call of this agent has that id."""
        return call_id in self._own

    def close(self) -> None:
        """The agent makes no more calls."""
        self._all.remove(self)

    def __contains__(self, call_id: object, /) -> bool:
        """Whether a call of an agent has that id."""
        return any(call_id in one._own for one in self._all)

    def add(self, call_id: str, /) -> None:
        """A call of this agent has that id."""
        self._own.add(call_id)

    def discard(self, call_id: str, /) -> None:
        """The call is not to be."""
        self._own.discard(call_id)
