"""Git patches of the file changes between two checkpoints, or between one and now."""

import re
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

import aiofiles

from kimi_tui.base.disk_errors import reason_of
from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.message_text import msg
from kimi_tui.engine.files.coverage import display_path
from kimi_tui.engine.files.session_files import SessionFiles
from kimi_tui.engine.timeline.compare import resolve_states
from kimi_tui.history.context import Context
from kimi_tui.wire.commands import WritePatch
from kimi_tui.wire.timeline import Comparison, PatchWritten

if TYPE_CHECKING:
    from kimi_tui.history.snapshots.deadline import ScanDeadline
    from kimi_tui.history.snapshots.file_history import FileHistory
    from kimi_tui.history.snapshots.patch import Patch

_DEFAULT_NAME = re.compile(r"checkpoint-\d+-to-(?:now|\d+)(?:-\d+)?\.patch")
"""Default names of patch files. Later patches exclude these files."""


async def build_patch(context: Context, files: SessionFiles, before: int, after: int | None) -> "Patch":
    """Return a patch that turns the files at `before` into those at `after`, or into the current files.

    Raises KimiTuiError if a checkpoint doesn't exist or its files are unknown, and SessionError.
    """
    states = resolve_states(await context.tree(), before, after)
    if isinstance(states, Comparison):
        raise KimiTuiError(states.note, hint="Choose another checkpoint.")
    first, *second = states

    def compute_patch(history: "FileHistory", deadline: "ScanDeadline") -> "Patch":
        target = second[0] if second else history.capture().manifest
        return history.patch(first, target, exclude=_DEFAULT_NAME.fullmatch, deadline=deadline)

    return await files.worker.run_query(compute_patch)


async def write_patch(
    context: Context, files: SessionFiles, command: WritePatch, *, work_dir: Path
) -> PatchWritten | None:
    """Write the patch that `command` requests. Return None if no files differ. Raises KimiTuiError."""
    patch = await build_patch(context, files, command.before, command.after)
    omitted = tuple(f"{display_path(path)}: {reason}" for path, reason in patch.omitted)
    if not patch.text:
        return None
    path = work_dir / Path(command.path).expanduser() if command.path else _free_name(work_dir, command)
    await _write(path, patch.text)
    return PatchWritten(str(path), command.before, command.after, len(patch.paths), omitted)


async def _write(path: Path, text: bytes) -> None:
    try:
        async with aiofiles.open(path, "xb") as file:
            await file.write(text)
    except FileExistsError as error:
        raise KimiTuiError(
            msg("{path} already exists.", path=path), hint="Choose another file name."
        ) from error
    except (OSError, ValueError) as error:
        raise KimiTuiError(
            msg("Can't write {path}: {reason}.", path=path, reason=reason_of(error)),
            hint="Choose another file name.",
        ) from error


def _free_name(work_dir: Path, command: WritePatch) -> Path:
    name = f"checkpoint-{command.before}-to-{'now' if command.after is None else command.after}"
    names = (f"{name}-{number}.patch" if number > 1 else f"{name}.patch" for number in count(1))
    return next(path for path in map(work_dir.joinpath, names) if not path.exists())
