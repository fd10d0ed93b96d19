"""Plans and comparisons that front ends show, kept so that the diffs of single files can be read later."""

from collections.abc import Sequence

from kimi_tui.base.errors import KimiTuiError, UsageError
from kimi_tui.base.frozen import frozen
from kimi_tui.base.ids import new_uid
from kimi_tui.base.message_text import msg
from kimi_tui.engine.timeline.file_diff import MAX_DIFFS
from kimi_tui.engine.timeline.revert_messages import display_item_path
from kimi_tui.history.snapshots.plan import Plan, PlanItem

_MAX_PLANS = 6
"""Number of plans that are kept, enough for an open dialog and the review below it."""


@frozen(kw_only=True)
class ShownPlan:
    """A plan that a front end shows."""

    id: str
    plan: Plan
    before: int | None = None
    """For a review: the checkpoint from which changes are reviewed."""
    is_now: bool = True
    """Whether the plan begins with the current files, so that it can be executed."""

    @property
    def is_review(self) -> bool:
        """Whether the plan was shown as a review."""
        return self.before is not None

    def find(self, path: str) -> tuple[int, PlanItem]:
        """Return the number and the item of a file, by its path or number. Raises KimiTuiError."""
        for number, item in enumerate(self.plan.items, 1):
            if display_item_path(item).rstrip("/") == path.rstrip("/"):
                return number, item
        if path.isdecimal() and len(path) < 9 and 0 < int(path) <= len(self.plan.items):
            return int(path), self.plan.items[int(path) - 1]
        raise UsageError(
            msg("The list of files doesn't contain {path}.", path=path), hint="/review lists the files."
        )


class ShownPlans:
    """The plans and reviews that were shown last."""

    def __init__(self) -> None:
        self._plans: dict[str, ShownPlan] = {}

    def add(self, plan: Plan, *, before: int | None = None, is_now: bool = True) -> str:
        """Keep a plan, and return its id. `before` is the checkpoint of a review."""
        shown = ShownPlan(id=new_uid(), plan=plan, before=before, is_now=is_now)
        self._plans[shown.id] = shown
        for oldest in list(self._plans)[:-_MAX_PLANS]:
            del self._plans[oldest]
        return shown.id

    def add_if_long(self, differences: Plan) -> str:
        """Keep a comparison if some diffs are sent only on request. Return its ID, or an empty string."""
        return self.add(differences, is_now=False) if len(differences.items) > MAX_DIFFS else ""

    def find(self, plan_id: str) -> ShownPlan:
        """Return a plan; with an empty id, the latest review. Raises KimiTuiError."""
        if not plan_id:
            return self._latest_review()
        if (shown := self._plans.get(plan_id)) is None:
            raise KimiTuiError("This list of files is out of date.", hint="Open it again.")
        return shown

    def _latest_review(self) -> ShownPlan:
        reviews: Sequence[ShownPlan] = [it for it in self._plans.values() if it.is_review]
        if not reviews:
            raise UsageError("No review yet.", hint="Start one with /review.")
        return reviews[-1]
