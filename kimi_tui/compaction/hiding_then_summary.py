"""HidingThenSummaryCompaction: placeholders as long as they help, then a summary."""

from collections.abc import Sequence

from kimi_tui.base.message import Message
from kimi_tui.compaction.hiding import ToolResultHidingCompaction
from kimi_tui.compaction.strategy import CompactionContext, CompactionStrategy
from kimi_tui.compaction.summary import LLMSummaryCompaction
from kimi_tui.history.estimate import estimated_tokens

ENOUGH = 0.9
"""Hiding is enough when it leaves a tenth of the threshold free; else the next step would compact again."""


class HidingThenSummaryCompaction:
    """Hides tool results; when there is nothing left to hide, or too little, summarises."""

    def __init__(
        self, *, hiding: CompactionStrategy | None = None, summary: CompactionStrategy | None = None
    ) -> None:
        self._hiding = hiding or ToolResultHidingCompaction()
        self._summary = summary or LLMSummaryCompaction()

    async def compact(self, context: CompactionContext, /) -> Sequence[Message] | None:
        """The history with placeholders, else a summary; None when neither makes it shorter.

        Raises ChatProviderError.
        """
        hidden = await self._hiding.compact(context)
        if hidden is not None and _is_enough(hidden, context):
            return hidden
        return await self._summary.compact(context) or hidden


def _is_enough(hidden: Sequence[Message], context: CompactionContext) -> bool:
    saved = estimated_tokens(context.history) - estimated_tokens(hidden)
    return context.token_count - saved < context.threshold * ENOUGH
