"""Trigger that decides when a compaction is due."""

from kimi_tui.base.frozen import frozen


@frozen(kw_only=True)
class CompactionTrigger:
    """How much of the context window may be used before a compaction."""

    reserved_context_size: int = 50_000
    ratio: float = 0.85

    def reserved_tokens(self, max_context_size: int) -> int:
        """Return the number of tokens to keep free, at most half of the context window."""
        return min(self.reserved_context_size, max_context_size // 2)

    def threshold(self, max_context_size: int) -> int:
        """Return the number of tokens at which a compaction is due."""
        by_ratio = -int(-max_context_size * self.ratio // 1)
        return max(1, min(by_ratio, max_context_size - self.reserved_tokens(max_context_size)))
