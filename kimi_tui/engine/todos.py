"""The session's todo list: kept in its state, shown by every front end."""

from kimi_tui.history.session import Session
from kimi_tui.wire.channel import Wire
from kimi_tui.wire.display import TodoItem
from kimi_tui.wire.events import TodoUpdate


class SessionTodos:
    """The todo list of one session."""

    def __init__(self, session: Session, wire: Wire) -> None:
        self._session = session
        self._wire = wire

    @property
    def items(self) -> tuple[TodoItem, ...]:
        """The list as it stands."""
        return self._session.state.todos

    async def set(self, items: tuple[TodoItem, ...]) -> None:
        """Replace the list."""
        await self._session.update_state(todos=items)
        self._wire.send(TodoUpdate(items))
