"""Compaction strategies of a user's own, right and wrong, for configs to name."""

from collections.abc import Sequence

from kimi_tui.base.message import Message, user_message
from kimi_tui.compaction.strategy import CompactionContext
from kimi_tui.tools.path_scope import PathScope


class InWorkspace:
    """Asks for a collaborator."""

    def __init__(self, workspace: PathScope, *, words: str = "we were in") -> None:
        self._where = f"{words} {workspace.work_dir.name}"

    async def compact(self, context: CompactionContext, /) -> Sequence[Message] | None:
        return [user_message(self._where), *context.history[-1:]]


class Demanding:
    """Asks for what there is not."""

    def __init__(self, size: int) -> None:
        self._size = size

    async def compact(self, context: CompactionContext, /) -> Sequence[Message] | None:
        return None


class NoStrategy:
    """Lacks the method."""


def compact() -> None:
    """No class."""
