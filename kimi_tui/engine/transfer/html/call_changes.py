"""File changes of a session by the tool call that made them, as unified diffs."""

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, field

from kimi_tui.base.frozen import frozen
from kimi_tui.engine.files.coverage import unique_path
from kimi_tui.history.snapshots.blob_store import BlobMissing, BlobStore
from kimi_tui.history.snapshots.entry import Entry, apply_changes
from kimi_tui.history.snapshots.manifest import Manifest, ManifestLog, ManifestMissing
from kimi_tui.history.snapshots.merge3 import is_text

_CONTEXT_LINES = 3
_MAX_BYTES = 1 << 20
_MAX_FILES = 20
"""Maximum number of files per call whose lines are compared."""


@frozen(kw_only=True)
class CallDiff:
    """Change of a file by one call or by the user."""

    path: str
    change: str
    """`added`, `removed`, `changed` or `renamed`."""
    old_path: str = ""
    """Earlier path of a renamed file."""
    lines: tuple[str, ...] = ()
    """Lines of the unified diff, without its heading; empty if the file isn't text."""
    added: int = 0
    removed: int = 0


@dataclass(slots=True)
class SessionChanges:
    """The file changes of a session."""

    by_call: dict[str, list[CallDiff]] = field(default_factory=dict)
    by_user: list[tuple[float, list[CallDiff]]] = field(default_factory=list)
    """Changes by the user, with their times in seconds since the epoch."""


def collect_changes(manifests: ManifestLog, blobs: BlobStore, head: str | None) -> SessionChanges:
    """Return the changes that led to the state `head` and are still stored."""
    changes = SessionChanges()
    if head is None:
        return changes
    records = _stored_records(manifests, head)
    state: dict[str, Entry] = dict(records[0].whole or {}) if records else {}
    for record in records[1:]:
        if record.author.who == "call":
            diffs = _diffs(record, state, blobs)
            changes.by_call.setdefault(record.author.call, []).extend(diffs)
        elif record.author.who == "you" and (diffs := _diffs(record, state, blobs)):
            changes.by_user.append((record.time, diffs))
        apply_changes(record.changes, state)
    return changes


def _stored_records(manifests: ManifestLog, head: str) -> list[Manifest]:
    """Return the records up to `head`, oldest first. The first one has the whole state."""
    records: list[Manifest] = []
    current: str | None = head
    while current is not None:
        try:
            record = manifests.read(current)
        except ManifestMissing:
            break
        records.append(record)
        current = record.parent
    while records and records[-1].whole is None:
        records.pop()
    records.reverse()
    return records


def _diffs(record: Manifest, before: Mapping[str, Entry], blobs: BlobStore) -> list[CallDiff]:
    renamed = set(record.renames.values())
    diffs: list[CallDiff] = []
    for path, entry in sorted(record.changes.items()):
        if path in renamed:
            continue
        old_path = record.renames.get(path, "")
        old = before.get(old_path or path)
        if all(it is None or it.kind == "folder" for it in (old, entry)):
            continue
        change = (
            "renamed" if old_path else "added" if old is None else "removed" if entry is None else "changed"
        )
        texts = _texts(old, entry, blobs) if len(diffs) < _MAX_FILES else None
        lines = _unified_lines(*texts) if texts is not None else ()
        diffs.append(
            CallDiff(
                path=unique_path(path),
                change=change,
                old_path=unique_path(old_path),
                lines=lines,
                added=sum(line.startswith("+") for line in lines),
                removed=sum(line.startswith("-") for line in lines),
            )
        )
    return diffs


def _texts(old: Entry | None, new: Entry | None, blobs: BlobStore) -> tuple[str, str] | None:
    texts = []
    for entry in (old, new):
        if entry is None:
            texts.append("")
            continue
        if entry.kind != "file" or entry.size > _MAX_BYTES:
            return None
        try:
            content = blobs.read(entry.ref)
        except (BlobMissing, OSError):
            return None
        if not is_text(content):
            return None
        texts.append(content.decode("utf-8", "replace"))
    return texts[0], texts[1]


def _unified_lines(old: str, new: str) -> tuple[str, ...]:
    lines = difflib.unified_diff(old.splitlines(), new.splitlines(), n=_CONTEXT_LINES, lineterm="")
    return tuple(lines)[2:]
