"""Items of a plan that can't be executed without others."""

from collections.abc import Collection, Iterable

from kimi_tui.base.message_text import msg
from kimi_tui.history.snapshots.plan import Plan, PlanItem


def find_uncarried(
    items: Iterable[PlanItem], plan: Plan, already_rejected: Collection[str]
) -> dict[str, str]:
    """Return the paths of `items` that can't be executed without others, and why.

    Either the item's content belongs in a file that isn't reverted, or the item would write content that
    stays in such a file.
    """
    remaining = {item.path: item for item in items}
    sources = {item.carried_to: item.path for item in plan.items if item.carried_to}
    rejected: dict[str, str] = {}
    while True:
        for path, item in remaining.items():
            source = sources.get(path, "")
            is_kept = item.kept_at not in {*already_rejected, *rejected}
            if not is_kept or (item.carried_to and item.carried_to not in remaining):
                other = item.carried_to or item.kept_at
                rejected[path] = msg(
                    "its content belongs in {path}, and that file isn't reverted", path=other
                )
            elif source and source not in remaining:
                rejected[path] = msg(
                    "its content is now in {path}, and that file isn't reverted", path=source
                )
        if not rejected.keys() & remaining:
            return rejected
        for path in rejected:
            remaining.pop(path, None)
