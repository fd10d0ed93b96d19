"""Display blocks: what a front end draws for a tool call without knowing the tool."""

from typing import Annotated, Any, Literal

from kimi_tui.base.tagged import ByType
from kimi_tui.base.value import value

TodoStatus = Literal["pending", "in_progress", "done"]


@value
class BriefBlock:
    """One line that sums the result up."""

    text: str
    type: Literal["brief"] = "brief"


@value
class DiffBlock:
    """A change of one file. Texts are hunks or whole files; starts are 1-based line numbers."""

    path: str
    old_text: str
    new_text: str
    old_start: int = 1
    new_start: int = 1
    is_summary: bool = False
    """Whether the texts are a description, since the change is too large to show: the new one has it all."""
    type: Literal["diff"] = "diff"


@value
class TodoItem:
    """One entry of the todo list."""

    title: str
    status: TodoStatus = "pending"


@value
class TodoBlock:
    """The todo list, whole."""

    items: tuple[TodoItem, ...]
    type: Literal["todo"] = "todo"


@value
class ShellBlock:
    """A command line; `danger` says why it is dangerous, empty when it is not."""

    command: str
    language: str = "bash"
    danger: str = ""
    type: Literal["shell"] = "shell"


@value
class BackgroundTaskBlock:
    """A task that runs behind the conversation."""

    task_id: str
    kind: str
    status: str
    description: str
    type: Literal["background_task"] = "background_task"


@value
class UnknownBlock:
    """A block of a newer version; drawn as text."""

    data: dict[str, Any]
    type: str = "unknown"


DisplayBlock = Annotated[
    BriefBlock | DiffBlock | TodoBlock | ShellBlock | BackgroundTaskBlock | UnknownBlock,
    ByType(fallback=UnknownBlock),
]
