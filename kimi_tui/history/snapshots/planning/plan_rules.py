"""Plan rules for contents that have only one copy."""

from collections.abc import Mapping
from dataclasses import replace

from kimi_tui.base.message_text import msg
from kimi_tui.history.snapshots.entry import Entries, Entry
from kimi_tui.history.snapshots.plan import PlanItem
from kimi_tui.history.snapshots.planning.path_history import PathHistory, display_name


def find_moved_contents(
    items: Mapping[str, PlanItem], unresolved: Mapping[str, PathHistory], now: Entries
) -> dict[str, str]:
    """Return files that stay since they have the only copy of content that the agent moved, with a note.

    The agent moved the content from another path, one of the `unresolved` paths. The agent's changes of that
    path can't be undone, for example because the user has used its name since.
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
        return {}
    kept = {entry.ref for path, entry in now.items() if path not in items or not items[path].is_selected}
    kept |= {item.then.ref for item in items.values() if item.is_selected and item.then is not None}
    return {
        path: msg(
            "the agent moved {path} here, and that file isn't restored", path=display_name(origins[ref])
        )
        for path, ref in deleted.items()
        if ref not in kept
    }


def link_contents(items: dict[str, PlanItem], now: Entries) -> None:
    """Set `kept_at` of items that remove the only copy of a content that the plan writes at another path."""
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
    """Return the content digest of a file; an empty string for an empty file or anything else."""
    return entry.ref if entry is not None and entry.kind == "file" and entry.size else ""
