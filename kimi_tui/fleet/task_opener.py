"""Opens a task of a fleet as a session: read-only while it runs, and to resume it afterwards."""

import subprocess
import tempfile
from pathlib import Path

from kimi_tui.base.errors import KimiTuiError, UsageError
from kimi_tui.base.message_text import msg
from kimi_tui.config.own_program import PROGRAM
from kimi_tui.fleet.fleet_database import FleetDatabase, TaskLocation
from kimi_tui.frontend.fleet.opened_task import OpenedTask
from kimi_tui.frontend.fleet.progress import SUFFIX


def open_task(database: FleetDatabase, task_id: str, folder: Path | None = None) -> OpenedTask:
    """Return the session of a task. The session and the files of a finished one are restored in `folder`.

    By default, that is a directory next to the database. Raises UsageError, KimiTuiError.
    """
    if (location := database.running(task_id)) is not None:
        return _running_task(task_id, location)
    result = database.result(task_id)
    if result is None:
        raise UsageError(
            msg("Task {id} has no result yet.", id=task_id), hint="Open it once it runs or is done."
        )
    session_id = result.result.get("session_id") or ""
    if not result.bundle or not session_id:
        raise UsageError(
            msg("Task {id} has no session.", id=task_id), hint="Its agent didn't start; see the report."
        )
    target = folder or database.path.with_name(f"{database.path.name.removesuffix(SUFFIX)}-{task_id}")
    _import(result.bundle, target, session_id)
    return OpenedTask(session_id=session_id, work_dir=target)


def start_command(task: OpenedTask) -> tuple[str, ...]:
    """Return the options of kimi-tui that open a task."""
    return ("--session", task.session_id, *(("--read-only",) if task.is_running else ()))


def _running_task(task_id: str, location: TaskLocation) -> OpenedTask:
    data_dir = Path(location.folder) / "data"
    sessions = list((data_dir / "tui-sessions").glob("*/*/context.jsonl")) if location.folder else []
    if not sessions:
        raise UsageError(
            msg("Task {id} runs on another machine, or its session hasn't started.", id=task_id),
            hint="Open it when it's done.",
        )
    return OpenedTask(
        session_id=sessions[0].parent.name, work_dir=Path(location.folder) / "work", data_dir=data_dir
    )


def _import(bundle: bytes, target: Path, session_id: str) -> None:
    """Restore a session in a directory, unless it was restored there before."""
    marker = target.with_name(f".{target.name}.session")
    if marker.is_file() and marker.read_text("utf-8") == session_id:
        return
    target.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(suffix=".zip") as file:
        file.write(bundle)
        file.flush()
        imported = subprocess.run(
            [*PROGRAM, "sessions", "import", file.name],
            cwd=target,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
    if imported.returncode != 0:
        raise KimiTuiError(imported.stderr.strip(), hint="Choose another directory with --folder.")
    marker.write_text(session_id, "utf-8")
