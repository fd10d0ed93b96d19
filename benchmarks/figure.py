"""Measured figures with their baselines, and their output formats."""

import json
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass


@dataclass(frozen=True, slots=True)
class Figure:
    """A measured value. With a baseline its ratio counts, otherwise the value itself."""

    workload: str
    name: str
    value: float
    unit: str
    baseline: float | None = None
    baseline_name: str = ""
    target: float | None = None
    """Maximum ratio, or maximum value if there is no baseline."""

    @property
    def ratio(self) -> float | None:
        """Value divided by the baseline."""
        return self.value / self.baseline if self.baseline else None

    @property
    def measured_value(self) -> float:
        """The number that is compared with the target."""
        return self.ratio if self.ratio is not None else self.value

    @property
    def is_met(self) -> bool | None:
        """Whether the target is met; None without a target."""
        return None if self.target is None else self.measured_value <= self.target


def percentile(values: Sequence[float], share: float) -> float:
    """Return the smallest value that at least `share` (0 to 1) of the values don't exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def median(values: Sequence[float]) -> float:
    """Return the median."""
    return statistics.median(values)


def format_table(figures: Iterable[Figure]) -> str:
    """Format the figures as a Markdown table."""
    rows = ["| workload | figure | value | baseline | ratio | target | |", "|---|---|---|---|---|---|---|"]
    for it in figures:
        baseline = f"{it.baseline:.3g} {it.unit} ({it.baseline_name})" if it.baseline is not None else ""
        ratio = f"{it.ratio:.2f} x" if it.ratio is not None else ""
        target = (
            ""
            if it.target is None
            else f"<= {it.target:g}" + (" x" if it.ratio is not None else f" {it.unit}")
        )
        met = {None: "", True: "met", False: "MISSED"}[it.is_met]
        cells = (it.workload, it.name, f"{it.value:.3g} {it.unit}", baseline, ratio, target, met)
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows)


def as_json(figures: Iterable[Figure]) -> str:
    """Format the figures as JSON."""
    return json.dumps(
        [{**asdict(it), "ratio": it.ratio, "is_met": it.is_met} for it in figures],
        indent=1,
        ensure_ascii=False,
    )
