"""Drafts on disk: an unsent prompt survives a crash of the process it was typed in."""

import json
import logging
import os
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import field
from functools import cache, cached_property
from pathlib import Path

from kimi_tui.base.frozen import frozen
from kimi_tui.base.ids import new_uid
from kimi_tui.base.paths import make_private_dir, work_dir_key
from kimi_tui.frontend.image_attachments import AttachedImage

logger = logging.getLogger(__name__)

_ABANDONED_S = 86_400.0


@frozen
class Draft:
    """The content of the prompt."""

    text: str
    pastes: dict[int, str] = field(default_factory=dict)
    """Pasted texts by the number in their tokens."""


@frozen
class OrphanDraft:
    """A draft that a dead process left."""

    draft: Draft
    images: tuple[tuple[int, AttachedImage], ...]
    """The images that the draft mentions, with their numbers."""
    file: Path


class DraftStore:
    """Stores this process's draft and finds drafts that dead processes left in the same working directory."""

    def __init__(self, *, data_dir: Path, work_dir: Path, pid: int | None = None, run: str = "") -> None:
        """`run` distinguishes this process from an earlier one with the same PID, as in a container."""
        self._folder = data_dir / "drafts"
        self._work_dir = work_dir
        self._pid = os.getpid() if pid is None else pid
        self._run = run or _run_id(self._pid)
        self._draft = Draft("")
        self._written: Draft | None = None
        """The draft on disk. None while it is unknown."""
        self._write_lock = threading.Lock()

    @cached_property
    def _key(self) -> str:
        return work_dir_key(self._work_dir)  # computed lazily, so that the first frame doesn't wait for it

    @cached_property
    def _own_file(self) -> Path:
        return self._folder / f"{self._key}.{self._pid}-{self._run}.json"

    def save(self, draft: Draft) -> None:
        """Write `draft`, or delete the file if the draft is empty. Raises OSError."""
        self.set_draft(draft)
        self.write()

    def set_draft(self, draft: Draft) -> None:
        """Set the draft. `write` saves it."""
        self._draft = draft

    def write(self) -> None:
        """Write the draft that was set last. Raises OSError.

        A delayed thread doesn't overwrite a newer draft: it also writes the last one.
        """
        with self._write_lock:
            draft = self._draft
            if draft == self._written:
                return
            self._written = None
            if draft.text.strip():
                self._replace(draft)
            else:
                self._remove()
            self._written = draft

    def _remove(self) -> None:
        self._own_file.unlink(missing_ok=True)
        for image in self._folder.glob(f"{self._own_file.stem}.*.image"):
            image.unlink(missing_ok=True)

    def _replace(self, draft: Draft) -> None:
        make_private_dir(self._folder)
        temporary = self._own_file.with_suffix(".new")
        content = {"text": draft.text, "pastes": {str(n): text for n, text in draft.pastes.items()}}
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(json.dumps(content).encode())
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(self._own_file)

    def find_orphan(self) -> OrphanDraft | None:
        """Return the newest draft that a dead process left, without claiming it."""
        for file in sorted(self._folder.glob(f"{self._key}.*.json"), key=_modified_at, reverse=True):
            if file != self._own_file and self._is_orphan(file) and (draft := _read_draft(file)) is not None:
                return OrphanDraft(draft, tuple(self._load_images(file)), file)
        return None

    def _is_orphan(self, file: Path) -> bool:
        """Return whether another process wrote `file` and is dead."""
        if os.name != "posix":  # on Windows, signal 0 is ctrl+c, so check the age instead
            return _modified_at(file) < time.time() - _ABANDONED_S
        try:
            pid = int(file.name.split(".")[1].partition("-")[0])
            if pid != self._pid:
                os.kill(pid, 0)
        except (ValueError, ProcessLookupError):
            return True
        except OSError:
            return False
        return pid == self._pid

    def claim(self, orphan: OrphanDraft) -> bool:
        """Replace this process's draft with `orphan`. Return False if another process claimed it first."""
        with self._write_lock:
            try:
                orphan.file.replace(self._own_file)
            except OSError:
                return False
            self._draft = self._written = orphan.draft
            for image in self._folder.glob(f"{orphan.file.stem}.*.image"):
                with suppress(OSError):
                    image.replace(self._folder / f"{self._own_file.stem}.{image.name.split('.')[2]}.image")
        return True

    def save_image(self, number: int, image: AttachedImage) -> None:
        """Save an image that the draft mentions. If saving fails, a crash loses the image."""
        try:
            make_private_dir(self._folder)
            file = self._folder / f"{self._own_file.stem}.{number}.image"
            descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with os.fdopen(descriptor, "wb") as stream:
                header = {"media_type": image.media_type, "size": image.size}
                stream.write(json.dumps(header).encode() + b"\n" + image.data)
        except OSError:
            logger.warning("can't save an image of the draft", exc_info=True)

    def _load_images(self, draft: Path) -> Iterator[tuple[int, AttachedImage]]:
        for file in self._folder.glob(f"{draft.stem}.*.image"):
            with suppress(OSError, ValueError, TypeError, KeyError):
                line, _, data = file.read_bytes().partition(b"\n")
                header = json.loads(line)
                width, height = header["size"]
                image = AttachedImage(
                    data=data, media_type=str(header["media_type"]), size=(int(width), int(height))
                )
                yield int(file.name.split(".")[2]), image


@cache
def _run_id(pid: int) -> str:
    return new_uid()


def _modified_at(file: Path) -> float:
    try:
        return file.stat().st_mtime
    except OSError:
        return 0.0


def _read_draft(file: Path) -> Draft | None:
    try:
        data = json.loads(file.read_bytes())
        text, pastes = data["text"], data.get("pastes", {})
        draft = Draft(str(text), {int(number): str(paste) for number, paste in pastes.items()})
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None
    return draft if draft.text.strip() else None
