"""When a compaction is due."""

from kimi_tui.base.value import value


@value(kw_only=True)
class Trigger:
    """How full a model's window may become."""

    reserved_context_size: int = 50_000
    ratio: float = 0.85

    def reserve(self, max_context_size: int) -> int:
        """How many tokens are kept free; at most half of the window, or small models had no room left."""
        return min(self.reserved_context_size, max_context_size // 2)

    def threshold(self, max_context_size: int) -> int:
        """From how many tokens on a compaction is due."""
        by_ratio = -int(-max_context_size * self.ratio // 1)
        return max(1, min(by_ratio, max_context_size - self.reserve(max_context_size)))
