"""`state.json`: what a session remembers beside its conversation."""

import json
from collections.abc import Mapping
from dataclasses import field
from pathlib import Path

from kimi_tui.base.encoding import from_jsonable, to_jsonable
from kimi_tui.base.usage import TokenUsage
from kimi_tui.base.value import value
from kimi_tui.history.notation import well_formed
from kimi_tui.wire.display import TodoItem
from kimi_tui.wire.timeline import RevertReason

_JUMPS_KEPT = 100


@value
class Jump:
    """A way back: where an undo or a redo leads."""

    checkpoint: int
    """The checkpoint that was made there just before it was left."""
    files: str | None = None
    """The files' state there; None when it was not captured."""
    branch: int | None = None
    """The rotation that holds the conversation there; None when the conversation stayed."""


@value(kw_only=True)
class JumpUnderWay:
    """A jump that has begun: whoever finds it at a start knows that a crash cut it off."""

    reason: RevertReason
    before: int
    """The checkpoint that was made just before it."""
    left: str | None
    """The files' state there."""
    to: int
    moves: bool
    """Whether the conversation goes, too."""
    branch: int | None = None
    until: int | None = None
    """The checkpoint of the branch to go on from; None for its end."""


@value(kw_only=True)
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
    agent: str = ""
    """The name of its agent; empty for the default one, and for one that came from a file."""
    model: str | None = None
    """The name of the model under `[models]`; None for the default."""
    undos: tuple[Jump, ...] = ()
    """Where undo leads, the next one last."""
    redos: tuple[Jump, ...] = ()
    jump: JumpUnderWay | None = None
    names: Mapping[str, str] = field(default_factory=dict)
    """What the user named checkpoints, by their uids."""
    usage: TokenUsage = field(default_factory=TokenUsage)
    """What its model calls took, in all its runs."""
    cost_usd: float | None = None
    """What they cost; None as long as no model with a price was used."""
    updated: float = 0.0
    """When it was last written, in seconds since the epoch."""


def jumps_after(
    state: SessionState, reason: RevertReason, left: Jump
) -> tuple[tuple[Jump, ...], tuple[Jump, ...]]:
    """Where undo and redo lead after another jump, which came from `left`."""
    undos, redos = state.undos, state.redos
    match reason:
        case "undo":
            undos, redos = undos[:-1], (*redos, left)
        case "redo":
            undos, redos = (*undos, left), redos[:-1]
        case _:
            undos, redos = (*undos, left), ()
    return undos[-_JUMPS_KEPT:], redos[-_JUMPS_KEPT:]


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
