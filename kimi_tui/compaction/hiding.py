"""ToolResultHidingCompaction: older tool results make way for a placeholder."""

from collections.abc import Sequence
from dataclasses import replace

from kimi_tui.base.content import system_note
from kimi_tui.base.message import Message
from kimi_tui.compaction.strategy import CompactionContext

PLACEHOLDER = system_note(
    "This older tool result was hidden to save room. Call the tool again to see it anew."
)
"""Always the same, so that the part of the conversation that a provider has cached stays as it is."""


class ToolResultHidingCompaction:
    """Hides the results of all groups but the newest.

    A group is an assistant message with calls, and their results; `kept_groups` is 1 or more.
    """

    def __init__(self, *, kept_groups: int = 5) -> None:
        self._kept_groups = kept_groups

    async def compact(self, context: CompactionContext, /) -> Sequence[Message] | None:
        """The history with placeholders; None when there was no result left to hide."""
        history = context.history
        groups = [at for at, said in enumerate(history) if said.role == "assistant" and said.tool_calls]
        kept_from = groups[-self._kept_groups] if len(groups) > self._kept_groups else 0
        hidden = [_hidden(message) if at < kept_from else message for at, message in enumerate(history)]
        return hidden if hidden != list(history) else None


def _hidden(message: Message) -> Message:
    return replace(message, content=(PLACEHOLDER,)) if message.role == "tool" else message
