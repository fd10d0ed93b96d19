"""Record types of `context.jsonl`: one JSON object per line, identified by `role` (`docs/formats.md`).

A role that starts with `_` is not a message:

- `_system_prompt` {content}: the first line.
- `_checkpoint` {id}, plus kimi-tui's own fields: uid, parent, time, kind, label, files, tokens, done,
  changes, texts (the ids and parameters of generated messages, by path).
- `_files` {id, files, changes, texts}: the file state of an earlier checkpoint, added once it is known.
- `_usage` {token_count}: the size of the conversation up to here, as counted by the provider. Within a step,
  the record follows the assistant message and precedes the tool results, since no model has seen the results
  yet. There it also has `model`, and `cost_usd` if the model has a price.
- `_revert` {to, next_id, branch, reason} and `parent`, the uid of the next checkpoint's parent.
- `_repair` {time, found: [{kind, line, detail}], next_id}: the damage found by a restore.
- `_pending` {message}: part of an unfinished step. The assistant message is recorded as soon as the response
  is complete, each tool result when its call finishes. The write at the end of the step supersedes these
  records. If that write is missing, the process was killed. A restore then completes the step from the
  pending records.

Unknown fields and unknown `_` records are ignored here. They stay on disk since lines are copied verbatim.
"""

from kimi_tui.base.frozen import frozen
from kimi_tui.base.message import Message
from kimi_tui.history.repair_report import RepairFinding
from kimi_tui.wire.timeline import CheckpointKind, FileChanges, RevertReason


@frozen
class SystemPrompt:
    """The system prompt that the session last ran with."""

    content: str


@frozen(kw_only=True)
class StepSummary:
    """Summary of the model's work between a checkpoint and the previous one."""

    label: str = ""
    """One line: the tool calls, or the beginning of the response."""
    tools: tuple[str, ...] = ()
    """The names of the called tools, in order."""
    shell: bool = False
    """Whether any of the calls is a shell command."""


@frozen(kw_only=True)
class Checkpoint:
    """A state of the conversation to revert to. A revert drops everything after its record."""

    id: int
    """Increases during the whole life of the session; never reused."""
    uid: str
    parent: str | None = None
    """The uid of the preceding state, also across reverts and compactions."""
    time: float = 0.0
    """Seconds since the epoch; 0 if the file doesn't contain it."""
    kind: CheckpointKind = "step"
    label: str = ""
    files: str | None = None
    """The manifest id of the file state, or the reason why there is no manifest."""
    tokens: int = 0
    """Size of the conversation in tokens, partly estimated."""
    done: StepSummary | None = None
    """Summary of the work since the previous checkpoint; None if the model did nothing, or if unknown."""
    changes: FileChanges | None = None
    """File changes since the previous checkpoint; None if unknown."""


@frozen(kw_only=True)
class FileStateRecord:
    """The file state of an earlier checkpoint of this branch, recorded once it was known."""

    id: int
    files: str
    """The manifest id, or the reason why there is no manifest."""
    changes: FileChanges | None = None


@frozen
class UsageRecord:
    """Size of the conversation so far, in tokens."""

    token_count: int
    model: str = ""
    """The model that wrote the preceding message, as named in the config; empty if unknown."""
    cost_usd: float | None = None
    """Cost of that message in US dollars; None if unknown."""


@frozen(kw_only=True)
class RevertRecord:
    """Start of a new branch in this file. `branch` is the rotation with the branch that was left."""

    to: int
    """The checkpoint reverted to; 0, the beginning, for a clear or a compaction."""
    next_id: int
    branch: int | None = None
    reason: RevertReason = "user"
    parent: str | None = None


@frozen(kw_only=True)
class RepairRecord:
    """Damage found by a restore, recorded so that it is reported only once."""

    found: tuple[RepairFinding, ...] = ()
    next_id: int = 0
    """Lowest checkpoint id that no lost record can have used."""
    time: float = 0.0


@frozen
class PendingRecord:
    """A message of an unfinished step. Parsed only on demand, since the end of the step supersedes it."""

    data: bytes
    """The message as JSON."""


@frozen
class IgnoredRecord:
    """A `_` record that this version doesn't know."""


Record = (
    Message
    | SystemPrompt
    | Checkpoint
    | FileStateRecord
    | UsageRecord
    | RevertRecord
    | RepairRecord
    | PendingRecord
    | IgnoredRecord
)
