"""Comparison of two states when one of them may not list all files yet."""

from kimi_tui.history.snapshots.entry import Changes, Entry
from kimi_tui.history.snapshots.manifest import ManifestLog, ManifestMissing


def comparable_states(
    manifests: ManifestLog, before: str, after: str
) -> tuple[dict[str, Entry], dict[str, Entry]]:
    """Return the entries of two states.

    If a state is incomplete, unchanged files that were found later are added to it. Raises ManifestMissing.
    """
    old, new = manifests.entries(before), manifests.entries(after)
    if not manifests.read(before).is_complete:
        add_found(old, _records_between(manifests, before, after))
    if not manifests.read(after).is_complete:
        add_found(new, _records_between(manifests, after, before))
    return old, new


def _records_between(manifests: ManifestLog, start: str, end: str) -> list[tuple[Changes, bool]]:
    """Return the records after `start` up to `end`; none if `end` doesn't follow `start`."""
    try:
        records = manifests.records_since(start, end)
    except ManifestMissing:
        return []
    return [(record.changes, record.author.who == "coverage") for record in records]


def add_found(entries: dict[str, Entry], records: list[tuple[Changes, bool]]) -> None:
    """Add unchanged files that later records found to the entries of an incomplete state.

    `records` are pairs, oldest first: the changes, and whether these are files that were only found.
    """
    changed: set[str] = set()
    for changes, is_coverage in records:
        for path, entry in changes.items():
            if not is_coverage:
                changed.add(path)
            elif entry is not None and path not in changed:
                entries.setdefault(path, entry)
