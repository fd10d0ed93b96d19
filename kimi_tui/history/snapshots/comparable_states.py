"""Comparison of states of which one may not list all files yet."""

from kimi_tui.history.snapshots.entry import Entry
from kimi_tui.history.snapshots.manifest import Manifest, ManifestLog, ManifestMissing


def comparable_states(
    manifests: ManifestLog, before: str, after: str
) -> tuple[dict[str, Entry], dict[str, Entry]]:
    """Return the entries of two states.

    If the earlier state is incomplete, then unchanged files that were found later are added to it.
    Raises ManifestMissing.
    """
    old, new = manifests.entries(before), manifests.entries(after)
    if not manifests.read(before).is_complete:
        _add_found(old, _records_between(manifests, before, after))
    if not manifests.read(after).is_complete:
        _add_found(new, _records_between(manifests, after, before))
    return old, new


def _records_between(manifests: ManifestLog, start: str, end: str) -> list[Manifest]:
    """Return the records after `start` up to `end`; none if `end` doesn't follow `start`."""
    try:
        return manifests.records_since(start, end)
    except ManifestMissing:
        return []


def _add_found(entries: dict[str, Entry], records: list[Manifest]) -> None:
    changed: set[str] = set()
    for record in records:
        for path, entry in record.changes.items():
            if record.author.who != "coverage":
                changed.add(path)
            elif entry is not None and path not in changed:
                entries.setdefault(path, entry)
