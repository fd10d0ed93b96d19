"""Undo of all changes since a state: the new path and content of each file, and the files that have to stay.

A file that the agent renamed gets its old name again, and keeps later edits. A file stays as it is if its new
path isn't free, if a directory that it needs isn't possible, or if it has the only copy of a content. A file
that stays may block others. These stay, too, until no file blocks another.

A rename is one item, and so is the rename of a directory with its members. If both names are in use, as after
a swap, each name has its own item, and these items write the contents. The item that overwrites a content is
executed only together with the item that keeps that content.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache

from kimi_tui.base.message_text import msg
from kimi_tui.history.snapshots.entry import Entries, Entry, parents_of
from kimi_tui.history.snapshots.plan import Action, PlanItem
from kimi_tui.history.snapshots.planning.path_history import PathHistory, display_name, shorten_command
from kimi_tui.history.snapshots.planning.too_large import describe_not_storable, is_too_large

_BLOCKED_BY_USER_FILE = "blocked by a file or directory that you created"
_HOLDS_UNCOVERED = "contains files that aren't covered"
_NAME_IN_USE = "another file or directory has its name now"


@dataclass(slots=True, eq=False)
class _File:
    """A file, link or directory that has changed since the state, or that moves with a directory."""

    item: PlanItem
    """The item that undoes its changes, at its current path. If the file doesn't exist, at its new path."""
    old: str
    """The path after the undo; for a file that is deleted, its current path."""
    stays: bool = False
    is_listed: bool = True
    """Whether the plan has an item for the file if the file stays."""

    @property
    def path(self) -> str:
        """The current path."""
        return self.item.path

    @property
    def moves(self) -> bool:
        """Whether the file gets another path."""
        return self.old != self.item.path

    @property
    def is_folder(self) -> bool:
        """Whether the file is a directory, or was a directory before it was deleted."""
        return _is_folder(self.item.now or self.item.then)


class TreeUndo:
    """The files after a revert."""

    def __init__(
        self,
        items: Mapping[str, PlanItem],
        histories: Mapping[str, PathHistory],
        now: Entries,
        replaced: Iterable[PlanItem],
    ) -> None:
        """`items` undo the changes of each path alone. `replaced` recreate files that a rename overwrote."""
        self._now = now
        self._files: list[_File] = []
        self._by_path: dict[str, _File] = {}
        """The files that exist."""
        self._missing: dict[str, _File] = {}
        """The files that don't exist, by the path where they are created."""
        for path, history in histories.items():
            self._add(_to_file(path, items[path], history, now))
        for item in replaced:
            if item.action != "keep" and item.then is not None:
                self._add(_File(item, item.path, stays=not item.is_selected))
        for file in self._top_folders_that_move():
            self._add_other_members(file)
        self._keep_where_something_is_not_restored()

    def _add(self, file: _File) -> None:
        self._files.append(file)
        if file.item.now is not None:
            self._by_path[file.path] = file
        else:
            self._missing[file.path] = file

    def _top_folders_that_move(self) -> list[_File]:
        folders = [file for file in self._files if file.moves and file.is_folder and not file.stays]
        paths = {file.path for file in folders}
        return [file for file in folders if not any(parent in paths for parent in parents_of(file.path))]

    def _add_other_members(self, folder: _File) -> None:
        """Move the user's files in a renamed directory along with it, if its old name is free."""
        if self._now.get(folder.old) is not None:
            return
        for path, entry in self._now.items():
            if not path.startswith(f"{folder.path}/") or entry.kind == "omitted":
                continue
            known, old = self._by_path.get(path), folder.old + path[len(folder.path) :]
            if known is None:
                item = PlanItem(path=path, action="rename", now=entry, then=entry, by="you")
                self._add(_File(item, old))
            elif known.item.action == "keep":
                known.item = replace(known.item, action="rename", then=entry, note="", by="you")
                known.old, known.stays = old, False

    def _keep_where_something_is_not_restored(self) -> None:
        """Keep a file if the file that it replaced isn't restored, so that the plan has one item for both."""
        for path, missing in self._missing.items():
            file, is_conflict = self._by_path.get(path), missing.stays and missing.item.action != "keep"
            if is_conflict and file is not None and file.moves and not file.stays:
                self._block(file)

    def keep(self, notes: Mapping[str, str]) -> None:
        """Keep the files at the paths in `notes`. The values say why."""
        for path, note in notes.items():
            self._stay(self._by_path[path], note)

    def keep_blocked(self, holds_uncovered: Callable[[str], bool]) -> None:
        """Keep all files that can't get their planned path or state.

        `holds_uncovered` returns whether a directory has files that aren't covered.
        """
        holds_uncovered = cache(holds_uncovered)
        while self._keep_some_blocked(holds_uncovered):
            pass

    def _keep_some_blocked(self, holds_uncovered: Callable[[str], bool]) -> bool:
        """Keep files if their new path isn't free, or if their directory isn't possible.

        Return whether there are any such files.
        """
        arriving, is_changed = self._arriving()
        for path, file in arriving.items():
            if not file.stays and not self._has_room(path, arriving):
                self._block(file)
                is_changed = True
        return self._keep_needed_folders(arriving, holds_uncovered) or is_changed

    def _arriving(self) -> tuple[dict[str, _File], bool]:
        """Return the file that each path gets, without files that stay.

        Also return whether another file has to stay.
        """
        arriving: dict[str, _File] = {}
        is_changed = False
        for file in self._files:
            if file.stays or file.item.then is None:
                continue
            occupant = self._by_path.get(file.old)
            is_taken = file.old in self._now and (occupant is None or occupant.stays)
            other = arriving.get(file.old)
            blocked: _File | None = file
            if not is_taken and (other is None or (other.item.now is None and file.item.now is not None)):
                arriving[file.old] = file
                blocked = other
            if blocked is not None:
                self._block(blocked)
                is_changed = True
        return arriving, is_changed

    def _has_room(self, path: str, arriving: Mapping[str, _File]) -> bool:
        """Return whether all parents of `path` can be directories after the undo."""
        for parent in parents_of(path):
            if (file := arriving.get(parent)) is not None:
                is_possible = _is_folder(file.item.then)
            else:
                occupant = self._by_path.get(parent)
                is_leaving = occupant is not None and not occupant.stays
                is_possible = is_leaving or _is_folder(self._now.get(parent, _FOLDER))
            if not is_possible:
                return False
        return True

    def _keep_needed_folders(
        self, arriving: Mapping[str, _File], holds_uncovered: Callable[[str], bool]
    ) -> bool:
        """Keep directories in which something stays or is created; return whether there are any."""
        leaving = {
            path: file
            for path, file in self._by_path.items()
            if not file.stays
            and _is_folder(file.item.now)
            and not (path in arriving and _is_folder(arriving[path].item.then))
        }
        if not leaving:
            return False
        needed = {path for path, file in leaving.items() if not file.moves and holds_uncovered(path)}
        staying = (path for path in self._now if (it := self._by_path.get(path)) is None or it.stays)
        needed |= {parent for path in (*staying, *needed) for parent in parents_of(path)}
        created = {parent for path in arriving for parent in parents_of(path)}
        is_changed = False
        for path, folder in leaving.items():
            if path not in needed and (path not in created or folder.moves):
                continue
            is_changed = True
            if (file := arriving.get(path)) is None:
                self._stay_unlisted(folder)
            elif file.moves:
                self._block(file)
                self._stay_unlisted(folder)
            else:
                self._stay(file, _HOLDS_UNCOVERED if holds_uncovered(path) else _BLOCKED_BY_USER_FILE)
                if file is not folder:
                    self._stay_unlisted(folder)
        return is_changed

    def _block(self, file: _File) -> None:
        """Keep a file that can't get its planned path."""
        if not file.moves and file.is_folder and _is_folder(self._now.get(file.path)):
            self._stay_unlisted(file)
        elif not file.moves:
            self._stay(file, _BLOCKED_BY_USER_FILE if file.path not in self._by_path else _NAME_IN_USE)
        elif file.is_folder:  # the files in it may still be possible
            file.item, file.old = replace(file.item, action="delete", note="", then=None), file.path
        else:
            name = display_name(file.old)
            self._stay(file, msg("the agent moved {path} here, and that file isn't restored", path=name))

    def _stay(self, file: _File, note: str) -> None:
        then = file.item.then
        if file.moves:
            missing = self._missing.get(file.path)
            then = missing.item.then if missing is not None else None
        if is_too_large(file.item.now):
            note = describe_not_storable(file.item.now)
        file.item = replace(file.item, action="conflict", note=note, then=then, versions=())
        file.stays = True

    def _stay_unlisted(self, file: _File) -> None:
        file.stays, file.is_listed = True, False

    def items(self) -> dict[str, PlanItem]:
        """Return the item of each path. A rename has one item at each name."""
        items: dict[str, PlanItem] = {}
        for file in sorted(self._files, key=lambda file: file.item.now is not None):
            if file.stays and file.is_listed:
                current = self._now.get(file.path)
                if file.item.now is None and current is not None:
                    if file.item.action != "keep":
                        items[file.path] = replace(file.item, now=current, action="conflict", versions=())
                elif file.path not in items or file.item.action != "keep":
                    items[file.path] = file.item
            elif not file.stays and file.item.now is not None and (file.moves or file.item.then is None):
                items[file.path] = _removal(file.item)
        for file in self._files:
            if not file.stays and file.item.then is not None:
                now = self._now.get(file.old)
                item = file.item
                if file.moves or now != item.now:
                    action: Action = "recreate" if now is None else "restore"
                    item = replace(item, path=file.old, action=action, now=now)
                items[file.old] = item
        for path, item in items.items():
            if item.renamed_to in items:  # only one of the two can get that name
                items[path] = replace(item, renamed_to="")
        return {path: item for path, item in items.items() if item.has_effect}

    def join(self, items: dict[str, PlanItem]) -> None:
        """Join the two items of each rename, and the items of a renamed directory's members with its item."""
        moved = {file.path: file for file in self._files if file.moves and not file.stays}
        arriving = {file.old for file in self._files if not file.stays and file.item.then is not None}
        for path, file in moved.items():
            occupant = self._by_path.get(file.old)
            is_replaced = occupant is not None and not occupant.moves and occupant.item.then is None
            is_free = occupant is None or (is_replaced and not file.is_folder and not occupant.is_folder)
            if path in arriving or not is_free:
                self._describe_parts(file, items)
            else:
                items.pop(file.old, None)
                items[path] = replace(file.item, renamed_to=file.old, replaced=self._now.get(file.old))
        folders = sorted(path for path, file in moved.items() if file.is_folder)
        for folder in folders:
            if folder in items and items[folder].renamed_to:
                members = tuple(self._members(moved[folder], moved, items))
                for member in members:
                    del items[member.path]
                items[folder] = replace(items[folder], members=members)

    def _describe_parts(self, file: _File, items: dict[str, PlanItem]) -> None:
        """Describe the two items of a rename if both names are in use."""
        if (source := items.get(file.path)) is not None:
            note = source.note
            if source.action == "delete":
                note = msg("moved back to {path}", path=display_name(file.old))
            carried_to = file.old if file.old in items else ""  # or that path has the same content already
            items[file.path] = replace(source, note=note, carried_to=carried_to)
        if (target := items.get(file.old)) is not None:
            is_merge = file.item.action == "merge" and target.action == "restore"
            items[file.old] = replace(
                target,
                action="merge" if is_merge else target.action,
                note=msg("moved back from {path}", path=display_name(file.path)),
                by=file.item.by,
            )

    def _members(
        self, folder: _File, moved: Mapping[str, _File], items: Mapping[str, PlanItem]
    ) -> Iterator[PlanItem]:
        for path in sorted(moved):
            if not path.startswith(f"{folder.path}/") or path not in items:
                continue
            item = items[path]
            if item.action == "rename" and item.renamed_to == folder.old + path[len(folder.path) :]:
                yield item


_FOLDER = Entry("folder", 0, 0, "")
"""Entry of a missing parent directory, to be created."""


def _to_file(path: str, item: PlanItem, history: PathHistory, now: Entries) -> _File:
    """Return the file at `path`. `item` undoes the changes in `history`, without regard to other files."""
    old = history.undo_agent_renames(path)
    if item.now is None:
        old = history.first_name(path) if item.action == "keep" else old
        return _File(replace(item, path=old) if old != path else item, old, stays=not item.is_selected)
    is_kept = item.action == "keep" and old != path
    if old == path or item.action in {"conflict", "not covered"} or (item.then is None and not is_kept):
        return _File(item, path, stays=not item.is_selected)
    note = item.note if item.action == "merge" else ""
    if history.command:
        note = msg("renamed while `{command}` ran", command=shorten_command(history.command))
    if is_kept or item.then == item.now:
        item = replace(item, action="rename", then=item.now)
    item = replace(item, note=note)
    if history.is_uncertain:
        note = msg("renamed while this and another session ran commands")
        new_name = old if now.get(old) is None else ""
        return _File(replace(item, action="conflict", note=note, renamed_to=new_name), path, stays=True)
    return _File(item, old)


def _removal(item: PlanItem) -> PlanItem:
    """Return the item that removes the current path of a file."""
    return replace(item, action="delete", then=None, versions=())


def _is_folder(entry: Entry | None) -> bool:
    return entry is not None and entry.kind == "folder"
