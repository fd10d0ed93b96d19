"""Scale of the benchmarks: full, one or two minutes, or only a smoke test."""

from dataclasses import dataclass
from typing import Literal, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Scale:
    """Scale of a benchmark run."""

    size: Literal["whole", "short", "smoke"] = "whole"
    minutes: float = 60.0
    """Duration of a full soak."""

    def choose(self, whole: T, short: T, smoke: T) -> T:
        """Return the argument for this size."""
        return {"whole": whole, "short": short, "smoke": smoke}[self.size]
