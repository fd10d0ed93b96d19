"""`state.json`: the state of a session apart from its conversation."""

import json
from collections.abc import Container, Mapping
from dataclasses import field, replace
from pathlib import Path
from typing import Literal

from kimi_tui.base.frozen import frozen
from kimi_tui.base.json_codec import from_jsonable, to_jsonable
from kimi_tui.base.token_usage import TokenUsage
from kimi_tui.history.record_codec import replace_surrogates
from kimi_tui.wire.display_blocks import TodoItem
from kimi_tui.wire.timeline import RevertReason
from kimi_tui.wire.usage import ModelUsage

_MAX_UNDO_ENTRIES = 100
TitleSource = Literal["", "prompt", "model", "user"]


@frozen
class AdoptedAttempt:
    """An adopted attempt: its changes are in the files."""

    number: int
    checkpoint: int
    """The checkpoint that was created just before the adoption."""


@frozen
class UndoEntry:
    """The target of an undo or a redo."""

    checkpoint: int
    """The checkpoint that was created just before the revert."""
    files: str | None = None
    """The manifest id of the file state at that checkpoint; None if it was not captured."""
    branch: int | None = None
    """The rotation with the conversation before the revert; None if the revert changed only files."""
    adopted: tuple[AdoptedAttempt, ...] = ()
    """The attempts that were adopted at that checkpoint."""


@frozen(kw_only=True)
class PendingRevert:
    """A running revert. If it is still present at a start, a crash interrupted it."""

    reason: RevertReason
    before: int
    """The checkpoint that was created just before the revert."""
    left: str | None
    """The manifest id of the file state at that checkpoint; None if it was not captured."""
    to: int
    moves: bool
    """Whether the conversation is reverted, too."""
    branch: int | None = None
    until: int | None = None
    """The branch is resumed just before this checkpoint; None for the end of the branch."""
    adopted: tuple[AdoptedAttempt, ...] = ()
    """The attempts that are adopted after the revert."""


@frozen(kw_only=True)
class CopyOrigin:
    """The session of Kimi CLI that a session was copied from."""

    modified_ns: int
    """Modification time of its conversation when it was copied, in nanoseconds since the epoch."""
    messages: int
    """Number of messages in the copy."""


@frozen(kw_only=True)
class PromptFacts:
    """Values in the system prompt that differ from run to run."""

    now: str
    """Local time with UTC offset at which the session began."""
    work_dir_ls: str
    """Contents of the working directory at that time."""


@frozen(kw_only=True)
class SessionState:
    """Settings and lists of one session. Fields missing in the file have their defaults."""

    title: str = ""
    title_source: TitleSource = ""
    """Origin of the title; empty if unknown. Only a prompt is replaced by a generated title."""
    work_dir: str = ""
    todos: tuple[TodoItem, ...] = ()
    grants: tuple[str, ...] = ()
    """The permission rules that the user granted for this session, as text."""
    grant_dates: Mapping[str, str] = field(default_factory=dict)
    """Dates of the grants in ISO format, by rule."""
    sensitive_reads: tuple[str, ...] = ()
    """Files with secrets or outside the session's directories that the model has seen."""
    yolo: bool = False
    plan_mode: bool = False
    additional_dirs: tuple[str, ...] = ()
    agent: str = ""
    """The name of the agent; empty for the default agent and for agents loaded from a file."""
    model: str | None = None
    """The name of the model under `[models]`; None for the default."""
    undos: tuple[UndoEntry, ...] = ()
    """Targets of undo, the next one last."""
    redos: tuple[UndoEntry, ...] = ()
    adopted: tuple[AdoptedAttempt, ...] = ()
    jump: PendingRevert | None = None
    names: Mapping[str, str] = field(default_factory=dict)
    """Checkpoint names given by the user, by uid."""
    usage: TokenUsage = field(default_factory=TokenUsage)
    """Token usage of all model calls in all runs of the session."""
    cost_usd: float | None = None
    """Cost of the model calls; None until a model with a price was used."""
    cost_day: str = ""
    """Local date of the last model call with a price, in ISO format."""
    cost_day_usd: float = 0.0
    """Cost of the model calls on `cost_day`."""
    model_usage: tuple[ModelUsage, ...] = ()
    """Usage and cost by model. Calls from before kimi-tui recorded this are missing."""
    prompt_facts: PromptFacts | None = None
    """Values of the system prompt; None until the first prompt."""
    origin: CopyOrigin | None = None
    """Where the session was copied from; None for a session of kimi-tui."""
    updated: float = 0.0
    """Time of the last write, in seconds since the epoch."""


def push_undo(
    state: SessionState, reason: RevertReason, entry: UndoEntry
) -> tuple[tuple[UndoEntry, ...], tuple[UndoEntry, ...]]:
    """Return the undo and redo targets after a revert for `reason`; `entry` is the state before it."""
    undos, redos = state.undos, state.redos
    entry = replace(entry, adopted=state.adopted)
    match reason:
        case "undo":
            undos, redos = undos[:-1], (*redos, entry)
        case "redo":
            undos, redos = (*undos, entry), redos[:-1]
        case _:
            undos, redos = (*undos, entry), ()
    return undos[-_MAX_UNDO_ENTRIES:], redos[-_MAX_UNDO_ENTRIES:]


def forget_attempts(state: SessionState, numbers: Container[int] | None = None) -> SessionState:
    """Return the state without the attempts in `numbers`; None means all. Numbers may be reused."""

    def keep(adopted: tuple[AdoptedAttempt, ...]) -> tuple[AdoptedAttempt, ...]:
        return tuple(each for each in adopted if numbers is not None and each.number not in numbers)

    return replace(
        state,
        adopted=keep(state.adopted),
        undos=tuple(replace(entry, adopted=keep(entry.adopted)) for entry in state.undos),
        redos=tuple(replace(entry, adopted=keep(entry.adopted)) for entry in state.redos),
    )


def read_state(path: Path) -> SessionState | None:
    """Return the state in a file: the default if the file doesn't exist, None if it can't be read."""
    try:
        return from_jsonable(SessionState, replace_surrogates(json.loads(path.read_bytes())))
    except FileNotFoundError:
        return SessionState()
    except (OSError, ValueError, RecursionError):
        return None


def encode_state(state: SessionState) -> bytes:
    """Return `state` as the content of its file."""
    return json.dumps(replace_surrogates(to_jsonable(state)), ensure_ascii=False, indent=2).encode() + b"\n"
