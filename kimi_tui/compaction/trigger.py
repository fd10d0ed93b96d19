"""Trigger that decides when a compaction is due."""

from kimi_tui.base.frozen import frozen
from kimi_tui.llm.provider import LLM

_MAX_DEFAULT_RESERVE = 0.15
"""Largest share of the context window that is reserved by default."""


@frozen(kw_only=True)
class CompactionTrigger:
    """Determines how much of the context window can be used before a compaction."""

    reserved_context_size: int | None = None
    """Tokens to keep free for the response. None: the model's output limit, at most 15 % of the window."""
    ratio: float = 0.85

    def reserved_tokens(self, llm: LLM) -> int:
        """Return the number of tokens to keep free, at most half of the context window."""
        window = llm.max_context_size
        if self.reserved_context_size is not None:
            return min(self.reserved_context_size, window // 2)
        default = int(window * _MAX_DEFAULT_RESERVE)
        return default if llm.max_output_tokens is None else min(llm.max_output_tokens, default)

    def threshold(self, llm: LLM) -> int:
        """Return the number of tokens at which a compaction is due."""
        by_ratio = -int(-llm.max_context_size * self.ratio // 1)
        return max(1, min(by_ratio, llm.max_context_size - self.reserved_tokens(llm)))
