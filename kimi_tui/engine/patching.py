"""Patches: how the files differ between two checkpoints, or a checkpoint and now, written for git."""

import asyncio
import re
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from kimi_tui.base.disk_errors import reason_of
from kimi_tui.base.errors import KimiTuiError
from kimi_tui.engine.comparing import states_of
from kimi_tui.engine.coverage import shown_path
from kimi_tui.engine.session_files import SessionFiles
from kimi_tui.history.context import Context
from kimi_tui.wire.commands import WritePatch
from kimi_tui.wire.timeline import Comparison, PatchWritten

if TYPE_CHECKING:
    from kimi_tui.history.snapshots.file_history import FileHistory
    from kimi_tui.history.snapshots.patch import Patch
    from kimi_tui.history.snapshots.patience import Patience

_OWN = re.compile(r"checkpoint-\d+-to-(?:now|\d+)(?:-\d+)?\.patch")
"""What patches are called that nobody named; later ones don't hold them."""


async def patch_between(context: Context, files: SessionFiles, before: int, after: int | None) -> "Patch":
    """What makes the files at `after`, or those of now, of those at `before`.

    Raises KimiTuiError when there is no such checkpoint or its files aren't known, SessionError.
    """
    states = states_of(await context.tree(), before, after)
    if isinstance(states, Comparison):
        raise KimiTuiError(states.note, hint="Choose another checkpoint.")
    first, *second = states

    def made(history: "FileHistory", patience: "Patience") -> "Patch":
        then = second[0] if second else history.capture().manifest
        return history.patch(first, then, without=_OWN.fullmatch, patience=patience)

    return await files.look_through(made)


async def write_patch(
    context: Context, files: SessionFiles, command: WritePatch, *, work_dir: Path
) -> PatchWritten | None:
    """Do what `command` says; None when there is nothing to write. Raises KimiTuiError."""
    patch = await patch_between(context, files, command.before, command.after)
    left_out = tuple(f"{shown_path(path)}: {why}" for path, why in patch.left_out)
    if not patch.text:
        return None
    path = work_dir / Path(command.path).expanduser() if command.path else None
    written = await asyncio.to_thread(_write, patch.text, path, command, work_dir)
    return PatchWritten(str(written), command.before, command.after, len(patch.paths), left_out)


def _write(text: bytes, named: Path | None, command: WritePatch, work_dir: Path) -> Path:
    path = named or _free_name(work_dir, command)
    try:
        with path.open("xb") as file:
            file.write(text)
    except FileExistsError as error:
        raise KimiTuiError(f"{path} is there already.", hint="Name another file.") from error
    except (OSError, ValueError) as error:
        raise KimiTuiError(
            f"{path} can't be written: {reason_of(error)}.", hint="Name another file."
        ) from error
    return path


def _free_name(work_dir: Path, command: WritePatch) -> Path:
    name = f"checkpoint-{command.before}-to-{'now' if command.after is None else command.after}"
    names = (f"{name}-{number}.patch" if number > 1 else f"{name}.patch" for number in count(1))
    return next(path for path in map(work_dir.joinpath, names) if not path.exists())
