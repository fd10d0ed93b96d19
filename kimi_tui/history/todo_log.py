"""The todo log: which todo list stood at which checkpoint, so that a jump can bring it along.

`todos.jsonl` in the session's folder has a line for each change: {"from": the id of the next checkpoint then,
"items": the list}. Ids never repeat: the list at a checkpoint is that of the last line that is not after it.
"""

import json
import os
from collections.abc import Iterator
from pathlib import Path

from kimi_tui.base.encoding import from_jsonable, to_jsonable
from kimi_tui.base.paths import make_private_dir
from kimi_tui.history.disk import APPENDING, LOCAL_DISK, Disk, write_all
from kimi_tui.history.notation import well_formed
from kimi_tui.wire.display import TodoItem

FILE_NAME = "todos.jsonl"
Todos = tuple[TodoItem, ...]


class TodoLog:
    """The lists of one session. Its methods block, and raise OSError."""

    def __init__(self, folder: Path, *, disk: Disk = LOCAL_DISK) -> None:
        self._path = folder / FILE_NAME
        self._disk = disk

    def note(self, items: Todos, *, since: int, instead_of: Todos) -> None:
        """Note that the list is `items` from checkpoint `since` on, `instead_of` another one."""
        lines = [] if not instead_of or self._path.exists() else [_line(0, instead_of)]
        lines.append(_line(since, items))
        make_private_dir(self._path.parent)
        file = self._disk.open(self._path, APPENDING)
        try:
            write_all(self._disk, file, (b"" if self._ends_whole() else b"\n") + b"".join(lines))
            self._disk.fsync(file)
        finally:
            self._disk.close(file)

    def at(self, checkpoint_id: int) -> Todos | None:
        """The list at a checkpoint; None when nothing is known."""
        found: Todos | None = None
        for since, items in self._lines():
            if since <= checkpoint_id:
                found = items
            elif found is None:
                found = ()
        return found

    def _lines(self) -> Iterator[tuple[int, Todos]]:
        """What can be read of it; a line that was cut off or damaged costs itself."""
        try:
            data = self._path.read_bytes()
        except FileNotFoundError:
            return
        for line in data.split(b"\n"):
            try:
                record = json.loads(line)
                yield int(record["from"]), from_jsonable(Todos, record["items"])
            except (ValueError, KeyError, TypeError, RecursionError):
                continue

    def _ends_whole(self) -> bool:
        with self._path.open("rb") as file:
            if not file.seek(0, os.SEEK_END):
                return True
            file.seek(-1, os.SEEK_END)
            return file.read(1) == b"\n"


def _line(since: int, items: Todos) -> bytes:
    record = {"from": since, "items": [to_jsonable(item) for item in items]}
    return json.dumps(well_formed(record), ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
