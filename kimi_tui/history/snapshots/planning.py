"""Planning: the agent's changes since a state, walked backwards; the user's own are left standing."""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace

from kimi_tui.base.terminal import plain_line
from kimi_tui.history.snapshots.blobs import BlobMissing, BlobStore
from kimi_tui.history.snapshots.entry import Entries, Entry, parents_of
from kimi_tui.history.snapshots.manifest import Manifest
from kimi_tui.history.snapshots.matching import changed_lines, lines_of
from kimi_tui.history.snapshots.merge import MAX_BYTES, is_text, merged
from kimi_tui.history.snapshots.others import ChangesOfOthers
from kimi_tui.history.snapshots.patience import Patience
from kimi_tui.history.snapshots.plan import Action, Plan, PlanItem
from kimi_tui.wire.timeline import WhoChanged

_YOURS = "it stands in the way of what you made"
_UNCOVERED = "files that are not covered are in it"
_OF_TASK = 40
"""So much of a background task's command is shown."""

_IGNORED = Entry("omitted", 0, 0, "ignore rules came to apply to it")


class _Conflict(Exception):
    """Two changes don't fit together; the text says why."""


@dataclass(slots=True)
class _Past:
    """A path's changes since the target, oldest first."""

    states: list[Entry | None]
    is_agents: list[bool] = field(default_factory=list)
    """Of each change, which leads from one state to the next: whether it is to be taken back."""
    task: str = ""
    """The background task that may have made a change."""
    is_yours: bool = False
    """Whether a change is neither the agent's nor known to be another session's."""

    @property
    def by(self) -> WhoChanged:
        """Who made the changes."""
        if all(self.is_agents):
            return "agent"
        if any(self.is_agents):
            return "both" if self.is_yours else "agent and another session"
        return "you" if self.is_yours else "another session"

    @property
    def somebody(self) -> str:
        """Who else than the agent made changes."""
        if self.task:
            task = plain_line(self.task)
            return f"you or `{task if len(task) <= _OF_TASK else f'{task[: _OF_TASK - 1]}…'}`"
        return "you" if self.is_yours else "another session"


class Planner:
    """Plans for one project. What merges make is kept among its blobs."""

    def __init__(self, blobs: BlobStore, *, sessions: Collection[str]) -> None:
        self._blobs = blobs
        self._sessions = sessions
        """The sessions whose calls and reverts may be taken back."""

    def plan(
        self,
        target: str,
        head: str,
        records: Sequence[Manifest],
        now: Entries,
        then: Entries,
        *,
        only: Collection[str] | None = None,
        others: ChangesOfOthers = frozenset(),
        holds: Callable[[str], bool] = lambda _: False,
        patience: Patience,
    ) -> Plan:
        """The plan from state `head`, which holds `now`, to `target`, which holds `then`.

        `records` lead from the one to the other; of `only` some, those are taken back alone: what was done
        after them stays. `others` is what in them another session changed; `holds` tells whether something
        that is not covered lies in a folder, which has to stay then. Raises Stopped, OSError.
        """
        pasts = self._pasts(records, then, only, others)
        if only is not None:
            pasts = {path: past for path, past in pasts.items() if any(past.is_agents)}
        items = {}
        for number, (path, past) in enumerate(pasts.items()):
            patience.check(number, 2 * len(pasts))
            items[path] = replace(self._item(path, past), by=past.by)
        items = {path: item for path, item in items.items() if item.now != item.then}
        self._respect_folders(items, now, holds)
        ordered = []
        for number, path in enumerate(sorted(items)):
            patience.check(len(items) + number, 2 * len(items))
            ordered.append(self._counted(items[path]))
        commands = {  # a call that was looked at while it ran has several records
            record.owner.call or record.id: record.owner.command
            for record in records
            if record.owner.who == "call"
            and record.owner.command
            and record.owner.session in self._sessions
            and (only is None or record.id in only)
        }
        return Plan(target, head, tuple(ordered), tuple(commands.values()))

    def _pasts(
        self,
        records: Iterable[Manifest],
        then: Entries,
        only: Collection[str] | None,
        others: ChangesOfOthers,
    ) -> dict[str, _Past]:
        pasts: dict[str, _Past] = {}
        for record in records:
            mine = record.owner.who in {"call", "revert"} and record.owner.session in self._sessions
            mine = mine and (only is None or record.id in only)
            for path, entry in record.changes.items():
                past = pasts.setdefault(path, _Past([then.get(path)]))
                if record.owner.who == "coverage":
                    if entry is None:
                        entry = _IGNORED
                    if len(past.states) == 1:
                        past.states[0] = entry  # it was there all the time, or still is
                        continue
                past.states.append(entry)
                past.is_agents.append(mine)
                past.is_yours |= not mine and (record.id, path) not in others
                if record.owner.who == "background":
                    past.task = record.owner.command or record.owner.call
        return pasts

    def _item(self, path: str, past: _Past) -> PlanItem:
        now, at_target = past.states[-1], past.states[0]
        if any(state is not None and state.kind == "omitted" for state in past.states):
            why = next(state.ref for state in past.states if state is not None and state.kind == "omitted")
            return PlanItem(path=path, action="not covered", now=now, then=at_target, note=why)
        if not any(past.is_agents):
            note = f"only {past.somebody} changed it"
            return PlanItem(path=path, action="keep", now=now, then=at_target, note=note)
        try:
            then = self._backwards(past)
        except _Conflict as conflict:
            return PlanItem(path=path, action="conflict", now=now, then=at_target, note=str(conflict))
        except BlobMissing:
            note = "its content is not kept any more"
            return PlanItem(path=path, action="not covered", now=now, then=at_target, note=note)
        if not self._is_kept(then):
            note = "its content is not kept any more"
            return PlanItem(path=path, action="not covered", now=now, then=then, note=note)
        if then == now and now != at_target:
            return PlanItem(path=path, action="keep", now=now, then=at_target, note="it is as you left it")
        return PlanItem(path=path, action=_action(now, then, past.states), now=now, then=then)

    def _backwards(self, past: _Past) -> Entry | None:
        """The newest state without the agent's changes. Raises _Conflict, BlobMissing and OSError."""
        current = past.states[-1]
        for index in range(len(past.is_agents) - 1, -1, -1):
            if past.is_agents[index]:
                before, after = past.states[index], past.states[index + 1]
                current = self._without(before, after, current, past.somebody)
        return current

    def _without(
        self, before: Entry | None, after: Entry | None, current: Entry | None, somebody: str
    ) -> Entry | None:
        """`current`, which `somebody` changed, without the change from `before` to `after`."""
        if current == after:
            return before
        if current == before or before == after:
            return current
        if before is None or after is None or current is None:
            raise _Conflict(
                f"the agent made it and {somebody} edited it" if before is None
                else f"the agent deleted it and {somebody} made it anew" if after is None
                else f"{somebody} deleted it"
            )  # fmt: skip
        if {before.kind, after.kind, current.kind} != {"file"}:
            raise _Conflict(f"{somebody} and the agent both changed it")
        mode = before.mode if current.mode == after.mode else current.mode
        versions = (after, current, before)
        if any(entry.size > MAX_BYTES for entry in versions):
            raise _Conflict(f"{somebody} and the agent changed the same file")
        contents = [self._blobs.read(entry.ref) for entry in versions]
        content = merged(*contents)
        if content is None:
            both = "lines" if all(map(is_text, contents)) else "file"
            raise _Conflict(f"{somebody} and the agent changed the same {both}")
        return Entry("file", mode, len(content), self._blobs.put(content))

    def _is_kept(self, entry: Entry | None) -> bool:
        return entry is None or entry.kind != "file" or self._blobs.has(entry.ref)

    def _respect_folders(
        self, items: dict[str, PlanItem], now: Entries, holds: Callable[[str], bool]
    ) -> None:
        """Keep the folders of what is kept, and make no file where a folder has to be, or the reverse."""
        changed = True
        while changed:
            changed = False
            needed = self._needed_folders(items, now, holds)
            for path, item in list(items.items()):
                if not item.is_ticked:
                    continue
                if path in needed and item.then is None:
                    del items[path]
                elif path in needed or (item.then is not None and not self._has_room(path, items, now)):
                    note = _UNCOVERED if _is_folder(item.now) and holds(path) else _YOURS
                    items[path] = replace(item, action="conflict", note=note)
                else:
                    continue
                changed = True

    def _needed_folders(
        self, items: dict[str, PlanItem], now: Entries, holds: Callable[[str], bool]
    ) -> set[str]:
        """The folders that are to go though something in them stays, or comes back."""
        going = {
            path
            for path, item in items.items()
            if item.is_ticked and _is_folder(item.now) and not _is_folder(item.then)
        }
        if not going:
            return set()
        stays = [path for path in now if path not in items or not items[path].is_ticked]
        stays += [path for path, item in items.items() if item.is_ticked and item.then is not None]
        full = {folder for folder in going if holds(folder)}
        return full | {folder for path in (*stays, *full) for folder in parents_of(path) if folder in going}

    def _has_room(self, path: str, items: dict[str, PlanItem], now: Entries) -> bool:
        """Whether the folders that `path` lies in can all be folders afterwards."""
        for folder in parents_of(path):
            item = items.get(folder)
            entry = item.then if item is not None and item.is_ticked else now.get(folder)
            if entry is not None and not _is_folder(entry):
                return False
        return True

    def _counted(self, item: PlanItem) -> PlanItem:
        now, then = self._text(item.now), self._text(item.then)
        if now is None or then is None:
            return item
        added, removed = changed_lines(lines_of(now), lines_of(then))
        return replace(item, added=added, removed=removed)

    def _text(self, entry: Entry | None) -> bytes | None:
        """The text of a file, empty where there is none; None when it can't be counted by lines."""
        return text_of(self._blobs, entry)


def text_of(blobs: BlobStore, entry: Entry | None) -> bytes | None:
    """The text of a file, empty where there is none; None when it has no lines or isn't kept."""
    if entry is None or entry.kind != "file":
        return b""
    if entry.size > MAX_BYTES:
        return None
    try:
        content = blobs.read(entry.ref)
    except BlobMissing:
        return None
    return content if is_text(content) else None


def _is_folder(entry: Entry | None) -> bool:
    return entry is not None and entry.kind == "folder"


def _action(now: Entry | None, then: Entry | None, states: Sequence[Entry | None]) -> Action:
    if then is None:
        return "delete"
    if now is None:
        return "recreate"
    return "restore" if then in states else "merge"
