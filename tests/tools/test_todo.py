"""The todo list: read, replaced, cleared, shown."""

import pytest
from pydantic import ValidationError

from kimi_tui.tools.todo import SetTodoList, SetTodoListParams
from kimi_tui.wire.display_blocks import TodoBlock, TodoItem
from kimi_tui.wire.events import ToolReturn
from tests.tools.call_context import build_context


class InMemoryTodoStore:
    def __init__(self, *items: TodoItem) -> None:
        self._items = items
        self.writes = 0

    @property
    def items(self) -> tuple[TodoItem, ...]:
        return self._items

    async def set(self, items: tuple[TodoItem, ...]) -> None:
        self._items = items
        self.writes += 1


async def call(store: InMemoryTodoStore, **arguments: object) -> ToolReturn:
    return await SetTodoList(store).run(SetTodoListParams.model_validate(arguments), build_context())


async def test_a_new_list_replaces_the_old_one_and_is_shown() -> None:
    store = InMemoryTodoStore(TodoItem("old"))
    result = await call(
        store, todos=[{"title": "reproduce", "status": "done"}, {"title": "fix", "status": "in_progress"}]
    )
    assert store.items == (TodoItem("reproduce", "done"), TodoItem("fix", "in_progress"))
    assert result.output == "[done] reproduce\n[in_progress] fix"
    assert TodoBlock(store.items) in result.display


@pytest.mark.parametrize("arguments", [{}, {"todos": None}])
async def test_without_todos_the_list_is_read_and_left_alone(arguments: dict[str, object]) -> None:
    store = InMemoryTodoStore(TodoItem("reproduce", "done"))
    result = await call(store, **arguments)
    assert result.output == "[done] reproduce"
    assert store.writes == 0


async def test_reading_an_empty_list_says_that_it_is_empty() -> None:
    result = await call(InMemoryTodoStore())
    assert (result.output, result.message) == ("", "The list is empty.")


async def test_an_empty_list_clears_it() -> None:
    store = InMemoryTodoStore(TodoItem("old"))
    result = await call(store, todos=[])
    assert store.items == ()
    assert "cleared" in result.message
    assert TodoBlock(()) in result.display


async def test_a_todo_without_a_title_leaves_the_list_unchanged() -> None:
    store = InMemoryTodoStore(TodoItem("old"))
    result = await call(store, todos=[{"title": " \n", "status": "pending"}])
    assert result.is_error
    assert store.items == (TodoItem("old"),)


async def test_titles_are_sanitized_to_one_line() -> None:
    store = InMemoryTodoStore()
    await call(store, todos=[{"title": "fix\n\x1b[31mit", "status": "pending"}])
    assert store.items == (TodoItem("fix it"),)


def test_an_unknown_status_is_refused() -> None:
    with pytest.raises(ValidationError):
        SetTodoListParams.model_validate({"todos": [{"title": "fix", "status": "blocked"}]})
