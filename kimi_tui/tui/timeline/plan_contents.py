"""Requests for missing hunks of a plan's files, and decisions that need these hunks."""

from kimi_tui.tui.timeline.plan_selection import PlanSelection
from kimi_tui.tui.timeline.query_dialog import TimelineQueries
from kimi_tui.wire.review import ReadPlannedFile
from kimi_tui.wire.timeline import FileChoice, PlannedFile, RevertPlan


class PlanContents:
    """Requests the hunks of a plan's files, and applies decisions as soon as the hunks arrive."""

    def __init__(
        self,
        plan: RevertPlan,
        selection: PlanSelection,
        *,
        decisions: tuple[FileChoice, ...],
        queries: TimelineQueries,
    ) -> None:
        self._plan_id = plan.id
        self._selection = selection
        self._queries = queries
        self._requested: set[str] = set()
        paths = {file.path for file in plan.files}
        self._undecided = {it.path: it for it in decisions if it.path in paths}
        for file in plan.files:
            self.apply_decision(file)

    @property
    def is_complete(self) -> bool:
        """Whether all decisions have been applied."""
        return not self._undecided

    def request(self, file: PlannedFile) -> None:
        """Request the hunks of a file if the hunks are missing."""
        if file.is_on_request and self._plan_id and file.path not in self._requested:
            self._requested.add(file.path)
            self._queries.ask(ReadPlannedFile(self._plan_id, file.path))

    def apply_decision(self, file: PlannedFile) -> None:
        """Apply the decision about a file. If the decision needs missing hunks, request them first."""
        decision = self._undecided.get(file.path)
        if decision is None:
            return
        if file.is_on_request and decision.hunks is not None:
            self.request(file)
        else:
            self._selection.decide(self._undecided.pop(file.path))
