"""Rules of plans about directories, and about contents that only one planned file has."""

from collections.abc import Callable, Mapping
from dataclasses import replace

from kimi_tui.base.message_text import msg
from kimi_tui.history.snapshots.entry import Entries, Entry, parents_of
from kimi_tui.history.snapshots.plan import PlanItem
from kimi_tui.history.snapshots.planning.path_history import PathHistory, display_name

_BLOCKED_BY_USER_FILE = "blocked by something you created"
_HOLDS_UNCOVERED = "contains files that aren't covered"


def respect_folders(items: dict[str, PlanItem], now: Entries, holds_uncovered: Callable[[str], bool]) -> None:
    """Keep directories of files that stay, and mark conflicts between files and directories."""
    changed = True
    while changed:
        changed = False
        needed = _needed_folders(items, now, holds_uncovered)
        for path, item in list(items.items()):
            if not item.is_selected:
                continue
            if path in needed and item.then is None:
                del items[path]
            elif path in needed or (item.then is not None and not _has_room(path, items, now)):
                note = (
                    _HOLDS_UNCOVERED
                    if _is_folder(item.now) and holds_uncovered(path)
                    else _BLOCKED_BY_USER_FILE
                )
                items[path] = replace(item, action="conflict", note=note, versions=())
            else:
                continue
            changed = True


def _needed_folders(
    items: dict[str, PlanItem], now: Entries, holds_uncovered: Callable[[str], bool]
) -> set[str]:
    """Return directories that would be removed although something in them stays or is restored."""
    removed = {
        path
        for path, item in items.items()
        if item.is_selected and _is_folder(item.now) and not _is_folder(item.then)
    }
    if not removed:
        return set()
    staying = [path for path in now if path not in items or not items[path].is_selected]
    staying += [path for path, item in items.items() if item.is_selected and item.then is not None]
    not_empty = {folder for folder in removed if holds_uncovered(folder)}
    return not_empty | {
        folder for path in (*staying, *not_empty) for folder in parents_of(path) if folder in removed
    }


def _has_room(path: str, items: dict[str, PlanItem], now: Entries) -> bool:
    """Return whether all parents of `path` can be directories afterwards."""
    for folder in parents_of(path):
        item = items.get(folder)
        entry = item.then if item is not None and item.is_selected else now.get(folder)
        if entry is not None and not _is_folder(entry):
            return False
    return True


def keep_moved_contents(
    items: dict[str, PlanItem], unresolved: Mapping[str, PathHistory], now: Entries
) -> None:
    """Keep files that the agent created, if they have the only copy of what it moved away from another path.

    That is the case if the agent's changes of the other path, one of the `unresolved` ones, can't be undone,
    for example because the user has taken the old name since.
    """
    origins = {
        before.ref: path
        for path, history in unresolved.items()
        for before, after, is_agents in zip(
            history.states, history.states[1:], history.is_agents, strict=False
        )
        if is_agents and before is not None and before.kind == "file" and before.size and before != after
    }
    deleted = {
        path: item.now.ref
        for path, item in items.items()
        if item.action == "delete" and item.now is not None and item.now.ref in origins
    }
    if not deleted:
        return
    kept = {entry.ref for path, entry in now.items() if path not in items or not items[path].is_selected}
    kept |= {item.then.ref for item in items.values() if item.is_selected and item.then is not None}
    for path, ref in deleted.items():
        if ref not in kept:
            origin = display_name(origins[ref])
            note = msg("the agent moved {path} here, and that file isn't restored", path=origin)
            items[path] = replace(items[path], action="conflict", note=note)


def link_contents(items: dict[str, PlanItem], now: Entries) -> None:
    """Note where the plan writes contents again that it removes from the only paths which have them."""
    staying = {entry.ref for path, entry in now.items() if path not in items or not items[path].is_selected}
    written = {
        item.then.ref: item.renamed_to or path
        for path, item in items.items()
        if item.is_selected and item.then is not None and _content_of(item.now) != item.then.ref
    }
    for path, item in items.items():
        content = _content_of(item.now)
        is_removed = item.is_selected and not item.renamed_to and content != _content_of(item.then)
        if is_removed and content in written and content not in staying and not item.carried_to:
            items[path] = replace(item, kept_at=written[content])


def _content_of(entry: Entry | None) -> str:
    """Return the digest of a file that isn't empty."""
    return entry.ref if entry is not None and entry.kind == "file" and entry.size else ""


def _is_folder(entry: Entry | None) -> bool:
    return entry is not None and entry.kind == "folder"
