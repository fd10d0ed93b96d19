"""Undo of renames in a plan: a file that the agent renamed gets its old name again, with later edits.

First, a rename is two items, one that removes the new name and one that creates the old one, so that rules
about directories see both. At the end they are joined into one, and those of a directory's members into its
item. If another file gets the new name or has the old one, as after a swap, both items stay: they write the
contents, and the item that overwrites a content is executed only along with the one that keeps it.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace

from kimi_tui.base.message_text import msg
from kimi_tui.history.snapshots.entry import Entries, Entry, parents_of
from kimi_tui.history.snapshots.plan import Action, PlanItem
from kimi_tui.history.snapshots.planning.path_history import PathHistory, display_name, shorten_command
from kimi_tui.history.snapshots.planning.plan_rules import respect_folders

_STAYS = ("conflict", "not covered")
_MOVABLE = ("file", "link")
"""Kinds of entries whose content can be written at another path."""


class RenameUndo:
    """The renames that one plan undoes."""

    def __init__(
        self,
        items: dict[str, PlanItem],
        histories: Mapping[str, PathHistory],
        now: Entries,
        replaced: Iterable[PlanItem] = (),
    ) -> None:
        """Change `items` accordingly.

        `replaced` are the items of what doesn't exist any longer since something else was renamed to its
        path; their paths are where it is restored.
        """
        self._items = items
        self._now = now
        self._old_names: dict[str, str] = {}
        """Old name by current name."""
        self._joined: dict[str, PlanItem] = {}
        """The item for the whole rename, by the current name."""
        self._kept: set[str] = set()
        """Names of files that stay although their rename could be undone by itself."""
        self._restored = {
            item.path: item for item in replaced if item.action != "keep" and item.then is not None
        }
        """What is restored at a path from which something else was renamed, or to which it was."""
        for path, history in histories.items():
            if (old := history.undo_agent_renames(path)) != path:
                self._add(path, old, history)
        self._keep_impossible()
        for path in sorted(self._old_names):
            if _is_folder(now.get(path)) and not any(it in self._old_names for it in parents_of(path)):
                self._add_other_members(path, self._old_names[path])
        self._split()

    def _add(self, path: str, old: str, history: PathHistory) -> None:
        item = self._items[path]
        if item.now is None or item.then is None or item.action in _STAYS:
            return
        note = item.note if item.action == "merge" else ""
        if history.command:
            note = msg("renamed while `{command}` ran", command=shorten_command(history.command))
        if item.action == "keep" or item.then == item.now:
            item = replace(item, action="rename", then=item.now)
        item = replace(item, note=note)
        if history.is_uncertain:
            note = msg("renamed while this and another session ran commands")
            old = old if self._now.get(old) is None else ""
            self._items[path] = replace(item, action="conflict", note=note, renamed_to=old)
        elif old in self._old_names.values():
            self._keep(path, old, item)
        else:
            self._old_names[path] = old
            self._joined[path] = replace(item, renamed_to=old, replaced=self._now.get(old))

    def _keep_impossible(self) -> None:
        """Keep files whose old name isn't free, and those whose old name isn't free as a result."""
        while taken := [path for path in sorted(self._old_names) if not self._is_free(path)]:
            for path in taken:
                old, item = self._old_names.pop(path), self._joined.pop(path)
                self._keep(path, old, replace(item, renamed_to="", replaced=None))

    def _keep(self, path: str, old: str, item: PlanItem) -> None:
        if _is_folder(item.now):
            self._items[path] = replace(item, action="delete", note="", then=None)
            return
        note = msg("the agent moved {path} here, and that file isn't restored", path=display_name(old))
        self._items[path] = replace(item, action="conflict", note=note, then=None, versions=())

    def _is_free(self, path: str) -> bool:
        """Return whether nothing is at the old name, or only what leaves it: a file that the agent renamed
        to it, too, or created there since.
        """
        old, item = self._old_names[path], self._joined[path]
        if (restored := self._restored.get(path)) is not None and not restored.is_selected:
            return False  # the file at `path` is in the way of one that isn't restored
        if old in self._restored:
            return False
        if (current := self._now.get(old)) is None:
            return True
        if old in self._old_names:
            return _is_movable(current) and _is_movable(item.now) and _is_movable(item.then)
        occupant = self._items.get(old)
        is_created = occupant is not None and occupant.action == "delete" and not occupant.renamed_to
        return is_created and not _is_folder(current) and not _is_folder(item.now)

    def _add_other_members(self, folder: str, old_folder: str) -> None:
        """Let the user's files in a renamed directory follow it, if nothing has its old name."""
        if self._now.get(old_folder) is not None:
            return
        for path, entry in self._now.items():
            item = self._items.get(path)
            if not path.startswith(f"{folder}/") or path in self._old_names:
                continue
            if entry.kind == "omitted" or (item is not None and item.action != "keep"):
                continue
            old = old_folder + path[len(folder) :]
            if old not in self._old_names.values() and self._now.get(old) is None:
                self._old_names[path] = old
                self._joined[path] = PlanItem(
                    path=path, action="rename", now=entry, then=entry, renamed_to=old, by="you"
                )

    def _split(self) -> None:
        for path, joined in self._joined.items():
            self._items[path] = _removal(joined)
        for path, old in self._old_names.items():
            current = self._now.get(old)
            action: Action = "recreate" if current is None else "restore"
            self._items[old] = PlanItem(path=old, action=action, now=current, then=self._joined[path].then)
        for path, restored in self._restored.items():
            self._restore_replaced(path, restored)

    def _restore_replaced(self, path: str, restored: PlanItem) -> None:
        """Restore the file that another one replaced at `path`, if the other one leaves `path`."""
        current, item = self._now.get(path), self._items.get(path)
        is_leaving = path in self._old_names and _is_movable(current)
        is_created = item is not None and item.action == "delete" and not _is_folder(current)
        if current is None and item is not None and item.is_selected and item.then is not None:
            return  # a later file of that name, which is restored
        if not restored.is_selected:
            note = restored.note
        elif current is None or is_leaving or is_created:
            action: Action = "recreate" if current is None else "restore"
            self._items[path] = replace(restored, action=action, now=current)
            return
        else:
            note = msg("something else has its name now")
            if item is not None and item.action == "conflict":
                note = item.note
        self._items[path] = replace(
            restored, action="conflict", now=current, note=note, versions=(), by=item.by if item else ""
        )

    def respect_folders(self, holds_uncovered: Callable[[str], bool]) -> None:
        """Apply the rules about directories. A rename of which one part isn't possible isn't done at all."""
        moved_folders = {path for path in self._old_names if _is_folder(self._now.get(path))}

        def holds_other_files(folder: str) -> bool:
            return folder not in moved_folders and holds_uncovered(folder)

        while True:
            respect_folders(self._items, self._now, holds_other_files)
            broken = [path for path in self._old_names if not self._is_possible(path)]
            if not broken:
                return
            for path in broken:
                moved_folders.discard(path)
                self._break_up(path)

    def _is_possible(self, path: str) -> bool:
        parts = self._items.get(path), self._items.get(self._old_names[path])
        return all(part is not None and part.is_selected for part in parts)

    def _break_up(self, path: str) -> None:
        """Keep a file where it is, and what would take its place, too."""
        if path not in self._old_names:
            return
        old, joined = self._old_names.pop(path), self._joined.pop(path)
        new_part, old_part = self._items.get(path), self._items.get(old)
        if _is_folder(joined.now):
            return  # the directory stays, and the other one is created for the files that go back
        note = next((part.note for part in (old_part, new_part) if part and part.action == "conflict"), "")
        if old in self._old_names:
            self._items[old] = _removal(self._joined[old])
        elif old_part is not None and old not in self._kept:
            del self._items[old]
        restored = self._restored.get(path)
        self._items[path] = replace(
            joined,
            action="conflict",
            note=note,
            then=restored.then if restored is not None else None,
            renamed_to="",
            replaced=None,
            versions=(),
        )
        self._kept.add(path)
        for other in [other for other, name in self._old_names.items() if name == path]:
            self._break_up(other)

    def join(self) -> None:
        """Join the parts of each rename, and the members of a directory with its item."""
        taken = {*self._old_names.values(), *self._restored}
        for path, old in self._old_names.items():
            if path in taken or old in self._old_names:
                self._describe_parts(path, old)
            else:
                self._items.pop(old, None)
                self._items[path] = self._joined[path]
        folders = [path for path in self._old_names if _is_folder(self._joined[path].now)]
        for folder in sorted(folders):
            if folder not in self._items:
                continue
            members = list(self._members(folder, self._old_names[folder]))
            for member in members:
                del self._items[member.path]
            self._items[folder] = replace(self._items[folder], members=tuple(members))

    def _describe_parts(self, path: str, old: str) -> None:
        """Describe the two items of a rename whose names are both in use."""
        joined, source, target = self._joined[path], self._items[path], self._items[old]
        note = source.note
        if source.action == "delete":
            note = msg("moved back to {path}", path=display_name(old))
        self._items[path] = replace(source, note=note, carried_to=old)
        self._items[old] = replace(
            target,
            action="merge" if joined.action == "merge" and target.action == "restore" else target.action,
            note=msg("moved back from {path}", path=display_name(path)),
            by=joined.by,
        )

    def _members(self, folder: str, old_folder: str) -> Iterator[PlanItem]:
        for path in sorted(self._old_names):
            if not path.startswith(f"{folder}/"):
                continue
            item = self._items[path]
            if item.action == "rename" and item.renamed_to == old_folder + path[len(folder) :]:
                yield item


def _removal(joined: PlanItem) -> PlanItem:
    """Return the item that removes the new name of a renamed file."""
    return replace(joined, action="delete", then=None, renamed_to="", replaced=None, versions=())


def _is_movable(entry: Entry | None) -> bool:
    return entry is not None and entry.kind in _MOVABLE


def _is_folder(entry: Entry | None) -> bool:
    return entry is not None and entry.kind == "folder"
