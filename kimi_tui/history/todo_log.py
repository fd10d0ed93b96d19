"""Log of the todo list at each checkpoint, so that a revert can restore it.

`todos.jsonl` in the session directory has one line per change: {"from": id of the next checkpoint at that
time, "items": the list}. Ids never repeat, so the list at a checkpoint is in the last line with a "from" up
to the checkpoint's id.
"""

import json
import os
from collections.abc import Iterator
from pathlib import Path

from kimi_tui.base.json_codec import from_jsonable, to_jsonable
from kimi_tui.base.paths import make_private_dir
from kimi_tui.history.filesystem import APPEND_FLAGS, LOCAL_FILE_SYSTEM, FileSystem, write_all
from kimi_tui.history.record_codec import replace_surrogates
from kimi_tui.wire.display_blocks import TodoItem

FILE_NAME = "todos.jsonl"
Todos = tuple[TodoItem, ...]


class TodoLog:
    """The todo lists of one session. The methods block and raise OSError."""

    def __init__(self, folder: Path, *, fs: FileSystem = LOCAL_FILE_SYSTEM) -> None:
        self._path = folder / FILE_NAME
        self._fs = fs

    def record(self, items: Todos, *, since: int, previous: Todos) -> None:
        """Record that the list is `items` from checkpoint `since` on, replacing `previous`."""
        lines = [] if not previous or self._path.exists() else [_encode_line(0, previous)]
        lines.append(_encode_line(since, items))
        make_private_dir(self._path.parent)
        file = self._fs.open(self._path, APPEND_FLAGS)
        try:
            write_all(self._fs, file, (b"" if self._ends_with_newline() else b"\n") + b"".join(lines))
            self._fs.fsync(file)
        finally:
            self._fs.close(file)

    def items_at(self, checkpoint_id: int) -> Todos | None:
        """Return the list at a checkpoint; None if unknown."""
        todos: Todos | None = None
        for since, items in self._lines():
            if since <= checkpoint_id:
                todos = items
            elif todos is None:
                todos = ()
        return todos

    def _lines(self) -> Iterator[tuple[int, Todos]]:
        """Yield (since, items) of each valid line. Truncated or damaged lines are skipped."""
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

    def _ends_with_newline(self) -> bool:
        with self._path.open("rb") as file:
            if not file.seek(0, os.SEEK_END):
                return True
            file.seek(-1, os.SEEK_END)
            return file.read(1) == b"\n"


def _encode_line(since: int, items: Todos) -> bytes:
    record = {"from": since, "items": [to_jsonable(item) for item in items]}
    return json.dumps(replace_surrogates(record), ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
