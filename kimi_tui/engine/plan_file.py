"""The file that holds a session's plan: `plans/ID.md` in the share dir."""

import asyncio
import os
from pathlib import Path

from kimi_tui.base.errors import FileProblem
from kimi_tui.base.private_file import replace_private_file

MAX_BYTES = 1_000_000
"""What is read of it."""


class PlanFile:
    """The plan of one session."""

    def __init__(self, share_dir: Path, session_id: str) -> None:
        self.path = Path(os.path.abspath(share_dir)) / "plans" / f"{session_id}.md"  # noqa: PTH100

    async def read(self) -> str:
        """The plan; empty when there is none. Raises FileProblem."""
        return await asyncio.to_thread(_read, self.path)

    async def write(self, plan: str) -> None:
        """Replace it. Raises FileProblem."""
        await asyncio.to_thread(_write, self.path, plan)

    async def clear(self) -> None:
        """Remove it. Raises FileProblem."""
        await asyncio.to_thread(_remove, self.path)


def _read(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return file.read(MAX_BYTES).decode("utf-8", "replace")
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise _problem(path, "read", error) from error


def _write(path: Path, plan: str) -> None:
    clean = plan.encode("utf-8", "replace").decode()
    try:
        replace_private_file(path, f"{clean.rstrip()}\n")
    except OSError as error:
        raise _problem(path, "written", error) from error


def _remove(path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise _problem(path, "removed", error) from error


def _problem(path: Path, done: str, error: OSError) -> FileProblem:
    return FileProblem(
        f"The plan can't be {done}: {error.strerror or error} ({path}).",
        hint="The user can make the folder writable, or name another one with KIMI_SHARE_DIR.",
    )
