"""Copying a session of Kimi CLI: conversation, branches, sub-agents as they are, its title and todos."""

import os
import shutil
import time
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from kimi_tui.base.encoding import from_jsonable
from kimi_tui.base.paths import make_private_dir
from kimi_tui.base.terminal import plain_line
from kimi_tui.cli.kimi_cli.numbering import number_branches
from kimi_tui.cli.kimi_cli.share import FoundSession, read_object
from kimi_tui.cli.kimi_cli.subagents import copy_subagents
from kimi_tui.history.disk import LOCAL_DISK, replace_file
from kimi_tui.history.index import SessionIndex
from kimi_tui.history.state import SessionState, encoded_state
from kimi_tui.wire.display import TodoItem


def copy_session(found: FoundSession, share_dir: Path) -> int | None:
    """Copy a session into our share dir; how many sub-agents came along, None when it is there already.

    Raises OSError.

    It appears whole or not at all. Grants and yolo stay behind: they were given to another program.
    """
    project = share_dir / "sessions" / found.key
    target = project / found.id
    if target.exists():
        return None
    beside = project / f".{found.id}"
    shutil.rmtree(beside, ignore_errors=True)
    make_private_dir(beside)
    try:
        for name, source in found.files.items():
            shutil.copy2(source, beside / name)  # with its time: the newest session is the last used
            (beside / name).chmod(0o600)
        _number(beside, found)
        subagents = copy_subagents(found.state.parent, beside)
        state = _state_of(found)
        replace_file(LOCAL_DISK, beside / "state.json", [encoded_state(state)])
        beside.rename(target)
    except BaseException:
        shutil.rmtree(beside, ignore_errors=True)
        raise
    if found.work_dir is not None:
        SessionIndex(project).note(
            found.id, work_dir=found.work_dir, title=state.title, updated=_last_used(found)
        )
    return subagents


def _number(folder: Path, found: FoundSession) -> None:
    live = folder / "context.jsonl"
    used = live.stat()
    number_branches(live, [folder / name for name in sorted(found.files) if name.startswith("context_")])
    os.utime(live, ns=(used.st_atime_ns, used.st_mtime_ns))


def _state_of(found: FoundSession) -> SessionState:
    theirs = read_object(found.state)
    older = read_object(found.state.with_name("metadata.json"))
    title = theirs.get("custom_title") or older.get("title")
    folders = theirs.get("additional_dirs")
    return SessionState(
        title=plain_line(title) if isinstance(title, str) and title != "Untitled" else "",
        work_dir=str(found.work_dir or ""),
        todos=_todos(theirs.get("todos")),
        plan_mode=theirs.get("plan_mode") is True,
        additional_dirs=tuple(map(str, folders)) if isinstance(folders, list) else (),
        updated=time.time(),
    )


def _todos(value: Any) -> tuple[TodoItem, ...]:
    try:
        return from_jsonable(tuple[TodoItem, ...], value or [])
    except ValidationError:
        return ()


def _last_used(found: FoundSession) -> float:
    return found.files["context.jsonl"].stat().st_mtime
