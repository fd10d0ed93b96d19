"""How much is measured: all of it, a part in a minute or two, or just enough to see that it still runs."""

from dataclasses import dataclass
from typing import Literal, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Extent:
    """How much is measured."""

    size: Literal["whole", "short", "smoke"] = "whole"
    minutes: float = 60.0
    """How long a soak lasts, when it is a whole one."""

    def of(self, whole: T, short: T, smoke: T) -> T:
        """Which of three amounts it is."""
        return {"whole": whole, "short": short, "smoke": smoke}[self.size]
