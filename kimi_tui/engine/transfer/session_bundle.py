"""Session bundles: a session with its branches and file states in one file, to resume it elsewhere.

A bundle is a ZIP file of `bundle.json` (version, session id, title, working directory), `session/…` (the
session's directory), `manifests/…` (segments of file states) and `contents/DIGEST` (contents of files). The
contents aren't redacted.
"""

import json
import os
import re
import shutil
import time
import zipfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import IO, Any

from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.frozen import frozen
from kimi_tui.base.message_text import msg
from kimi_tui.base.paths import make_private_dir
from kimi_tui.history.session import Session, SessionStore
from kimi_tui.history.session_state import SessionState, encode_state, read_state
from kimi_tui.history.snapshots.blob_store import BlobMissing, max_whole_size
from kimi_tui.history.snapshots.entry import Entry
from kimi_tui.history.snapshots.manifest import Manifest, ManifestMissing, segment_of, session_of
from kimi_tui.history.snapshots.project_store import ProjectStore

SUFFIX = ".kimi.zip"
"""Suffix of bundles by convention."""
_VERSION = 1
_HEADER = "bundle.json"
_ROTATION = re.compile(r"context\.jsonl\.\d+")


@frozen(kw_only=True)
class ImportedBundle:
    """A session that was imported from a bundle."""

    session: Session
    restored_files: int | None
    """Number of files written to the working directory. None: the directory wasn't empty."""


def write_bundle(session: Session, *, data_dir: Path, target: Path) -> None:
    """Write a session to a new bundle, which only the user can read. Raises KimiTuiError."""
    temporary = target.with_name(f".{target.name}.new")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "wb") as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            _write_session(archive, session)
            _write_file_states(archive, session, data_dir)
        temporary.replace(target)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise KimiTuiError(
            msg("Can't write {path}: {reason}.", path=target, reason=error.strerror or error),
            hint="Free some disk space, or choose another file.",
        ) from error


def import_bundle(file: Path, *, work_dir: Path, data_dir: Path) -> ImportedBundle:
    """Create the session of a bundle in `work_dir`. If `work_dir` is empty, also restore the newest files.

    Permissions granted in the session aren't imported. Raises KimiTuiError.
    """
    with _reading(file) as archive:
        header = _read_header(archive)
        session = SessionStore(data_dir).create(work_dir, str(header["session_id"]))
        if session.dir.exists():
            raise KimiTuiError(
                msg("Session {id} already exists.", id=session.id),
                hint="Resume it, or delete it before you import it again.",
            )
        with ExitStack() as undo:
            undo.callback(shutil.rmtree, session.dir, ignore_errors=True)
            _extract_session(archive, session)
            restored = _extract_file_states(archive, session, data_dir)
            undo.pop_all()
    return ImportedBundle(session=Session(session.dir, work_dir), restored_files=restored)


def is_bundle(file: Path) -> bool:
    """Return whether a file is a bundle."""
    try:
        with zipfile.ZipFile(file) as archive:
            return _HEADER in archive.namelist()
    except (OSError, zipfile.BadZipFile):
        return False


def _write_session(archive: zipfile.ZipFile, session: Session) -> None:
    header = {
        "version": _VERSION,
        "session_id": session.id,
        "title": session.state.title,
        "work_dir": str(session.work_dir),
    }
    archive.writestr(_HEADER, json.dumps(header, ensure_ascii=False, indent=2) + "\n")
    for path in sorted(session.dir.rglob("*")):
        if path.is_file() and not path.is_symlink() and path.suffix != ".new":
            archive.write(path, f"session/{path.relative_to(session.dir).as_posix()}")


def _write_file_states(archive: zipfile.ZipFile, session: Session, data_dir: Path) -> None:
    store = ProjectStore(data_dir, session.work_dir, session.id)
    if not store.folder.is_dir():
        return
    store.open()
    try:
        records = list(store.manifests.all())
        segments = _segments_of(session.id, records)
        for name in sorted(segments):
            archive.write(store.folder / "manifests" / f"{name}.manifests", f"manifests/{name}.manifests")
        for digest in sorted(_contents_of(record for record in records if segment_of(record.id) in segments)):
            try:
                with archive.open(f"contents/{digest}", "w", force_zip64=True) as target:
                    for chunk in store.blobs.iter_chunks(digest):
                        target.write(chunk)
            except BlobMissing:
                continue  # deleted to free space: the import skips contents that don't match their digest
    finally:
        store.close()


def _segments_of(session_id: str, records: list[Manifest]) -> set[str]:
    """Return the segments of a session, and the segments of other sessions on which they are based."""
    builds_on: dict[str, set[str]] = {}
    for record in records:
        if record.whole is None and record.parent is not None:
            builds_on.setdefault(segment_of(record.id), set()).add(segment_of(record.parent))
    segments: set[str] = set()
    todo = [segment_of(record.id) for record in records if session_of(record.id) == session_id]
    while todo:
        if (name := todo.pop()) not in segments:
            segments.add(name)
            todo += builds_on.get(name, ())
    known = {segment_of(record.id) for record in records}
    return segments & known


def _contents_of(records: Iterator[Manifest]) -> set[str]:
    return {
        entry.ref
        for record in records
        for entries in (record.changes, record.whole or {})
        for entry in entries.values()
        if entry is not None and entry.kind == "file"
    }


@contextmanager
def _reading(file: Path) -> Iterator[zipfile.ZipFile]:
    try:
        with zipfile.ZipFile(file) as archive:
            yield archive
    except (OSError, zipfile.BadZipFile, EOFError) as error:
        reason = getattr(error, "strerror", None) or error
        raise KimiTuiError(
            msg("Can't import {path}: {reason}.", path=file, reason=reason),
            hint="Choose a bundle written by `kimi-tui sessions export ID --format bundle`.",
        ) from error


def _read_header(archive: zipfile.ZipFile) -> dict[str, Any]:
    try:
        header = json.loads(archive.read(_HEADER))
        if header["version"] <= _VERSION and isinstance(header["session_id"], str):
            return dict(header)
    except (KeyError, ValueError, TypeError):
        pass
    raise KimiTuiError(
        msg("{path} isn't a session bundle of this version.", path=archive.filename or ""),
        hint="Choose a bundle written by `kimi-tui sessions export ID --format bundle`, or update kimi-tui.",
    )


def _extract_session(archive: zipfile.ZipFile, session: Session) -> None:
    for member, name in _members(archive, "session"):
        target = session.dir / name
        make_private_dir(target.parent)
        descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as file, archive.open(member) as source:
            shutil.copyfileobj(source, file)
        if _ROTATION.fullmatch(target.name):  # the file's time is the time when the branch was left
            written = time.mktime((*member.date_time, 0, 0, -1))
            os.utime(target, (written, written))
    state = read_state(session.dir / "state.json") or SessionState()
    make_private_dir(session.dir)
    (session.dir / "state.json").write_bytes(encode_state(_imported_state(state, session.work_dir)))


def _imported_state(state: SessionState, work_dir: Path) -> SessionState:
    return replace(
        state, work_dir=str(work_dir), grants=(), sensitive_reads=(), yolo=False, additional_dirs=()
    )


def _extract_file_states(archive: zipfile.ZipFile, session: Session, data_dir: Path) -> int | None:
    store = ProjectStore(data_dir, session.work_dir, session.id)
    store.open()
    try:
        make_private_dir(store.folder / "manifests")
        with store.blobs.bulk_writer() as sink:
            for member, _ in _members(archive, "contents"):
                with archive.open(member) as source:
                    if member.file_size <= max_whole_size(sink):
                        sink.put(source.read())
                    else:
                        sink.put_pieces(_pieces(source, sink.piece))
        for member, name in _members(archive, "manifests"):
            target = store.folder / "manifests" / name.name
            if not target.exists():
                target.write_bytes(archive.read(member))
        return _restore_files(store, session)
    finally:
        store.close()


def _pieces(source: IO[bytes], size: int) -> Iterator[bytes]:
    while piece := source.read(size):
        yield piece


def _restore_files(store: ProjectStore, session: Session) -> int | None:
    """Write the newest file state to an empty working directory. Return the number of files.

    None: the working directory isn't empty.
    """
    root = session.work_dir
    root.mkdir(parents=True, exist_ok=True)
    if any(root.iterdir()):
        return None
    newest = store.manifests.newest(session.id)
    if newest is None:
        return 0
    try:
        entries = store.manifests.entries(newest)
    except ManifestMissing:
        return 0
    inside = [(path, entry) for path, entry in sorted(entries.items()) if _is_inside(path)]
    inside.sort(key=lambda item: item[1].kind == "link")  # last, so that no file is written through a link
    return sum(_restore_entry(store, root / path, entry) for path, entry in inside)


def _restore_entry(store: ProjectStore, path: Path, entry: Entry) -> bool:
    path.parent.mkdir(parents=True, exist_ok=True)
    match entry.kind:
        case "folder":
            path.mkdir(exist_ok=True)
            return False
        case "link":
            path.symlink_to(entry.ref)
            return True
        case "omitted":
            return False
        case "file":
            try:
                content = store.blobs.read(entry.ref)
            except BlobMissing:
                return False
            path.write_bytes(content)
            path.chmod(entry.mode & 0o777)
            return True


def _is_inside(path: str) -> bool:
    """Return whether an entry is in the working directory. Only these entries can be restored elsewhere."""
    parts = PurePosixPath(path).parts
    return bool(parts) and "//" not in path and not path.startswith("/") and ".." not in parts


def _members(archive: zipfile.ZipFile, folder: str) -> Iterator[tuple[zipfile.ZipInfo, PurePosixPath]]:
    """Yield the files in a folder of the archive, with their safe relative paths."""
    for member in archive.infolist():
        path = PurePosixPath(member.filename)
        if path.parts[:1] != (folder,) or member.is_dir():
            continue
        name = PurePosixPath(*path.parts[1:])
        if name.parts and ".." not in name.parts and "\\" not in member.filename:
            yield member, name
