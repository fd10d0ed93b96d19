"""SetTodoList: reads and replaces the session's todo list."""

from typing import Protocol

from pydantic import Field

from kimi_tui.base.terminal import plain_line
from kimi_tui.tools.tool import RunningCall, Tool, ToolParams, failed, ok
from kimi_tui.wire.display import TodoBlock, TodoItem, TodoStatus
from kimi_tui.wire.events import ToolReturn


class TodoStore(Protocol):
    """Where the list lives."""

    @property
    def items(self) -> tuple[TodoItem, ...]:
        """The list as it stands."""
        ...

    async def set(self, items: tuple[TodoItem, ...]) -> None:
        """Replace the list."""
        ...


class Todo(ToolParams):
    """One entry."""

    title: str = Field(description="What is to be done, on one line.")
    status: TodoStatus = Field(description="How far it is.")


class SetTodoListParams(ToolParams):
    """What SetTodoList takes."""

    todos: list[Todo] | None = Field(
        None, description="The whole new list. Leave it out to read the list; [] clears it."
    )


class SetTodoList(Tool[SetTodoListParams]):
    """Keeps the list of what is to be done."""

    name = "SetTodoList"
    Params = SetTodoListParams
    one_by_one = True

    def __init__(self, store: TodoStore) -> None:
        self._store = store

    async def run(self, params: SetTodoListParams, call: RunningCall) -> ToolReturn:
        """Replace the list, or read it when no todos are given."""
        if params.todos is None:
            return _shown(self._store.items, message="The list as it stands." if self._store.items else "")
        items = tuple(TodoItem(plain_line(todo.title), todo.status) for todo in params.todos)
        if not all(item.title for item in items):
            return failed("A todo has no title, so the list was left as it was. Give each todo a title.")
        await self._store.set(items)
        return _shown(items, message="The list was updated." if items else "The list was cleared.")


def _shown(items: tuple[TodoItem, ...], *, message: str) -> ToolReturn:
    lines = "\n".join(f"[{item.status}] {item.title}" for item in items)
    done = sum(item.status == "done" for item in items)
    return ok(
        lines,
        message=message or "The list is empty.",
        brief=f"{done} of {len(items)} done" if items else "no todos",
        display=(TodoBlock(items),),
    )
