"""Planner of reverts: undoes the agent's changes since a state and keeps the user's own changes."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from io import BytesIO

from kimi_tui.base.line_matcher import LineMatcher
from kimi_tui.base.message_text import msg
from kimi_tui.history.snapshots.blob_store import BlobMissing, BlobStore
from kimi_tui.history.snapshots.deadline import ScanDeadline
from kimi_tui.history.snapshots.entry import Entries, Entry
from kimi_tui.history.snapshots.manifest import Manifest
from kimi_tui.history.snapshots.merge3 import MAX_BYTES, Overlap, is_text
from kimi_tui.history.snapshots.other_sessions import NO_OTHER_SESSION_CHANGES, OtherSessionChanges
from kimi_tui.history.snapshots.plan import Action, ItemVersion, Plan, PlanItem
from kimi_tui.history.snapshots.planning.change_undo import ChangeUndo, UndoConflict
from kimi_tui.history.snapshots.planning.others_lines import OthersLines
from kimi_tui.history.snapshots.planning.path_history import (
    PathHistory,
    build_path_histories,
    shorten_command,
)
from kimi_tui.history.snapshots.planning.plan_rules import find_moved_contents, link_contents
from kimi_tui.history.snapshots.planning.too_large import describe_not_storable, is_too_large
from kimi_tui.history.snapshots.planning.tree_undo import TreeUndo
from kimi_tui.wire.timeline import ConflictChoice

_OVERLAPS: dict[ConflictChoice, Overlap] = {"merge": "ours", "both": "both"}
"""For each choice that undoes the agent's changes, the handling of lines that both sides changed."""


class Planner:
    """Plans reverts for one project. Stores the results of merges in `blobs`."""

    def __init__(self, blobs: BlobStore, *, sessions: Collection[str]) -> None:
        self._blobs = blobs
        self._undo = ChangeUndo(blobs)
        self._sessions = sessions
        """The sessions whose tool calls and reverts may be undone."""

    def plan(
        self,
        target: str,
        head: str,
        records: Sequence[Manifest],
        current_entries: Entries,
        target_entries: Entries,
        *,
        only: Collection[str] | None = None,
        other_session_changes: OtherSessionChanges = NO_OTHER_SESSION_CHANGES,
        holds_uncovered: Callable[[str], bool] = lambda _: False,
        deadline: ScanDeadline,
    ) -> Plan:
        """Return the plan from state `head` with `current_entries` to state `target` with `target_entries`.

        `records` lead from `target` to `head`. With `only`, the plan undoes only the records with these ids;
        later changes stay. `other_session_changes` are the changes in `records` made by other sessions.
        `holds_uncovered` returns whether a directory contains files that aren't covered, so that it can't be
        removed. Raises ScanCanceled, OSError.
        """
        found = build_path_histories(
            records,
            target_entries,
            sessions=self._sessions,
            only=only,
            other_session_changes=other_session_changes,
        )
        histories, replaced = found.current, found.replaced
        if only is not None:
            histories = {path: history for path, history in histories.items() if any(history.is_agents)}
        items = {}
        for number, (path, history) in enumerate(histories.items()):
            deadline.check(number, 2 * len(histories))
            items[path] = replace(self._item(path, history), by=history.by)
        restored = [self._replaced_item(path, history) for path, history in replaced]
        undo = TreeUndo(items, histories, current_entries, restored)
        others_lines = OthersLines(found.changes_by_others, self._blobs)
        changed = {path for record in records for path in record.changes}
        while True:
            undo.keep_blocked(holds_uncovered)
            items = undo.items()
            unresolved = {
                path: histories[path]
                for path, item in items.items()
                if item.action in {"conflict", "not covered"} and path in histories
            }
            only_copies = {
                **find_moved_contents(items, unresolved, current_entries),
                **others_lines.find_only_copies(items, current_entries, changed),
            }
            if not only_copies:
                break
            undo.keep(only_copies)
        undo.join(items)
        link_contents(items, current_entries)
        for path, other in others_lines.find_destinations(items, current_entries, changed).items():
            if not (items[path].carried_to or items[path].kept_at):
                items[path] = replace(items[path], kept_at=other)
        ordered = []
        for number, path in enumerate(sorted(items)):
            deadline.check(len(items) + number, 2 * len(items))
            ordered.append(self._count_lines(items[path]))
        commands = {  # by call, since a call captured while it ran has several records
            record.author.call or record.id: record.author.command
            for record in records
            if record.author.who == "call"
            and record.author.command
            and record.author.session in self._sessions
            and (only is None or record.id in only)
        }
        incomplete = next(
            (it.author.command for it in records if it.author.who == "coverage" and it.author.command), ""
        )
        return Plan(target, head, tuple(ordered), tuple(commands.values()), incomplete)

    def _item(self, path: str, path_history: PathHistory) -> PlanItem:
        now, at_target = path_history.states[-1], path_history.states[0]
        for state in (at_target, now):
            if state is not None and state.kind == "omitted" and not is_too_large(state):
                return PlanItem(path=path, action="not covered", now=now, then=at_target, note=state.ref)
        if not any(path_history.is_agents):
            note: str = msg("changed only by {author}", author=path_history.other_author)
            if is_too_large(now):
                note = describe_not_storable(now)
            return PlanItem(path=path, action="keep", now=now, then=at_target, note=note)
        try:
            then = self._undo.undo_agent_changes(path_history)
        except UndoConflict as conflict:
            versions = self._versions(path_history)
            note = describe_not_storable(now) if is_too_large(now) else str(conflict)
            return PlanItem(
                path=path, action="conflict", now=now, then=at_target, note=note, versions=versions
            )
        except BlobMissing:
            note = "its content is no longer stored"
            return PlanItem(path=path, action="not covered", now=now, then=at_target, note=note)
        if is_too_large(then):
            return PlanItem(path=path, action="not covered", now=now, then=at_target, note=then.ref)
        if is_too_large(now) and then != now:
            note = describe_not_storable(now)
            return PlanItem(path=path, action="conflict", now=now, then=then, note=note)
        if not self._is_stored(then):
            note = "its content is no longer stored"
            return PlanItem(path=path, action="not covered", now=now, then=then, note=note)
        if then == now and now != at_target:
            return PlanItem(
                path=path,
                action="keep",
                now=now,
                then=at_target,
                note="the agent's changes are already undone",
            )
        if path_history.is_uncertain and then != now:
            note = msg("changed while this and another session ran commands")
            return PlanItem(path=path, action="conflict", now=now, then=then, note=note)
        action = _action(now, then, path_history.states)
        note = ""
        if path_history.command:
            note = msg("changed while `{command}` ran", command=shorten_command(path_history.command))
        if action != "merge":
            return PlanItem(path=path, action=action, now=now, then=then, note=note)
        if at_target is None:
            note = msg("created by the agent, edited by {author}", author=path_history.other_author)
        versions = self._versions(path_history)
        return PlanItem(path=path, action=action, now=now, then=then, note=note, versions=versions)

    def _replaced_item(self, path: str, path_history: PathHistory) -> PlanItem:
        """Return the item that restores the file that a rename replaced at `path`."""
        item = self._item(path_history.undo_agent_renames(path), path_history)
        if item.action == "conflict" and item.then is None:
            item = replace(item, then=path_history.states[-2])  # the lost content, if the user selects it
        return replace(item, by=path_history.by)

    def _versions(self, path_history: PathHistory) -> tuple[ItemVersion, ...]:
        """Return the choices for a file that both the agent and another author changed."""
        now, at_target = path_history.states[-1], path_history.states[0]
        versions: dict[ConflictChoice, Entry | None] = {"mine": now}
        for choice, overlap in _OVERLAPS.items():
            try:
                then = self._undo.undo_agent_changes(path_history, overlap)
            except (UndoConflict, BlobMissing):
                continue
            if then not in versions.values():
                versions[choice] = then
        if at_target not in versions.values():
            versions["checkpoint"] = at_target
        return tuple(ItemVersion(choice, then) for choice, then in versions.items())

    def _is_stored(self, entry: Entry | None) -> bool:
        return entry is None or entry.kind != "file" or self._blobs.has(entry.ref)

    def _count_lines(self, item: PlanItem) -> PlanItem:
        now, then = self._text(item.now), self._text(item.then)
        if now is None or then is None:
            return item
        added, removed = count_changed_lines(now, then)
        return replace(item, added=added, removed=removed)

    def _text(self, entry: Entry | None) -> bytes | None:
        """Return the text of a file, empty if it doesn't exist; None if its lines can't be counted."""
        return text_of(self._blobs, entry)


def count_changed_lines(old: bytes, new: bytes) -> tuple[int, int]:
    """Return the number of lines added in `new`, and the number of lines removed from `old`."""
    return LineMatcher(list(BytesIO(old)), list(BytesIO(new))).count_changes()


def text_of(blobs: BlobStore, entry: Entry | None) -> bytes | None:
    """Return the text of a file, empty if it doesn't exist; None if it isn't text or isn't stored."""
    if entry is None or entry.kind != "file":
        return b""
    if entry.size > MAX_BYTES:
        return None
    try:
        content = blobs.read(entry.ref)
    except BlobMissing:
        return None
    return content if is_text(content) else None


def _action(now: Entry | None, then: Entry | None, states: Sequence[Entry | None]) -> Action:
    if then is None:
        return "delete"
    if now is None:
        return "recreate"
    return "restore" if then in states else "merge"
