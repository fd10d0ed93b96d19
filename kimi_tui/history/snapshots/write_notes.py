"""Notes in a plan about how files are written: open files, and attributes that can't be kept."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from kimi_tui.base.message_text import as_message, msg
from kimi_tui.history.snapshots.attributes.file_attributes import FileAttributes, describe_losses
from kimi_tui.history.snapshots.entry import parents_of
from kimi_tui.history.snapshots.overwrite_choice import OverwriteChoice, choose_overwrites
from kimi_tui.history.snapshots.plan import Plan, PlanItem

_DATABASE_SUFFIXES = ("-wal", "-shm", "-journal")
"""Suffixes of the files that belong to a SQLite database, https://sqlite.org/tempfiles.html."""


def add_write_notes(root: Path, plan: Plan, attributes: Mapping[str, FileAttributes]) -> Plan:
    """Return `plan` with notes about the files that would not simply be replaced.

    An item that recreates a path gets the path's `attributes`, and a note about attributes that can't be set.
    A file that a program has open isn't deleted by default, since the program may still write to it.
    """
    selected = [item for item in plan.items if item.is_selected]
    choice = choose_overwrites(root, ((item.path, item.now, item.then) for item in selected))
    kept = _open_files_to_keep(selected, choice.open_in)
    needed = {folder for path in kept for folder in parents_of(path)}
    items = tuple(
        _add_attributes(_add_note(item, choice, kept), attributes)
        for item in plan.items
        if item.path not in needed or item.then is not None or not item.is_selected
    )
    remarks = plan.remarks
    if not choice.is_complete and any(item.now is not None and item.now.kind == "file" for item in selected):
        remarks += (
            msg(
                "kimi-tui can't detect open files on this system. A program that has one of these files open "
                "keeps writing to the old version. Close such programs first."
            ),
        )
    return replace(plan, items=items, remarks=remarks)


def _add_attributes(item: PlanItem, attributes: Mapping[str, FileAttributes]) -> PlanItem:
    """Return the item with the attributes that the path had when it existed."""
    if item.now is not None or item.then is None or item.renamed_to:
        return item
    if (known := attributes.get(item.path)) is None or item.then.kind not in ("file", "folder"):
        return item
    if losses := describe_losses(known):
        note = msg("not kept: {attributes}", attributes=", ".join(losses))
        if item.note:
            note = msg("{note} · {more}", note=as_message(item.note), more=note)
        item = replace(item, note=note)
    return replace(item, attributes=known)


def _open_files_to_keep(selected: list[PlanItem], open_in: Mapping[str, str]) -> dict[str, str]:
    """Return the paths to keep, each with the program that has it open.

    The files of a database are kept or reverted together.
    """
    created = {item.path for item in selected if item.then is None}
    kept = {path: program for path, program in open_in.items() if path in created}
    paths = {item.path for item in selected}
    for item in selected:
        database = _database_of(item.path)
        files = {database, *(database + suffix for suffix in _DATABASE_SUFFIXES)} & paths
        program = next((open_in[path] for path in sorted(files) if path in open_in), None)
        if program is not None and any(_appears_or_disappears(it) for it in selected if it.path in files):
            kept[item.path] = program
    return kept


def _database_of(path: str) -> str:
    for suffix in _DATABASE_SUFFIXES:
        if path.endswith(suffix):
            return path.removesuffix(suffix)
    return path


def _appears_or_disappears(item: PlanItem) -> bool:
    return item.now is None or item.then is None


def _add_note(item: PlanItem, choice: OverwriteChoice, kept: Mapping[str, str]) -> PlanItem:
    if (program := kept.get(item.path)) is not None:
        note: str = msg("open in {program}, and that program may still write to it", program=program)
        return replace(item, action="conflict", note=note)
    if (loss := choice.losses.get(item.path)) is not None:
        return replace(item, note=loss)
    if item.path in choice.in_place and (program := choice.open_in.get(item.path)) is not None:
        return replace(item, note=msg("open in {program}, so it is overwritten in place", program=program))
    return item
