"""Figures of a run, for reports."""

from collections import Counter
from collections.abc import Sequence
from statistics import median

from kimi_tui.base.frozen import frozen
from kimi_tui.fleet.fleet_database import FleetDatabase, TaskRow
from kimi_tui.frontend.fleet.progress import SUFFIX


@frozen(kw_only=True)
class RunSummary:
    """A run: its tasks and their totals."""

    name: str
    rows: Sequence[TaskRow]
    """Tasks with a result, in the order of their file."""
    unfinished: int
    spent_usd: float
    retried: int

    @property
    def passed(self) -> int:
        """Number of tasks that passed."""
        return sum(not row.failure for row in self.rows)

    @property
    def pass_rate(self) -> float:
        """Share of the results that passed; 0 without results."""
        return self.passed / len(self.rows) if self.rows else 0.0

    @property
    def failures(self) -> Sequence[tuple[str, int]]:
        """Failure classes with their counts, most frequent first."""
        return Counter(row.failure for row in self.rows if row.failure).most_common()

    @property
    def tokens(self) -> int:
        """Tokens of all results."""
        return sum(row.tokens for row in self.rows)

    @property
    def agent_s(self) -> float:
        """Duration of all results together."""
        return sum(row.duration_s for row in self.rows)

    @property
    def median_s(self) -> float:
        """Median duration of a result."""
        return median(row.duration_s for row in self.rows) if self.rows else 0.0


@frozen(kw_only=True)
class RunComparison:
    """Tasks whose verdict differs between two runs."""

    before: RunSummary
    after: RunSummary
    fixed: tuple[str, ...]
    broken: tuple[str, ...]
    common: int
    """Tasks that have a result in both."""


def summarize_run(database: FleetDatabase) -> RunSummary:
    """Read the figures of a run. Raises KimiTuiError."""
    rows = database.rows()
    return RunSummary(
        name=database.path.name.removesuffix(SUFFIX),
        rows=[row for row in rows if row.state == "done"],
        unfinished=sum(row.state != "done" for row in rows),
        spent_usd=database.spent_usd(),
        retried=database.retried_attempts(),
    )


def compare_runs(before: RunSummary, after: RunSummary) -> RunComparison:
    """Return the tasks whose verdict changed from `before` to `after`."""
    earlier = {row.id: row.failure for row in before.rows}
    later = {row.id: row.failure for row in after.rows}
    common = [task for task in later if task in earlier]
    return RunComparison(
        before=before,
        after=after,
        fixed=tuple(task for task in common if earlier[task] and not later[task]),
        broken=tuple(task for task in common if not earlier[task] and later[task]),
        common=len(common),
    )
