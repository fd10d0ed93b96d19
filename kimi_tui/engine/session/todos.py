"""Todo list of a session: saved in its state, shown by front ends, restored by reverts."""

import asyncio

from kimi_tui.base.errors import SessionError
from kimi_tui.base.message_text import msg
from kimi_tui.history.context import Context
from kimi_tui.history.session import Session
from kimi_tui.history.todo_log import TodoLog
from kimi_tui.wire.display_blocks import TodoItem
from kimi_tui.wire.event_sender import EventSender
from kimi_tui.wire.events import TodoUpdate


class SessionTodos:
    """Todo list of one session. Methods that change the list raise SessionError if it can't be saved."""

    def __init__(self, session: Session, context: Context, sender: EventSender) -> None:
        self._session = session
        self._context = context
        self._sender = sender
        self._log = TodoLog(session.dir)

    @property
    def items(self) -> tuple[TodoItem, ...]:
        """Current items."""
        return self._session.state.todos

    async def set(self, items: tuple[TodoItem, ...]) -> None:
        """Replace the list."""
        since, before = self._context.n_checkpoints, self.items
        try:
            await asyncio.to_thread(self._log.record, items, since=since, previous=before)
        except OSError as error:
            raise SessionError(
                msg("Can't save the todo list: {reason}.", reason=error.strerror or error),
                hint="Free some disk space or make the data directory writable, then try again.",
            ) from error
        await self._session.update_state(todos=items)
        self._sender.send(TodoUpdate(items))

    async def at_checkpoint(self, checkpoint_id: int) -> tuple[TodoItem, ...]:
        """Return the items at a checkpoint, or the current items if the checkpoint's are unknown."""
        try:
            items = await asyncio.to_thread(self._log.items_at, checkpoint_id)
        except OSError:
            items = None
        return self.items if items is None else items

    async def restore(self, checkpoint_id: int) -> None:
        """Restore the items of a checkpoint."""
        if (items := await self.at_checkpoint(checkpoint_id)) != self.items:
            await self.set(items)
