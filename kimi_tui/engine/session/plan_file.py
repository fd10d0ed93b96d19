"""File that holds a session's plan: `plans/ID.md` in the data directory."""

import asyncio
import os
from pathlib import Path

import aiofiles
import aiofiles.os

from kimi_tui.base.atomic_file import write_private_atomic
from kimi_tui.base.errors import FileProblem

MAX_BYTES = 1_000_000
"""Maximum number of bytes that are read."""


class PlanFile:
    """Plan of one session."""

    def __init__(self, data_dir: Path, session_id: str) -> None:
        self.path = Path(os.path.abspath(data_dir)) / "plans" / f"{session_id}.md"  # noqa: PTH100

    async def read(self) -> str:
        """Return the plan, or an empty string. Raises FileProblem."""
        try:
            async with aiofiles.open(self.path, "rb") as file:
                return (await file.read(MAX_BYTES)).decode("utf-8", "replace")
        except FileNotFoundError:
            return ""
        except OSError as error:
            raise _file_problem(self.path, "read", error) from error

    async def write(self, plan: str) -> None:
        """Replace the plan. Raises FileProblem."""
        await asyncio.to_thread(_write, self.path, plan)

    async def clear(self) -> None:
        """Delete the plan. Raises FileProblem."""
        try:
            await aiofiles.os.unlink(self.path)
        except FileNotFoundError:
            pass
        except OSError as error:
            raise _file_problem(self.path, "delete", error) from error


def _write(path: Path, plan: str) -> None:
    clean = plan.encode("utf-8", "replace").decode()
    try:
        write_private_atomic(path, f"{clean.rstrip()}\n")
    except OSError as error:
        raise _file_problem(path, "save", error) from error


def _file_problem(path: Path, action: str, error: OSError) -> FileProblem:
    return FileProblem(
        f"Can't {action} the plan: {error.strerror or error} ({path}).",
        hint="The user can make the directory writable, or set KIMI_SHARE_DIR to another one.",
    )
