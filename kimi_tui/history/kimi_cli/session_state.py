"""State of a session of Kimi CLI, as a session of kimi-tui."""

import time
from typing import Any

from kimi_tui.base.json_codec import from_jsonable
from kimi_tui.history.kimi_cli.data_dir import KimiCliSession, read_object
from kimi_tui.history.session_state import SessionState
from kimi_tui.wire.display_blocks import TodoItem


def convert_state(kimi_cli_session: KimiCliSession) -> SessionState:
    """Return the session's title, todo list, plan mode and directories.

    Grants and yolo mode aren't converted, because the user gave them to another program.
    """
    kimi_cli_state = read_object(kimi_cli_session.state)
    folders = kimi_cli_state.get("additional_dirs")
    return SessionState(
        title=kimi_cli_session.title,
        work_dir=str(kimi_cli_session.work_dir or ""),
        todos=_parse_todos(kimi_cli_state.get("todos")),
        plan_mode=kimi_cli_state.get("plan_mode") is True,
        additional_dirs=tuple(map(str, folders)) if isinstance(folders, list) else (),
        updated=time.time(),
    )


def _parse_todos(value: Any) -> tuple[TodoItem, ...]:
    try:
        return from_jsonable(tuple[TodoItem, ...], value or [])
    except ValueError:
        return ()
