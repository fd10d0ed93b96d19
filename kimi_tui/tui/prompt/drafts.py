"""Drafts on disk: an unsent prompt outlives the process that it was typed in."""

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

from kimi_tui.base.identity import new_uid
from kimi_tui.base.paths import make_private_dir, work_dir_key
from kimi_tui.base.value import value
from kimi_tui.tui.images.album import Photo

logger = logging.getLogger(__name__)

_ABANDONED_S = 86_400.0


@value
class Draft:
    """What stands in the prompt."""

    text: str
    pastes: dict[int, str] = field(default_factory=dict)
    """The texts that its paste tokens stand for."""


@value
class Orphan:
    """A draft that a dead process left."""

    draft: Draft
    pictures: tuple[tuple[int, Photo], ...]
    """Those that it names, by number."""
    file: Path


class DraftStore:
    """The draft of this process, and those that dead processes left in the same work dir."""

    def __init__(self, *, share_dir: Path, work_dir: Path, pid: int | None = None, run: str = "") -> None:
        """`run` tells this process from an earlier one of the same number, as a container has."""
        self._folder = share_dir / "drafts"
        self._work_dir = work_dir
        self._pid = os.getpid() if pid is None else pid
        self._run = run or _run_of(self._pid)
        self._held = Draft("")
        self._written: Draft | None = None
        """What is on disk; None while that isn't known."""
        self._writing = threading.Lock()

    @cached_property
    def _key(self) -> str:
        return work_dir_key(self._work_dir)  # after the first frame, as that of the history

    @cached_property
    def _own(self) -> Path:
        return self._folder / f"{self._key}.{self._pid}-{self._run}.json"

    def save(self, draft: Draft) -> None:
        """Write `draft`; an empty one removes the file. Raises OSError."""
        self.hold(draft)
        self.write()

    def hold(self, draft: Draft) -> None:
        """From now on `draft` is what stands in the prompt; `write` brings it to the disk."""
        self._held = draft

    def write(self) -> None:
        """Write what is held by now, so that a thread that comes late puts nothing old on the disk.

        Raises OSError.
        """
        with self._writing:
            draft = self._held
            if draft == self._written:
                return
            self._written = None
            if draft.text.strip():
                self._replace(draft)
            else:
                self._remove()
            self._written = draft

    def _remove(self) -> None:
        self._own.unlink(missing_ok=True)
        for picture in self._folder.glob(f"{self._own.stem}.*.image"):
            picture.unlink(missing_ok=True)

    def _replace(self, draft: Draft) -> None:
        make_private_dir(self._folder)
        fresh = self._own.with_suffix(".new")
        content = {"text": draft.text, "pastes": {str(n): text for n, text in draft.pastes.items()}}
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(json.dumps(content).encode())
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(self._own)

    def orphan(self) -> Orphan | None:
        """The newest draft that a dead process left; it stays where it is until it is claimed."""
        for file in sorted(self._folder.glob(f"{self._key}.*.json"), key=_changed, reverse=True):
            if file != self._own and self._is_orphan(file) and (draft := _read(file)) is not None:
                return Orphan(draft, tuple(self._pictures_of(file)), file)
        return None

    def _is_orphan(self, file: Path) -> bool:
        """Whether the process that wrote `file` is dead; it isn't this one."""
        if os.name != "posix":  # there, signal 0 would be a Ctrl+C: only age tells
            return _changed(file) < time.time() - _ABANDONED_S
        try:
            pid = int(file.name.split(".")[1].partition("-")[0])
            if pid != self._pid:
                os.kill(pid, 0)
        except (ValueError, ProcessLookupError):
            return True
        except OSError:
            return False
        return pid == self._pid

    def claim(self, orphan: Orphan) -> bool:
        """Make `orphan` this process's draft, in place of its own; False when another process was faster."""
        with self._writing:
            try:
                orphan.file.replace(self._own)
            except OSError:
                return False
            self._held = self._written = orphan.draft
            for picture in self._folder.glob(f"{orphan.file.stem}.*.image"):
                with suppress(OSError):
                    picture.replace(self._folder / f"{self._own.stem}.{picture.name.split('.')[2]}.image")
        return True

    def keep_picture(self, number: int, photo: Photo) -> None:
        """Keep a picture that the draft names. A disk that refuses costs it only in a crash."""
        try:
            make_private_dir(self._folder)
            file = self._folder / f"{self._own.stem}.{number}.image"
            descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with os.fdopen(descriptor, "wb") as stream:
                head = {"media_type": photo.media_type, "size": photo.size}
                stream.write(json.dumps(head).encode() + b"\n" + photo.data)
        except OSError:
            logger.warning("a picture of the draft can't be kept", exc_info=True)

    def _pictures_of(self, draft: Path) -> Iterator[tuple[int, Photo]]:
        for file in self._folder.glob(f"{draft.stem}.*.image"):
            with suppress(OSError, ValueError, TypeError, KeyError):
                head, _, data = file.read_bytes().partition(b"\n")
                known = json.loads(head)
                width, height = known["size"]
                photo = Photo(data=data, media_type=str(known["media_type"]), size=(int(width), int(height)))
                yield int(file.name.split(".")[2]), photo


@cache
def _run_of(pid: int) -> str:
    return new_uid()


def _changed(file: Path) -> float:
    try:
        return file.stat().st_mtime
    except OSError:
        return 0.0


def _read(file: Path) -> Draft | None:
    try:
        data = json.loads(file.read_bytes())
        text, pastes = data["text"], data.get("pastes", {})
        draft = Draft(str(text), {int(number): str(paste) for number, paste in pastes.items()})
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None
    return draft if draft.text.strip() else None
