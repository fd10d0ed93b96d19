"""SetTodoList: reads and replaces the session's todo list."""

from typing import Protocol

from pydantic import Field

from kimi_tui.base.message_text import msg
from kimi_tui.base.terminal_text import sanitize_line
from kimi_tui.tools.tool import CallContext, Tool, ToolParams, failure, success
from kimi_tui.wire.display_blocks import TodoBlock, TodoItem, TodoStatus
from kimi_tui.wire.events import ToolReturn


class TodoStore(Protocol):
    """Storage of the session's todo list."""

    @property
    def items(self) -> tuple[TodoItem, ...]:
        """The current items."""
        ...

    async def set(self, items: tuple[TodoItem, ...]) -> None:
        """Replace the list."""
        ...


class TodoEntry(ToolParams):
    """One item of the list."""

    title: str = Field(description="What to do, on one line.")
    status: TodoStatus = Field(description="Progress of the item.")


class SetTodoListParams(ToolParams):
    """Parameters of SetTodoList."""

    todos: list[TodoEntry] | None = Field(
        None, description="The full new list. Omit it to read the list; [] clears it."
    )


class SetTodoList(Tool[SetTodoListParams]):
    """Reads or replaces the todo list."""

    name = "SetTodoList"
    Params = SetTodoListParams
    runs_sequentially = True

    def __init__(self, store: TodoStore) -> None:
        self._store = store

    async def run(self, params: SetTodoListParams, call: CallContext) -> ToolReturn:
        """Replace the list, or return it if `todos` is omitted."""
        if params.todos is None:
            return _list_result(self._store.items, message="The current list." if self._store.items else "")
        items = tuple(TodoItem(sanitize_line(todo.title), todo.status) for todo in params.todos)
        if not all(item.title for item in items):
            return failure("A todo has no title, so the list is unchanged. Give each todo a title.")
        await self._store.set(items)
        return _list_result(items, message="The list was updated." if items else "The list was cleared.")


def _list_result(items: tuple[TodoItem, ...], *, message: str) -> ToolReturn:
    lines = "\n".join(f"[{item.status}] {item.title}" for item in items)
    done = sum(item.status == "done" for item in items)
    return success(
        lines,
        message=message or "The list is empty.",
        brief=msg("{done} of {count} done", done=done, count=len(items)) if items else "no todos",
        display=(TodoBlock(items),),
    )
