"""Display blocks: how a front end shows a tool call without knowing the tool."""

from typing import Annotated, Any, Literal

from kimi_tui.base.frozen import frozen
from kimi_tui.base.pydantic_markers import TaggedUnion

TodoStatus = Literal["pending", "in_progress", "done"]


@frozen
class BriefBlock:
    """One-line summary of a result."""

    text: str
    type: Literal["brief"] = "brief"


@frozen
class DiffBlock:
    """A change of a file. The texts are hunks or whole files. Line numbers start at 1."""

    path: str
    old_text: str
    new_text: str
    old_start: int = 1
    new_start: int = 1
    is_summary: bool = False
    """Whether `new_text` is a description, because the change is too large to show."""
    type: Literal["diff"] = "diff"


@frozen
class TodoItem:
    """One entry of the todo list."""

    title: str
    status: TodoStatus = "pending"


@frozen
class TodoBlock:
    """The whole todo list."""

    items: tuple[TodoItem, ...]
    type: Literal["todo"] = "todo"


@frozen
class ShellBlock:
    """A command line. `danger` says why the command is dangerous; empty for a harmless command."""

    command: str
    language: str = "bash"
    danger: str = ""
    type: Literal["shell"] = "shell"


@frozen
class BackgroundTaskBlock:
    """A background task."""

    task_id: str
    kind: str
    status: str
    description: str
    type: Literal["background_task"] = "background_task"


@frozen
class UnknownBlock:
    """A block of an unknown type from a newer version, shown as text."""

    data: dict[str, Any]
    type: str = "unknown"


DisplayBlock = Annotated[
    BriefBlock | DiffBlock | TodoBlock | ShellBlock | BackgroundTaskBlock | UnknownBlock,
    TaggedUnion(fallback=UnknownBlock),
]
