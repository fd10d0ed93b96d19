"""Plan of an adoption: applies changes that were made elsewhere since an earlier state."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from kimi_tui.base.frozen import frozen
from kimi_tui.base.message_text import msg
from kimi_tui.history.snapshots.attribution import USER, ChangeAuthor
from kimi_tui.history.snapshots.blob_store import BlobMissing, BlobStore
from kimi_tui.history.snapshots.deadline import ScanDeadline
from kimi_tui.history.snapshots.entry import Changes, Entries, Entry
from kimi_tui.history.snapshots.manifest import Manifest
from kimi_tui.history.snapshots.merge3 import is_text, merge3
from kimi_tui.history.snapshots.plan import Plan, PlanItem
from kimi_tui.history.snapshots.planning.planner import Planner

_ADOPTED = "adopted"
_SINCE = "since"


@frozen(kw_only=True)
class AdoptedChanges:
    """Changes made elsewhere."""

    name: str
    """Name of their author, for notes."""
    changes: Changes
    """The new entries."""
    base: Changes
    """The earlier entries of the same paths; None for paths that didn't exist."""


@frozen(kw_only=True)
class CombinedChanges:
    """Changes by several authors, combined into one change per path."""

    changes: dict[str, Entry | None]
    base: dict[str, Entry | None]
    conflicts: Mapping[str, str]
    """Paths with changes that can't be combined, and why. `changes` has the result before the conflict."""
    others: Mapping[str, Sequence[Entry | None]]
    """For each path in `conflicts`, the other new entries."""


def combine_adopted(adopted: Sequence[AdoptedChanges], blobs: BlobStore) -> CombinedChanges:
    """Combine changes. Blocks.

    Changes of different lines are merged; changes of the same lines are a conflict.
    """
    changes: dict[str, Entry | None] = {}
    base: dict[str, Entry | None] = {}
    names: dict[str, list[str]] = {}
    conflicts: dict[str, str] = {}
    others: dict[str, list[Entry | None]] = {}
    for each in adopted:
        for path, entry in each.changes.items():
            before = each.base.get(path)
            if path not in changes:
                changes[path], base[path] = entry, before
            elif path in conflicts:
                others[path].append(entry)
            elif changes[path] != entry:
                merged = _merge(base[path], changes[path], entry, blobs) if base[path] == before else None
                if merged is None:
                    both = " and ".join([*names[path], each.name])
                    conflicts[path] = msg("{attempts} changed the same lines", attempts=both)
                    others[path] = [entry]
                else:
                    changes[path] = merged
            names.setdefault(path, []).append(each.name)
    return CombinedChanges(changes=changes, base=base, conflicts=conflicts, others=others)


def plan_adoption(
    combined: CombinedChanges,
    *,
    head: str,
    current_entries: Entries,
    blobs: BlobStore,
    session: str,
    holds_uncovered: Callable[[str], bool],
    deadline: ScanDeadline,
) -> Plan:
    """Return the plan that applies the changes to the state `head` with `current_entries`. Blocks.

    The adoption is planned like a revert to the adopted state. The planner sees a tool call that restored the
    earlier files from there, and all changes since as the user's. So files that only the tool changed are
    taken as they are, and other files are merged by lines.
    """
    paths = {path: _choose(path, combined, current_entries.get(path)) for path in combined.changes}
    target = {path: entry for path, entry in paths.items() if entry is not None}
    call = ChangeAuthor(who="call", session=session, call=_ADOPTED)
    since = {path: current_entries.get(path) for path in paths}
    records = [
        Manifest(_ADOPTED, None, call, 0.0, combined.base, None),
        Manifest(
            _SINCE,
            _ADOPTED,
            USER,
            0.0,
            {path: entry for path, entry in since.items() if entry != combined.base[path]},
            None,
        ),
    ]
    plan = Planner(blobs, sessions={session}).plan(
        _ADOPTED,
        head,
        records,
        current_entries,
        target,
        only={_ADOPTED},
        holds_uncovered=holds_uncovered,
        deadline=deadline,
    )
    return replace(plan, items=tuple(_describe(item, combined) for item in plan.items))


def _choose(path: str, combined: CombinedChanges, current: Entry | None) -> Entry | None:
    """Return the new entry; in a conflict, the first one unlike `current`, since plans omit equal files."""
    entries = (combined.changes[path], *combined.others.get(path, ()))
    return next((entry for entry in entries if entry != current), current)


def _describe(item: PlanItem, combined: CombinedChanges) -> PlanItem:
    if item.path in combined.conflicts:
        note = combined.conflicts[item.path]
        return replace(item, action="conflict", note=note, versions=(), by="")
    if item.action == "merge" and combined.changes.get(item.path) is None:
        return replace(
            item, action="conflict", note=msg("deleted by the attempt, but changed here since"), by=""
        )
    if item.action == "merge":
        return replace(item, note=msg("other lines changed since the checkpoint"), by="")
    if item.action == "conflict":
        return replace(item, note=msg("the same lines changed since the checkpoint"), by="")
    return replace(item, by="")


def _merge(base: Entry | None, first: Entry | None, second: Entry | None, blobs: BlobStore) -> Entry | None:
    """Return the merged file, or None if the changes can't be merged."""
    if first is None or second is None or {first.kind, second.kind} != {"file"}:
        return None
    if base is None or base.kind != "file" or first.mode != second.mode:
        return None
    try:
        texts = [blobs.read(entry.ref) for entry in (base, first, second)]
    except BlobMissing:
        return None
    if not all(map(is_text, texts)):
        return None
    merged = merge3(*texts)
    return None if merged is None else Entry("file", first.mode, len(merged), blobs.put(merged))
