"""Opens a task of a fleet as a session: read-only while it runs, and to resume it afterwards."""

import os
import subprocess
import tempfile
from pathlib import Path

from kimi_tui.base.errors import KimiTuiError, UsageError
from kimi_tui.base.frozen import frozen
from kimi_tui.base.message_text import msg
from kimi_tui.fleet.attempt_runner import PROGRAM
from kimi_tui.fleet.fleet_database import FleetDatabase, TaskLocation


@frozen(kw_only=True)
class TaskSession:
    """How to start the app on a task."""

    command: tuple[str, ...]
    work_dir: Path
    environment: dict[str, str]


def prepare_task_session(database: FleetDatabase, task_id: str, folder: Path | None) -> TaskSession:
    """Return how to open a task. The session and the files of a finished one are restored in `folder`.

    By default, that is a directory next to the database. Raises UsageError, KimiTuiError.
    """
    if (location := database.running(task_id)) is not None:
        return _running_session(task_id, location)
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
    target = folder or database.path.with_name(f"{database.path.name.split('.')[0]}-{task_id}")
    _import(result.bundle, target, session_id)
    return TaskSession(
        command=(*PROGRAM, "--session", session_id), work_dir=target, environment=dict(os.environ)
    )


def _running_session(task_id: str, location: TaskLocation) -> TaskSession:
    data_dir = Path(location.folder) / "data"
    sessions = list((data_dir / "tui-sessions").glob("*/*/context.jsonl")) if location.folder else []
    if not sessions:
        raise UsageError(
            msg("Task {id} runs on another machine, or its session hasn't started.", id=task_id),
            hint="Open it when it's done.",
        )
    return TaskSession(
        command=(*PROGRAM, "--session", sessions[0].parent.name, "--read-only"),
        work_dir=Path(location.folder) / "work",
        environment={**os.environ, "KIMI_SHARE_DIR": str(data_dir)},
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
