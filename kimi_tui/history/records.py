"""Records of `context.jsonl`: one JSON object a line, told apart by `role` (`docs/formats.md`).

A role that begins with `_` is not a message:

- `_system_prompt` {content}, the first line.
- `_checkpoint` {id} and ours: uid, parent, time, kind, label, files, tokens, done, changes.
- `_files` {id, files, changes}: the files' state at a checkpoint that was made before it was known.
- `_usage` {token_count}: what the conversation up to here weighs, as the provider counted it. In a step it
  stands between the assistant message and the tool results, which no model has seen yet.
- `_revert` {to, next_id, branch, reason} and `parent`, the uid that the next checkpoint grows from.
- `_repair` {time, found: [{kind, line, detail}], next_id}: what a restore found.
- `_pending` {message}: a step under way. Its assistant message is noted as soon as the answer is complete,
  each tool result as it finishes; the step's own write, which follows at its end, supersedes them. A group
  that no such write follows is what a killed process left: restore makes a step of it.

Unknown fields and unknown `_` records are ignored here, and kept on disk since lines are copied verbatim.
"""

from kimi_tui.base.message import Message
from kimi_tui.base.value import value
from kimi_tui.history.finding import Finding
from kimi_tui.wire.timeline import CheckpointKind, FileChanges, RevertReason


@value
class SystemPrompt:
    """The system prompt that the session was last run with."""

    content: str


@value(kw_only=True)
class Deed:
    """What the model did between a checkpoint and the one before it."""

    label: str = ""
    """One line: its calls, or how its answer begins."""
    tools: tuple[str, ...] = ()
    """The tools that it called, in order."""
    shell: bool = False
    """Whether a shell command is among the calls."""


@value(kw_only=True)
class Checkpoint:
    """A state of the conversation to come back to; everything after its record lies behind it."""

    id: int
    """Grows for the whole life of the session and is never used again."""
    uid: str
    parent: str | None = None
    """The uid of the state that this one grew from, also across reverts and compactions."""
    time: float = 0.0
    """Seconds since the epoch; 0 when the file doesn't say."""
    kind: CheckpointKind = "step"
    label: str = ""
    files: str | None = None
    """The manifest of the files' state, or why there is none."""
    tokens: int = 0
    """What the conversation weighed, partly estimated."""
    done: Deed | None = None
    """What was done since the checkpoint before it; None when nothing was, or it isn't known."""
    changes: FileChanges | None = None
    """What became of the files since then; None when that isn't known."""


@value(kw_only=True)
class FilesOf:
    """The files' state at a checkpoint of this line, which had to be found out first."""

    id: int
    files: str
    """The manifest, or why there is none."""
    changes: FileChanges | None = None


@value
class Usage:
    """The weight of the conversation so far, in tokens."""

    token_count: int


@value(kw_only=True)
class Revert:
    """Why the file begins anew here; what was left behind is `branch`."""

    to: int
    """The checkpoint that the conversation went to; 0, the beginning, for a clear or a compaction."""
    next_id: int
    branch: int | None = None
    reason: RevertReason = "user"
    parent: str | None = None


@value(kw_only=True)
class Repair:
    """What a restore found, so that the user is told of it once."""

    found: tuple[Finding, ...] = ()
    next_id: int = 0
    """Ids below may have been used by records that are lost."""
    time: float = 0.0


@value
class Pending:
    """A message of the step under way. It is parsed when it is needed: after the step's end it never is."""

    data: bytes
    """The message as JSON."""


@value
class Ignored:
    """A `_` record that this version doesn't know."""


Record = Message | SystemPrompt | Checkpoint | FilesOf | Usage | Revert | Repair | Pending | Ignored
