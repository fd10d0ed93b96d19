"""A measured figure beside its baseline, and how they are shown."""

import json
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass


@dataclass(frozen=True, slots=True)
class Figure:
    """What was measured. With a baseline the ratio is what counts; without one the value itself."""

    workload: str
    what: str
    value: float
    unit: str
    baseline: float | None = None
    baseline_is: str = ""
    most: float | None = None
    """The target: at most this ratio, or this value where there is no baseline."""

    @property
    def ratio(self) -> float | None:
        """Value over baseline."""
        return self.value / self.baseline if self.baseline else None

    @property
    def judged(self) -> float:
        """What the target is held against."""
        return self.ratio if self.ratio is not None else self.value

    @property
    def is_met(self) -> bool | None:
        """Whether the target is met; None without one."""
        return None if self.most is None else self.judged <= self.most


def percentile(values: Sequence[float], share: float) -> float:
    """The value that `share` (0 to 1) of the values don't exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def median(values: Sequence[float]) -> float:
    """The one in the middle."""
    return statistics.median(values)


def table(figures: Iterable[Figure]) -> str:
    """A Markdown table."""
    rows = ["| workload | figure | value | baseline | ratio | target | |", "|---|---|---|---|---|---|---|"]
    for it in figures:
        baseline = f"{it.baseline:.3g} {it.unit} ({it.baseline_is})" if it.baseline is not None else ""
        ratio = f"{it.ratio:.2f} x" if it.ratio is not None else ""
        target = (
            "" if it.most is None else f"<= {it.most:g}" + (" x" if it.ratio is not None else f" {it.unit}")
        )
        met = {None: "", True: "met", False: "MISSED"}[it.is_met]
        cells = (it.workload, it.what, f"{it.value:.3g} {it.unit}", baseline, ratio, target, met)
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows)


def as_json(figures: Iterable[Figure]) -> str:
    """The same for programs."""
    return json.dumps(
        [{**asdict(it), "ratio": it.ratio, "is_met": it.is_met} for it in figures],
        indent=1,
        ensure_ascii=False,
    )
