"""The timeline on the Wire: checkpoints, branches, plans, and what becomes of them. All of it is ours."""

from typing import Any, Literal

from kimi_tui.base.content import UserInput
from kimi_tui.base.value import value
from kimi_tui.wire.display import DiffBlock

CheckpointKind = Literal["user", "step", "dmail", "compaction", "clear", "revert", "fork", "import"]
RevertReason = Literal["user", "dmail", "undo", "redo", "switch", "compaction", "clear"]
RevertScope = Literal["both", "conversation", "files", "turn"]
"""What goes back. `turn`: of the files, what was done in that one turn (or step), wherever it lies; what was
done since stays, and so does the conversation."""
PlannedAction = Literal["restore", "delete", "recreate", "merge", "conflict", "keep", "not covered"]
WhoChanged = Literal["agent", "you", "both", "another session", "agent and another session", ""]


@value
class WireEnvelope:
    """A message as it travels: its type's name and its payload as JSON values."""

    type: str
    payload: dict[str, Any]


@value
class FileChanges:
    """How the files changed from one checkpoint to the next."""

    changed: int = 0
    added_lines: int = 0
    removed_lines: int = 0
    coverage: str = ""
    """Empty when every change is covered, else what is not and why."""
    yours: int = 0
    """How many of the changed files were changed while no tool ran: by the user, or by another program."""
    paths: tuple[str, ...] = ()
    """The first of the changed files."""


@value
class CheckpointCreated:
    """A checkpoint of the conversation and the files: the state just before what follows."""

    id: int
    uid: str
    kind: CheckpointKind
    label: str
    parent: str | None = None
    files: FileChanges | None = None
    """What became of the files since the checkpoint before it; None when that is not known (yet)."""
    time: float = 0.0
    """In seconds since the epoch."""
    tokens: int = 0


@value
class Reverted:
    """The conversation went to another checkpoint; `branch` is the rotated journal left behind.

    After an undo, a redo or a switch to another line a ReplayBegin with `anew` follows, with that line.
    """

    to: int
    from_: int
    reason: RevertReason
    branch: int | None = None
    files: tuple[str, ...] = ()
    """The files that changed on disk."""
    scope: RevertScope | None = None
    """What went: with `files` and `turn` the conversation stays. None when there was no choice."""
    prompt: UserInput | None = None
    """What the user had said right after that checkpoint, to be edited and said again."""
    note: str = ""
    """What the user left there for the model to read."""
    kept: tuple[str, ...] = ()
    """The files of the plan that stay as they are: kept, in conflict, or not ticked."""


@value
class PlannedFile:
    """What going back would do to one file."""

    path: str
    """That of a folder ends in a slash."""
    action: PlannedAction
    added: int = 0
    """Lines that are added to what the file holds now."""
    removed: int = 0
    ticked: bool = True
    """Whether it is done unless the user says otherwise. What is not covered can't be done."""
    note: str = ""
    diff: DiffBlock | None = None
    """From what the file holds now; None when it can't be shown by lines."""
    by: WhoChanged = ""
    """Who changed it since then; empty when that is not known."""


@value
class RevertPlan:
    """What a revert, undo, redo or switch would do. Nothing has been done yet."""

    to: int
    reason: RevertReason
    files: tuple[PlannedFile, ...] = ()
    commands: tuple[str, ...] = ()
    """Shell commands that were run since: what they did elsewhere can't be taken back."""
    note: str = ""
    """Why there is no plan for the files, or what else to know."""
    scope: RevertScope = "both"
    branch: int | None = None
    """The branch that it goes to; None when the checkpoint is on the live line."""
    turns: int = 0
    """How many of the user's messages on the live line the conversation would lose to a branch."""


@value
class TimelineNode:
    """A checkpoint, wherever in the tree, and what was done from it until the next one on its line."""

    id: int
    uid: str
    kind: CheckpointKind
    label: str
    """One line: of a `user` checkpoint the prompt, of a step what it did as soon as that is known."""
    parent: str | None = None
    """The uid of the checkpoint that it grew from; None for the first, or when that is lost."""
    branch: int | None = None
    """The branch that it lies on, the newest if on several; None when it is on the live line."""
    name: str = ""
    """What the user named it."""
    time: float = 0.0
    tokens: int = 0
    """What the conversation weighed at this point, partly estimated."""
    files: FileChanges | None = None
    """What became of the files from here to the next checkpoint; None while that is not known."""
    tools: tuple[str, ...] = ()
    """The tools that were called from here to the next checkpoint, in order."""
    shell: bool = False
    """Whether a shell command is among them: what it did elsewhere can't be taken back."""
    problem: str = ""
    """Why its files can't be gone back to; empty when they can."""


@value
class TimelineBranch:
    """A line of the conversation that was left. It shares a trunk with the live line or another branch."""

    number: int
    left: float
    """When, in seconds since the epoch."""
    reason: RevertReason | None = None
    """Why; None when that is not known."""
    to: int | None = None
    """The checkpoint that the conversation went to from here."""
    tip: str | None = None
    """The uid of its last checkpoint."""
    messages: int = 0


@value
class Timeline:
    """The whole tree, as an answer to ShowTimeline; from then on after each jump, compaction and clear.

    What comes in between is told by TimelineUpdates.
    """

    nodes: tuple[TimelineNode, ...] = ()
    """By their ids, the oldest first."""
    branches: tuple[TimelineBranch, ...] = ()
    """Those that have checkpoints of their own, the oldest first."""
    current: str | None = None
    """The uid of the newest checkpoint of the live line."""
    undo: str = ""
    """What an undo would take back, in a few words; empty when there is nothing."""
    redo: str = ""
    older: int = 0
    """How many checkpoints of the live line come before the first of `nodes`: these are its newest, and no
    branches, for ShowTimeline asked for no more. 0 when it is the whole tree."""


@value
class TimelineUpdate:
    """Nodes that are new or have changed, each whole; replace those of the same uid."""

    nodes: tuple[TimelineNode, ...]
    current: str | None = None


@value
class BranchContent:
    """What was said on a branch, as an answer to LookIntoBranch: events as in a replay."""

    branch: int
    events: tuple[WireEnvelope, ...] = ()
    """From its first checkpoint that is not on the live line."""
    since: str | None = None
    """The uid of the last checkpoint that is; None when none is."""
    summary: str = ""
    """Of a branch that a compaction left: the summary that took its place."""


@value
class ComparedFile:
    """How one file differs between two states."""

    path: str
    change: Literal["added", "removed", "changed", "not covered"]
    added: int = 0
    removed: int = 0
    diff: DiffBlock | None = None
    """None when it can't be shown by lines, or is too long."""
    note: str = ""
    by: WhoChanged = ""


@value
class Comparison:
    """How the files differ between two checkpoints, or a checkpoint and now; the answer to Compare."""

    before: int
    after: int | None = None
    """None for the files as they are now."""
    files: tuple[ComparedFile, ...] = ()
    note: str = ""
    """Why there is nothing to compare, or what is not covered."""


@value
class PatchWritten:
    """What differs between two states of the files was written to a file, for git."""

    path: str
    before: int
    after: int | None = None
    files: int = 0
    """How many files the patch changes."""
    left_out: tuple[str, ...] = ()
    """Files that differ, too, and can't be in it; with why."""


@value
class SessionForked:
    """A checkpoint was made a session of its own. This one goes on."""

    session_id: str
    title: str
    at: int | None = None
    """The checkpoint that it begins at; None for the end of the live line."""
