"""Token usage as providers report it."""

from kimi_tui.base.frozen import frozen


@frozen
class TokenUsage:
    """Tokens of one model request. The four counts are disjoint."""

    input_other: int = 0
    output: int = 0
    input_cache_read: int = 0
    input_cache_creation: int = 0

    @property
    def input(self) -> int:
        """All tokens sent."""
        return self.input_other + self.input_cache_read + self.input_cache_creation

    @property
    def total(self) -> int:
        """All tokens sent and received: the minimum size of the next request."""
        return self.input + self.output

    def __add__(self, other: "TokenUsage") -> "TokenUsage":
        return TokenUsage(
            self.input_other + other.input_other,
            self.output + other.output,
            self.input_cache_read + other.input_cache_read,
            self.input_cache_creation + other.input_cache_creation,
        )
