"""HidingThenSummaryCompaction: hides tool results. If that isn't enough, summarizes."""

from collections.abc import Sequence

from kimi_tui.base.message import Message
from kimi_tui.compaction.hide_tool_results import ToolResultHidingCompaction
from kimi_tui.compaction.llm_summary import LLMSummaryCompaction
from kimi_tui.compaction.strategy import CompactionContext, CompactionStrategy
from kimi_tui.history.token_estimate import estimate_tokens

TARGET_RATIO = 0.9
"""Hiding is enough if the conversation is smaller than this share of the threshold. A larger conversation
would soon be compacted again.
"""


class HidingThenSummaryCompaction:
    """Hides tool results. If the conversation is still too long, summarizes it."""

    def __init__(
        self, *, hiding: CompactionStrategy | None = None, summary: CompactionStrategy | None = None
    ) -> None:
        self._hiding = hiding or ToolResultHidingCompaction()
        self._summary = summary or LLMSummaryCompaction()

    async def compact(self, context: CompactionContext, /) -> Sequence[Message] | None:
        """Return the history with placeholders or a summary; None if neither makes the conversation shorter.

        Raises: ChatProviderError.
        """
        hidden = await self._hiding.compact(context)
        if hidden is not None and _is_short_enough(hidden, context):
            return hidden
        return await self._summary.compact(context) or hidden


def _is_short_enough(hidden: Sequence[Message], context: CompactionContext) -> bool:
    saved = estimate_tokens(context.history) - estimate_tokens(hidden)
    return context.token_count - saved < context.threshold * TARGET_RATIO
