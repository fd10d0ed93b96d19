"""Tasks of a fleet, one JSON object per line of a file."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from kimi_tui.base.errors import UsageError
from kimi_tui.base.frozen import frozen
from kimi_tui.base.message_text import msg

_ID_PATTERN = r"^[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}$"
_MAX_PROBLEMS = 3
"""Problems of one line that are reported."""


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class FolderSource(_Strict):
    """A copy of a folder."""

    folder: str = Field(min_length=1)
    """Path, relative to the task file."""


class GitSource(_Strict):
    """A clone of a repository."""

    git: str = Field(min_length=1)
    """URL, or a path relative to the task file."""
    commit: str = "HEAD"
    """Commit, tag or branch."""


class BundleSource(_Strict):
    """A session bundle, whose session the task continues."""

    bundle: str = Field(min_length=1)
    """Path, relative to the task file."""
    checkpoint: int | None = None
    """Checkpoint to revert to first. None: the end."""


class TaskLimits(_Strict):
    """Limits of one task."""

    max_cost: float | None = Field(None, gt=0)
    """US dollars, all attempts together."""
    max_time: float = Field(3600, gt=0)
    """Seconds for the agent."""
    max_steps: int | None = Field(None, ge=1)
    check_time: float = Field(600, gt=0)
    """Seconds for the check."""


def _source_of(value: Any) -> Any:
    return {"folder": value} if isinstance(value, str) else value


class FleetTask(_Strict):
    """One task: a prompt, where to run it, and how to check the result."""

    id: str = Field("", pattern=rf"^$|{_ID_PATTERN}")
    """By default the line number."""
    prompt: str = Field(min_length=1)
    source: Annotated[FolderSource | GitSource | BundleSource | None, BeforeValidator(_source_of)] = None
    """A path is short for a folder. None: an empty directory."""
    check: str | None = None
    """Shell command that exits with 0 if the result is right."""
    limits: TaskLimits = TaskLimits()
    agent: str | None = None
    model: str | None = None


@frozen
class InvalidLine:
    """A line that isn't a task."""

    number: int
    problem: str


@frozen
class TaskFile:
    """The tasks of a file, and its invalid lines."""

    tasks: tuple[FleetTask, ...]
    invalid: tuple[InvalidLine, ...]


def read_task_file(path: Path) -> TaskFile:
    """Read a task file. Relative paths in it are resolved. Raises UsageError if the file can't be read."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UsageError(
            msg("Can't read {path}: {reason}.", path=path, reason=error.strerror or error),
            hint="Choose a file with one JSON object per line.",
        ) from error
    return _parse_lines(data.split(b"\n"), path.absolute().parent)


def _parse_lines(lines: Iterable[bytes], folder: Path) -> TaskFile:
    tasks: dict[str, FleetTask] = {}
    invalid = []
    for number, line in _numbered_lines(lines):
        try:
            task = FleetTask.model_validate(json.loads(line.decode()))
        except ValidationError as error:
            invalid.append(InvalidLine(number, _describe(error)))
            continue
        except (ValueError, RecursionError) as error:
            invalid.append(InvalidLine(number, f"not valid JSON ({error})"))
            continue
        task = _resolve(task.model_copy(update={"id": task.id or str(number)}), folder)
        if task.id in tasks:
            invalid.append(InvalidLine(number, f"the id “{task.id}” occurs twice"))
        else:
            tasks[task.id] = task
    return TaskFile(tuple(tasks.values()), tuple(invalid))


def _numbered_lines(lines: Iterable[bytes]) -> Iterator[tuple[int, bytes]]:
    for number, line in enumerate(lines, 1):
        if line.strip() and not line.lstrip().startswith(b"#"):
            yield number, line


def _describe(error: ValidationError) -> str:
    problems = dict.fromkeys(
        f"{'.'.join(str(part) for part in each['loc'] if str(part).islower())}: {each['msg']}"
        for each in error.errors()
    )
    return "; ".join(list(problems)[:_MAX_PROBLEMS])


def _resolve(task: FleetTask, folder: Path) -> FleetTask:
    match task.source:
        case FolderSource(folder=path):
            source: Any = FolderSource(folder=_absolute(folder, path))
        case BundleSource(bundle=path, checkpoint=checkpoint):
            source = BundleSource(bundle=_absolute(folder, path), checkpoint=checkpoint)
        case GitSource(git=url, commit=commit) if (
            "://" not in url and (folder / Path(url).expanduser()).exists()
        ):
            source = GitSource(git=_absolute(folder, url), commit=commit)
        case _:
            return task
    return task.model_copy(update={"source": source})


def _absolute(folder: Path, path: str) -> str:
    return str((folder / Path(path).expanduser()).resolve())
