"""The session's todo list: kept in its state, shown by every front end, and brought along by jumps."""

import asyncio
from collections.abc import Callable

from kimi_tui.base.errors import SessionError
from kimi_tui.history.context import Context
from kimi_tui.history.session import Session
from kimi_tui.history.todo_log import TodoLog
from kimi_tui.wire.display import TodoItem
from kimi_tui.wire.events import Event, TodoUpdate


class SessionTodos:
    """The todo list of one session. What changes it raises SessionError when the disk refuses."""

    def __init__(self, session: Session, context: Context, send: Callable[[Event], None]) -> None:
        self._session = session
        self._context = context
        self._send = send
        self._log = TodoLog(session.dir)

    @property
    def items(self) -> tuple[TodoItem, ...]:
        """The list as it stands."""
        return self._session.state.todos

    async def set(self, items: tuple[TodoItem, ...]) -> None:
        """Replace the list."""
        since, before = self._context.n_checkpoints, self.items
        try:
            await asyncio.to_thread(self._log.note, items, since=since, instead_of=before)
        except OSError as error:
            raise SessionError(
                f"The todo list can't be saved: {error.strerror or error}.",
                hint="Free some space or make the share dir writable, then try again.",
            ) from error
        await self._session.update_state(todos=items)
        self._send(TodoUpdate(items))

    async def at(self, checkpoint_id: int) -> tuple[TodoItem, ...]:
        """The list at a checkpoint, as far as it is known; else as it stands."""
        try:
            found = await asyncio.to_thread(self._log.at, checkpoint_id)
        except OSError:
            found = None
        return self.items if found is None else found

    async def go_to(self, checkpoint_id: int) -> None:
        """Have the list be what it was at a checkpoint."""
        if (items := await self.at(checkpoint_id)) != self.items:
            await self.set(items)
