"""A background task as it is kept on disk: `tasks/ID.json` in the session's folder, its output beside it."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

from kimi_tui.base.encoding import from_jsonable, to_jsonable
from kimi_tui.base.private_file import replace_private_file
from kimi_tui.base.value import value
from kimi_tui.wire.background import BackgroundTask

_NAME = re.compile(r"(?:bash|agent)-(\d+)\.json")


@value(kw_only=True)
class TaskRecord:
    """A task, and what only this program needs to know of it."""

    task: BackgroundTask
    call_id: str = ""
    """The tool call that started it."""
    group: int | None = None
    """The process group of its command."""
    told: bool = False
    """Whether the model knows that it has ended."""


def write_record(folder: Path, record: TaskRecord) -> None:
    """Keep `record`, in the place of an earlier one of the same task. Raises OSError."""
    text = json.dumps(to_jsonable(record), ensure_ascii=False)
    replace_private_file(folder / f"{record.task.id}.json", f"{text}\n")


def read_records(folder: Path) -> Iterator[TaskRecord]:
    """The tasks that are kept, oldest first. One that can't be read is left out."""
    found = [(int(match[1]), match[0]) for match in map(_NAME.fullmatch, _names(folder)) if match]
    for _, name in sorted(found):
        try:
            yield from_jsonable(TaskRecord, json.loads((folder / name).read_bytes()))
        except (OSError, ValueError, RecursionError):
            continue


def last_number(folder: Path) -> int:
    """The number of the newest task; 0 when there was none."""
    return max((int(match[1]) for match in map(_NAME.fullmatch, _names(folder)) if match), default=0)


def _names(folder: Path) -> list[str]:
    try:
        return [path.name for path in folder.iterdir()]
    except OSError:
        return []
