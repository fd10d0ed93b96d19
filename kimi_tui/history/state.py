"""`state.json`: what a session remembers beside its conversation."""

import json
from dataclasses import dataclass
from pathlib import Path

from kimi_tui.base.encoding import from_jsonable, to_jsonable
from kimi_tui.history.notation import well_formed
from kimi_tui.wire.display import TodoItem


@dataclass(frozen=True, slots=True)
class Jump:
    """A way back: where an undo or a redo leads."""

    checkpoint: int
    """The checkpoint that was made there just before it was left."""
    files: str | None = None
    """The files' state there; None when it was not captured."""
    branch: int | None = None
    """The rotation that holds the conversation there; None when the conversation stayed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionState:
    """One session's settings and lists. Fields that a file lacks have their defaults."""

    title: str = ""
    work_dir: str = ""
    todos: tuple[TodoItem, ...] = ()
    grants: tuple[str, ...] = ()
    """The permission rules that the user granted for this session, as text."""
    yolo: bool = False
    plan_mode: bool = False
    additional_dirs: tuple[str, ...] = ()
    model: str | None = None
    """The name of the model under `[models]`; None for the default."""
    undos: tuple[Jump, ...] = ()
    """Where undo leads, the next one last."""
    redos: tuple[Jump, ...] = ()
    updated: float = 0.0
    """When it was last written, in seconds since the epoch."""


def read_state(path: Path) -> SessionState | None:
    """The state in a file; the default when there is none, None when it can't be read."""
    try:
        return from_jsonable(SessionState, well_formed(json.loads(path.read_bytes())))
    except FileNotFoundError:
        return SessionState()
    except (OSError, ValueError, RecursionError):
        return None


def encoded_state(state: SessionState) -> bytes:
    """`state` as the text of its file."""
    return json.dumps(well_formed(to_jsonable(state)), ensure_ascii=False, indent=2).encode() + b"\n"
