"""Planner of reverts: undoes the agent's changes since a state and keeps the user's own changes."""

import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from io import BytesIO
from typing import TypeGuard

from kimi_tui.base.line_matcher import LineMatcher
from kimi_tui.base.message_text import as_message, msg
from kimi_tui.base.terminal_text import sanitize_line
from kimi_tui.history.snapshots.blob_store import BlobMissing, BlobStore
from kimi_tui.history.snapshots.deadline import ScanDeadline
from kimi_tui.history.snapshots.entry import Entries, Entry, parents_of
from kimi_tui.history.snapshots.manifest import Manifest
from kimi_tui.history.snapshots.merge3 import MAX_BYTES, Overlap, is_text, merge3
from kimi_tui.history.snapshots.other_sessions import NO_OTHER_SESSION_CHANGES, OtherSessionChanges
from kimi_tui.history.snapshots.plan import Action, ItemVersion, Plan, PlanItem
from kimi_tui.wire.timeline import ConflictChoice, WhoChanged

_BLOCKED_BY_USER_FILE = "blocked by something you created"
_HOLDS_UNCOVERED = "contains files that aren't covered"
_MAX_TASK_CHARS = 40
"""Maximum length of a command in a note."""

_OVERLAPS: dict[ConflictChoice, Overlap] = {"merge": "ours", "both": "both"}
"""How the choices that undo the agent's changes treat lines that both changed."""
_NOW_IGNORED = Entry("omitted", 0, 0, "ignored now")


class _Conflict(Exception):
    """Two changes that can't be combined; the message says why."""


@dataclass(slots=True)
class _PathHistory:
    """The changes of one path since the target state, oldest first."""

    states: list[Entry | None]
    is_agents: list[bool] = field(default_factory=list)
    """For each change from one state to the next, whether the agent made it, so that the plan undoes it."""
    task: str = ""
    """The background task that may have made a change."""
    is_yours: bool = False
    """Whether a change may be the user's: neither the agent's nor known to be another session's."""
    is_uncertain: bool = False
    """Whether a change that counts as the agent's may be another session's."""
    command: str = ""
    """The last command or tool of the agent that ran while the path changed, so that anyone may have changed
    it; empty if the agent's changes are known exactly.
    """

    @property
    def by(self) -> WhoChanged:
        """Who made the changes."""
        if self.is_uncertain:
            return "agent or another session"
        if all(self.is_agents):
            return "agent"
        if any(self.is_agents):
            return "both" if self.is_yours else "agent and another session"
        return "you" if self.is_yours else "another session"

    @property
    def other_author(self) -> str:
        """Who made changes besides the agent."""
        if self.task:
            return msg("you or `{task}`", task=_shorten_command(self.task))
        return msg("you") if self.is_yours else msg("another session")


class Planner:
    """Plans reverts for one project. The results of merges are stored among its blobs."""

    def __init__(self, blobs: BlobStore, *, sessions: Collection[str]) -> None:
        self._blobs = blobs
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
        histories = self._path_histories(records, target_entries, only, other_session_changes)
        if only is not None:
            histories = {path: history for path, history in histories.items() if any(history.is_agents)}
        items = {}
        for number, (path, history) in enumerate(histories.items()):
            deadline.check(number, 2 * len(histories))
            items[path] = replace(self._item(path, history), by=history.by)
        unresolved = {path for path, item in items.items() if item.action in {"conflict", "not covered"}}
        items = {path: item for path, item in items.items() if item.now != item.then}
        self._respect_folders(items, current_entries, holds_uncovered)
        unresolved |= {path for path, item in items.items() if item.action == "conflict"}
        _keep_moved_contents(items, {path: histories[path] for path in unresolved}, current_entries)
        self._respect_folders(items, current_entries, holds_uncovered)
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

    def _path_histories(
        self,
        records: Iterable[Manifest],
        target_entries: Entries,
        only: Collection[str] | None,
        other_session_changes: OtherSessionChanges,
    ) -> dict[str, _PathHistory]:
        histories: dict[str, _PathHistory] = {}
        found: dict[str, Entry | None] = {}
        """Files that became covered, without a change."""
        for record in records:
            is_agents = record.author.who in {"call", "revert"} and record.author.session in self._sessions
            is_agents = is_agents and (only is None or record.id in only)
            is_others = record.author.is_tool_of_other_session(self._sessions)
            for path, entry in record.changes.items():
                if record.author.who == "coverage":
                    entry = _NOW_IGNORED if entry is None else entry
                    if path not in histories:
                        found[path] = entry
                        continue
                if (history := histories.get(path)) is None:
                    base = found[path] if path in found else target_entries.get(path)
                    history = histories[path] = _PathHistory([base])
                history.states.append(entry)
                is_others_change = is_others or (record.id, path) in other_session_changes.known
                history.is_agents.append(is_agents and not is_others_change)
                history.is_uncertain |= is_agents and (record.id, path) in other_session_changes.possible
                history.is_yours |= not is_agents and not is_others_change
                if is_agents and record.author.began:
                    history.command = record.author.command or record.author.tool
                if record.author.who == "background":
                    history.task = record.author.command or record.author.call
        return histories

    def _item(self, path: str, path_history: _PathHistory) -> PlanItem:
        now, at_target = path_history.states[-1], path_history.states[0]
        for state in (at_target, now):
            if state is not None and state.kind == "omitted" and not _is_too_large(state):
                return PlanItem(path=path, action="not covered", now=now, then=at_target, note=state.ref)
        if not any(path_history.is_agents):
            note: str = msg("changed only by {author}", author=path_history.other_author)
            if _is_too_large(now):
                note = _not_storable_note(now)
            return PlanItem(path=path, action="keep", now=now, then=at_target, note=note)
        try:
            then = self._undo_agent_changes(path_history)
        except _Conflict as conflict:
            versions = self._versions(path_history)
            return PlanItem(
                path=path, action="conflict", now=now, then=at_target, note=str(conflict), versions=versions
            )
        except BlobMissing:
            note = "its content is no longer stored"
            return PlanItem(path=path, action="not covered", now=now, then=at_target, note=note)
        if _is_too_large(then):
            return PlanItem(path=path, action="not covered", now=now, then=at_target, note=then.ref)
        if _is_too_large(now) and then != now:
            note = _not_storable_note(now)
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
            note = msg("changed while `{command}` ran", command=_shorten_command(path_history.command))
        if action != "merge":
            return PlanItem(path=path, action=action, now=now, then=then, note=note)
        if at_target is None:
            note = msg("created by the agent, edited by {author}", author=path_history.other_author)
        versions = self._versions(path_history)
        return PlanItem(path=path, action=action, now=now, then=then, note=note, versions=versions)

    def _versions(self, path_history: _PathHistory) -> tuple[ItemVersion, ...]:
        """Return the choices for a file that both the agent and another author changed."""
        now, at_target = path_history.states[-1], path_history.states[0]
        versions: dict[ConflictChoice, Entry | None] = {"mine": now}
        for choice, overlap in _OVERLAPS.items():
            try:
                then = self._undo_agent_changes(path_history, overlap)
            except (_Conflict, BlobMissing):
                continue
            if then not in versions.values():
                versions[choice] = then
        if at_target not in versions.values():
            versions["checkpoint"] = at_target
        return tuple(ItemVersion(choice, then) for choice, then in versions.items())

    def _undo_agent_changes(self, path_history: _PathHistory, overlap: Overlap = "fail") -> Entry | None:
        """Return the newest state without the agent's changes. Raises _Conflict, BlobMissing, OSError."""
        current = path_history.states[-1]
        for index in range(len(path_history.is_agents) - 1, -1, -1):
            if path_history.is_agents[index]:
                before, after = path_history.states[index], path_history.states[index + 1]
                current = self._undo_change(before, after, current, path_history.other_author, overlap)
        return current

    def _undo_change(
        self,
        before: Entry | None,
        after: Entry | None,
        current: Entry | None,
        other_author: str,
        overlap: Overlap,
    ) -> Entry | None:
        """Return `current`, which `other_author` changed, without the change from `before` to `after`."""
        if current == after:
            return before
        if current == before or before == after:
            return current
        if current is None:
            raise _Conflict(_describe_conflict(before, after, other_author))
        versions = (after, current, before)
        if any(entry is not None and entry.kind != "file" for entry in versions):
            if before is None or after is None:
                raise _Conflict(_describe_conflict(before, after, other_author))
            raise _Conflict(msg("changed by both {author} and the agent", author=other_author))
        if any(entry is not None and entry.size > MAX_BYTES for entry in versions):
            raise _Conflict(_describe_conflict(before, after, other_author, msg("file")))
        contents = [self._blobs.read(entry.ref) if entry is not None else b"" for entry in versions]
        content = merge3(*contents, overlap=overlap)
        is_created = before is None and not content  # without the agent's lines, nothing would be left
        if content is None or (is_created and overlap == "fail"):
            unit = msg("lines") if all(map(is_text, contents)) else msg("file")
            raise _Conflict(_describe_conflict(before, after, other_author, unit))
        if is_created:
            return None
        has_agents_mode = before is not None and after is not None and current.mode == after.mode
        mode = before.mode if before is not None and has_agents_mode else current.mode
        return Entry("file", mode, len(content), self._blobs.put(content))

    def _is_stored(self, entry: Entry | None) -> bool:
        return entry is None or entry.kind != "file" or self._blobs.has(entry.ref)

    def _respect_folders(
        self, items: dict[str, PlanItem], now: Entries, holds_uncovered: Callable[[str], bool]
    ) -> None:
        """Keep directories of files that stay, and mark conflicts between files and directories."""
        changed = True
        while changed:
            changed = False
            needed = self._needed_folders(items, now, holds_uncovered)
            for path, item in list(items.items()):
                if not item.is_selected:
                    continue
                if path in needed and item.then is None:
                    del items[path]
                elif path in needed or (item.then is not None and not self._has_room(path, items, now)):
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
        self, items: dict[str, PlanItem], now: Entries, holds_uncovered: Callable[[str], bool]
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

    def _has_room(self, path: str, items: dict[str, PlanItem], now: Entries) -> bool:
        """Return whether all parents of `path` can be directories afterwards."""
        for folder in parents_of(path):
            item = items.get(folder)
            entry = item.then if item is not None and item.is_selected else now.get(folder)
            if entry is not None and not _is_folder(entry):
                return False
        return True

    def _count_lines(self, item: PlanItem) -> PlanItem:
        now, then = self._text(item.now), self._text(item.then)
        if now is None or then is None:
            return item
        added, removed = count_changed_lines(now, then)
        return replace(item, added=added, removed=removed)

    def _text(self, entry: Entry | None) -> bytes | None:
        """Return the text of a file, empty if it doesn't exist; None if its lines can't be counted."""
        return text_of(self._blobs, entry)


def _keep_moved_contents(
    items: dict[str, PlanItem], unresolved: Mapping[str, _PathHistory], now: Entries
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
            origin = sanitize_line(os.fsencode(origins[ref]).decode("utf-8", "replace"))
            note = msg("the agent moved {path} here, and that file isn't restored", path=origin)
            items[path] = replace(items[path], action="conflict", note=note)


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


def _is_too_large(entry: Entry | None) -> TypeGuard[Entry]:
    """Return whether an entry is a regular file whose content isn't stored because of a limit."""
    return entry is not None and entry.kind == "omitted" and entry.version != 0


def _not_storable_note(now: Entry) -> str:
    """Return the warning about a file whose current content isn't stored because of a limit."""
    return msg(
        "its current content can't be stored ({reason}), so an undo can't restore it",
        reason=as_message(now.ref),
    )


def _is_folder(entry: Entry | None) -> bool:
    return entry is not None and entry.kind == "folder"


def _shorten_command(command: str) -> str:
    """Return a command as it appears in a note."""
    line = sanitize_line(command)
    return line if len(line) <= _MAX_TASK_CHARS else f"{line[: _MAX_TASK_CHARS - 1]}…"


def _action(now: Entry | None, then: Entry | None, states: Sequence[Entry | None]) -> Action:
    if then is None:
        return "delete"
    if now is None:
        return "recreate"
    return "restore" if then in states else "merge"


def _describe_conflict(
    before: Entry | None, after: Entry | None, other_author: str, unit: str | None = None
) -> str:
    """Return how a change of a file by the agent conflicts with one by `other_author`.

    `unit` is what both changed; None if `other_author` deleted the file.
    """
    if before is None:
        return msg("created by the agent, edited by {author}", author=other_author)
    if after is None:
        return msg("deleted by the agent, created again by {author}", author=other_author)
    if unit is None:
        return msg("deleted by {author}", author=other_author)
    return msg("{author} and the agent changed the same {unit}", author=other_author, unit=unit)
