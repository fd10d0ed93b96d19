"""File that holds a session's plan: `plans/ID.md` in the data directory."""

import asyncio
import os
from pathlib import Path

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
        return await asyncio.to_thread(_read, self.path)

    async def write(self, plan: str) -> None:
        """Replace the plan. Raises FileProblem."""
        await asyncio.to_thread(_write, self.path, plan)

    async def clear(self) -> None:
        """Delete the plan. Raises FileProblem."""
        await asyncio.to_thread(_remove, self.path)


def _read(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return file.read(MAX_BYTES).decode("utf-8", "replace")
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise _file_problem(path, "read", error) from error


def _write(path: Path, plan: str) -> None:
    clean = plan.encode("utf-8", "replace").decode()
    try:
        write_private_atomic(path, f"{clean.rstrip()}\n")
    except OSError as error:
        raise _file_problem(path, "save", error) from error


def _remove(path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise _file_problem(path, "delete", error) from error


def _file_problem(path: Path, action: str, error: OSError) -> FileProblem:
    return FileProblem(
        f"Can't {action} the plan: {error.strerror or error} ({path}).",
        hint="The user can make the directory writable, or set KIMI_SHARE_DIR to another one.",
    )
