"""Background tasks on disk: `tasks/ID.json` in the session's directory, next to the output."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

from kimi_tui.base.atomic_file import write_private_atomic
from kimi_tui.base.frozen import frozen
from kimi_tui.base.json_codec import from_jsonable, to_jsonable
from kimi_tui.base.message_text import add_texts, restore_texts
from kimi_tui.wire.background import BackgroundTask

_RECORD_NAME = re.compile(r"(?:bash|agent)-(\d+)\.json")


@frozen(kw_only=True)
class TaskRecord:
    """A task and the data about it that only kimi-tui needs."""

    task: BackgroundTask
    call_id: str = ""
    """Id of the tool call that started the task."""
    group: int | None = None
    """Process group of the task's command."""
    told: bool = False
    """Whether the model has been notified that the task has ended."""


def write_record(folder: Path, record: TaskRecord) -> None:
    """Save `record`, replacing an earlier one of the same task. Raises OSError."""
    text = json.dumps(add_texts(to_jsonable(record), record), ensure_ascii=False)
    write_private_atomic(folder / f"{record.task.id}.json", f"{text}\n")


def read_records(folder: Path) -> Iterator[TaskRecord]:
    """Yield the saved tasks, oldest first, without those that can't be read."""
    numbered_names = [
        (int(match[1]), match[0]) for match in map(_RECORD_NAME.fullmatch, _file_names(folder)) if match
    ]
    for _, name in sorted(numbered_names):
        try:
            data = json.loads((folder / name).read_bytes())
            record = from_jsonable(TaskRecord, data)
        except (OSError, ValueError, RecursionError):
            continue
        yield restore_texts(record, data.get("texts"))


def last_number(folder: Path) -> int:
    """Return the number of the newest task; 0 if no task is saved."""
    return max(
        (int(match[1]) for match in map(_RECORD_NAME.fullmatch, _file_names(folder)) if match), default=0
    )


def _file_names(folder: Path) -> list[str]:
    try:
        return [path.name for path in folder.iterdir()]
    except OSError:
        return []
