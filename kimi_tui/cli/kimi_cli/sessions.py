"""Import of a Kimi CLI session: conversation, branches, sub-agents, title and todos."""

import os
import shutil
import time
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from kimi_tui.base.json_codec import from_jsonable
from kimi_tui.base.paths import make_private_dir
from kimi_tui.base.terminal_text import sanitize_line
from kimi_tui.cli.kimi_cli.checkpoint_ids import renumber_branches
from kimi_tui.cli.kimi_cli.data_dir import KimiCliSession, read_object
from kimi_tui.cli.kimi_cli.subagents import copy_subagents
from kimi_tui.history.filesystem import LOCAL_FILE_SYSTEM, replace_file
from kimi_tui.history.session_index import SessionIndex
from kimi_tui.history.session_state import SessionState, encode_state
from kimi_tui.wire.display_blocks import TodoItem


def copy_session(kimi_cli_session: KimiCliSession, data_dir: Path) -> int | None:
    """Copy a session into our data directory. Return its number of sub-agents, or None if it already exists.

    Raises OSError. The session appears completely or not at all. Grants and yolo mode aren't copied, because
    the user gave them to another program.
    """
    project = data_dir / "sessions" / kimi_cli_session.key
    target = project / kimi_cli_session.id
    if target.exists():
        return None
    temporary = project / f".{kimi_cli_session.id}"
    shutil.rmtree(temporary, ignore_errors=True)
    make_private_dir(temporary)
    try:
        for name, source in kimi_cli_session.files.items():
            shutil.copy2(
                source, temporary / name
            )  # keeps the modification time, which determines the last used session
            (temporary / name).chmod(0o600)
        _renumber_files(temporary, kimi_cli_session)
        subagents = copy_subagents(kimi_cli_session.state.parent, temporary)
        state = _state_of(kimi_cli_session)
        replace_file(LOCAL_FILE_SYSTEM, temporary / "state.json", [encode_state(state)])
        temporary.rename(target)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise
    if kimi_cli_session.work_dir is not None:
        SessionIndex(project).record(
            kimi_cli_session.id,
            work_dir=kimi_cli_session.work_dir,
            title=state.title,
            updated=_last_used(kimi_cli_session),
        )
    return subagents


def _renumber_files(folder: Path, kimi_cli_session: KimiCliSession) -> None:
    live = folder / "context.jsonl"
    used = live.stat()
    renumber_branches(
        live, [folder / name for name in sorted(kimi_cli_session.files) if name.startswith("context_")]
    )
    os.utime(live, ns=(used.st_atime_ns, used.st_mtime_ns))


def _state_of(kimi_cli_session: KimiCliSession) -> SessionState:
    kimi_cli_state = read_object(kimi_cli_session.state)
    older = read_object(kimi_cli_session.state.with_name("metadata.json"))
    title = kimi_cli_state.get("custom_title") or older.get("title")
    folders = kimi_cli_state.get("additional_dirs")
    return SessionState(
        title=sanitize_line(title) if isinstance(title, str) and title != "Untitled" else "",
        work_dir=str(kimi_cli_session.work_dir or ""),
        todos=_parse_todos(kimi_cli_state.get("todos")),
        plan_mode=kimi_cli_state.get("plan_mode") is True,
        additional_dirs=tuple(map(str, folders)) if isinstance(folders, list) else (),
        updated=time.time(),
    )


def _parse_todos(value: Any) -> tuple[TodoItem, ...]:
    try:
        return from_jsonable(tuple[TodoItem, ...], value or [])
    except ValidationError:
        return ()


def _last_used(kimi_cli_session: KimiCliSession) -> float:
    return kimi_cli_session.files["context.jsonl"].stat().st_mtime
