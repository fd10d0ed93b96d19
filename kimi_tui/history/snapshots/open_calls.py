"""Log of the tool calls that may be changing files, so that a killed process leaves a record of them."""

import contextlib
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from kimi_tui.base.frozen import frozen
from kimi_tui.base.ids import new_uid
from kimi_tui.base.paths import make_private_dir
from kimi_tui.history.snapshots.attribution import ChangeAuthor

HEARTBEAT_S = 1.0
"""Interval in seconds at which the file of an open call is touched."""
_TOLERANCE_S = 2.0


@frozen
class InterruptedCall:
    """A call that is running, or was running when its process was killed."""

    author: ChangeAuthor
    ended: float
    """Latest time at which its process can have been killed, in seconds since the epoch.

    In the near future if the process runs. Its child processes may live longer.
    """


class OpenCallLog:
    """One file for each open call of a session. The methods block and raise OSError."""

    def __init__(self, folder: Path, session: str) -> None:
        self._folder = folder
        self._session = session

    def begin(self, author: ChangeAuthor) -> Path:
        """Record that a call begins.

        Returns its file. The caller touches it every `HEARTBEAT_S` seconds and deletes it at the end.
        """
        make_private_dir(self._folder)
        file = self._folder / f"{self._session}.{new_uid()}.json"
        file.touch(mode=0o600)
        file.write_text(json.dumps({field: value for field, value in asdict(author).items() if value}))
        return file

    def interrupted(self) -> InterruptedCall | None:
        """Return the newest call that an earlier process of the session left open, or None."""
        calls = [call for file in self._files() if (call := _read_call(file)) is not None]
        return max(calls, key=lambda call: call.ended, default=None)

    def in_other_sessions(self) -> list[InterruptedCall]:
        """Return the calls of other sessions that are open, or were open when their process was killed."""
        own = set(self._files())
        files = [file for file in self._folder.glob("*.json") if file not in own]
        return [call for file in files if (call := _read_call(file)) is not None]

    def clear(self) -> None:
        """Forget the calls of earlier processes."""
        for file in self._files():
            file.unlink(missing_ok=True)

    def _files(self) -> list[Path]:
        return list(self._folder.glob(f"{self._session}.*.json"))


def _read_call(file: Path) -> InterruptedCall | None:
    with contextlib.suppress(OSError, ValueError, TypeError):
        fields: dict[str, Any] = json.loads(file.read_text("utf-8"))
        return InterruptedCall(ChangeAuthor(**fields), file.stat().st_mtime + _TOLERANCE_S)
    return None
