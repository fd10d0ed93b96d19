"""ToolResultHidingCompaction: replaces older tool results with a placeholder."""

from collections.abc import Sequence
from dataclasses import replace

from kimi_tui.base.content_parts import system_note
from kimi_tui.base.message import Message
from kimi_tui.compaction.strategy import CompactionContext

PLACEHOLDER = system_note("This older tool result was hidden to save space. Call the tool again to see it.")
"""A constant text, so that the provider's cache of the conversation stays valid."""


class ToolResultHidingCompaction:
    """Hides the tool results of all groups except the newest `kept_groups`, at least 1.

    A group is an assistant message with tool calls, together with the results of these calls.
    """

    def __init__(self, *, kept_groups: int = 5) -> None:
        self._kept_groups = kept_groups

    async def compact(self, context: CompactionContext, /) -> Sequence[Message] | None:
        """Return the history with placeholders; None if no results are left to hide."""
        history = context.history
        groups = [at for at, it in enumerate(history) if it.role == "assistant" and it.tool_calls]
        kept_from = groups[-self._kept_groups] if len(groups) > self._kept_groups else 0
        hidden = [_hide_result(message) if at < kept_from else message for at, message in enumerate(history)]
        return hidden if hidden != list(history) else None


def _hide_result(message: Message) -> Message:
    return replace(message, content=(PLACEHOLDER,)) if message.role == "tool" else message
