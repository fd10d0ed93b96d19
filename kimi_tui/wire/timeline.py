"""Timeline on the Wire: checkpoints, branches, revert plans and results. Not in kimi-cli."""

from typing import Any, Literal

from kimi_tui.base.content_parts import UserInput
from kimi_tui.base.frozen import frozen
from kimi_tui.wire.checks import StepCheck
from kimi_tui.wire.display_blocks import DiffBlock

CheckpointKind = Literal["user", "step", "dmail", "compaction", "clear", "revert", "fork", "import"]
RevertReason = Literal["user", "dmail", "undo", "redo", "switch", "compaction", "clear", "adopt"]
"""Why the conversation or the files were reverted. `adopt`: changes of attempts were made to the files."""
RevertScope = Literal["both", "conversation", "files", "turn"]
"""What is reverted. `turn` reverts only the file changes of one turn or step, on any branch. Later changes
and the conversation stay unchanged.
"""
PlannedAction = Literal["restore", "delete", "recreate", "rename", "merge", "conflict", "keep", "not covered"]
"""`rename`: a file or directory that the agent renamed gets its old name back, with its current content."""
WhoChanged = Literal[
    "agent", "you", "both", "another session", "agent and another session", "agent or another session", ""
]
"""`agent or another session`: commands of both ran at the same time, then a scan found the change."""
ConflictChoice = Literal["mine", "checkpoint", "both", "merge"]
"""How a revert changes a file that both the agent and the user changed.

- `mine`: keep the current content
- `checkpoint`: restore the content at the checkpoint
- `both`: like `merge`, but where the changes overlap, keep the current lines, followed by the earlier ones
- `merge`: remove only the agent's lines, restore lines that the agent removed, and keep the user's lines
"""


@frozen
class WireEnvelope:
    """An encoded message: type name and payload as JSON values."""

    type: str
    payload: dict[str, Any]


@frozen
class FileChanges:
    """File changes between two checkpoints."""

    changed: int = 0
    added_lines: int = 0
    removed_lines: int = 0
    coverage: str = ""
    """Which changes aren't covered and why; empty if all changes are covered."""
    yours: int = 0
    """Number of files changed while no tool was running: by the user or another program."""
    paths: tuple[str, ...] = ()
    """The first of the changed files."""


@frozen
class CheckpointCreated:
    """A checkpoint of the conversation and files: the state before the next message."""

    id: int
    uid: str
    kind: CheckpointKind
    label: str
    parent: str | None = None
    files: FileChanges | None = None
    """File changes since the previous checkpoint; None while unknown."""
    time: float = 0.0
    """Seconds since the epoch."""
    tokens: int = 0


@frozen
class Reverted:
    """The conversation was reverted to another checkpoint.

    `branch` is the number of the rotated journal that contains the previous branch. After an undo, a redo or
    a switch of branches, the restored branch is replayed, starting with a ReplayBegin with `anew`.
    """

    to: int
    from_: int
    reason: RevertReason
    branch: int | None = None
    files: tuple[str, ...] = ()
    """Files that changed on disk."""
    scope: RevertScope | None = None
    """What was reverted. With `files` and `turn`, the conversation is unchanged. None if `reason` allows no
    choice.
    """
    prompt: UserInput | None = None
    """The user's message after the checkpoint `to`, to be edited and sent again."""
    note: str = ""
    """The user's note for the model."""
    kept: tuple[str, ...] = ()
    """Files of the plan that are unchanged: kept, in conflict, or not selected."""
    saved: tuple[str, ...] = ()
    """Files with changes by the user that were replaced. The checkpoint `from_` contains these versions."""


@frozen
class PlannedHunk:
    """A part of the change of a file that can be included or excluded: a run of changed lines."""

    id: str
    """Depends only on the changed lines: a later plan with the same changed lines has the same id."""
    added: int
    removed: int
    diff: DiffBlock
    """The changed lines with up to three unchanged lines before and after."""


@frozen
class PlannedChoice:
    """An option for a file that both the agent and the user changed."""

    choice: ConflictChoice
    added: int = 0
    removed: int = 0
    hunks: tuple[PlannedHunk, ...] = ()
    """The parts of the change from the current content; empty if the change can't be shown by lines."""
    action: PlannedAction = "keep"
    """Action of this choice on the file."""


@frozen
class FileChoice:
    """A decision about one file of a plan: how to change it, and which parts of the change to apply."""

    path: str
    """The path as named in the plan."""
    choice: ConflictChoice | None = None
    """One of the file's `choices`. None for the plan's default change."""
    hunks: tuple[str, ...] | None = None
    """The ids of the hunks to apply, or their numbers in the plan, from 1; None for all. An empty tuple
    changes nothing.
    """

    @property
    def keeps_file(self) -> bool:
        """Whether the decision leaves the file unchanged."""
        return self.choice == "mine" or self.hunks == ()


@frozen
class PlannedFile:
    """Effect of a planned revert on a file."""

    path: str
    """Unique in the plan. Bytes that aren't UTF-8 and control characters are escaped, as in `\\xE9`. A
    directory's path ends in a slash.
    """
    action: PlannedAction
    added: int = 0
    """Lines added to the current content."""
    removed: int = 0
    ticked: bool = True
    """Whether the file is selected by default. Files that aren't covered can't be selected."""
    note: str = ""
    diff: DiffBlock | None = None
    """Difference from the current content; None if the difference can't be shown by lines."""
    by: WhoChanged = ""
    """Who changed the file since the checkpoint; empty if unknown."""
    no_diff: str = ""
    """Why there is no `diff`, if the action doesn't make this clear."""
    hunks: tuple[PlannedHunk, ...] = ()
    """The parts of the change. Empty if the change can't be shown by lines. If the file has `choices`, each
    choice has its own hunks instead.
    """
    choices: tuple[PlannedChoice, ...] = ()
    """Options for a file that both the agent and the user changed; empty for other files."""
    choice: ConflictChoice | None = None
    """The default among `choices`."""
    renamed_to: str = ""
    """The old name that the file or directory gets back, with any action; empty if it isn't renamed."""
    is_on_request: bool = False
    """Whether the diff and hunks are left out. ReadPlannedFile requests them."""
    is_saved: bool = False
    """Whether the revert can replace changes by the user. Then the plan's checkpoint `saved_in` contains the
    current content.
    """

    @property
    def names(self) -> str:
        """The path, followed by the new path if the file is renamed."""
        return f"{self.path} → {self.renamed_to}" if self.renamed_to else self.path


@frozen
class RevertPlan:
    """Preview of a revert, undo, redo or branch switch. Nothing has changed yet."""

    to: int
    reason: RevertReason
    files: tuple[PlannedFile, ...] = ()
    commands: tuple[str, ...] = ()
    """Shell commands run since the checkpoint. Their effects outside of covered files can't be reverted."""
    note: str = ""
    """Why there is no plan for the files, or other remarks."""
    scope: RevertScope = "both"
    branch: int | None = None
    """The target branch; None if the checkpoint is on the current branch."""
    turns: int = 0
    """Number of the user's messages that would leave the current branch."""
    remarks: tuple[str, ...] = ()
    """Further information for the user, such as changes that the revert doesn't affect."""
    id: str = ""
    """Names the plan in ReadPlannedFile; empty without files."""
    saved_in: int | None = None
    """Expected id of the checkpoint of the current state, which the revert creates first. The id is higher if
    other checkpoints are created before the revert. None without files.
    """


@frozen
class TimelineNode:
    """A checkpoint on any branch, and the changes up to the next checkpoint on its branch."""

    id: int
    uid: str
    kind: CheckpointKind
    label: str
    """One line: the prompt for a `user` checkpoint; for a step its actions, once known."""
    parent: str | None = None
    """The uid of the parent checkpoint; None for the first one, or if the parent is lost."""
    branch: int | None = None
    """The newest branch that contains the checkpoint; None if it is on the current branch."""
    name: str = ""
    """Name given by the user."""
    time: float = 0.0
    tokens: int = 0
    """Size of the conversation at this point, partly estimated."""
    files: FileChanges | None = None
    """File changes up to the next checkpoint; None while unknown."""
    tools: tuple[str, ...] = ()
    """Tools called before the next checkpoint, in order."""
    shell: bool = False
    """Whether `tools` include a shell command. Its effects outside of covered files can't be reverted."""
    problem: str = ""
    """Why the files at the checkpoint can't be restored; empty if they can."""
    check: StepCheck | None = None
    """The check of the files just before the next checkpoint; None if it didn't run."""


@frozen
class TimelineBranch:
    """A branch left by a revert. It shares checkpoints with the current branch or another one."""

    number: int
    left: float
    """Time when the branch was left, in seconds since the epoch."""
    reason: RevertReason | None = None
    """Why the branch was left; None if unknown."""
    to: int | None = None
    """The checkpoint that the conversation was reverted to."""
    tip: str | None = None
    """The uid of the branch's last checkpoint."""
    messages: int = 0


@frozen
class Timeline:
    """The whole tree of checkpoints: the reply to ShowTimeline.

    Sent again after each revert, compaction and clear. Other changes are sent as TimelineUpdates.
    """

    nodes: tuple[TimelineNode, ...] = ()
    """Ordered by id, the oldest first."""
    branches: tuple[TimelineBranch, ...] = ()
    """Branches with checkpoints of their own, the oldest first."""
    current: str | None = None
    """The uid of the newest checkpoint on the current branch."""
    undo: str = ""
    """Short description of what an undo would do; empty if there is nothing to undo."""
    redo: str = ""
    older: int = 0
    """Number of checkpoints on the current branch before the first of `nodes`. 0 if this is the whole tree.

    If ShowTimeline requested only the newest checkpoints, `branches` is empty.
    """


@frozen
class TimelineUpdate:
    """New and changed nodes, each complete. They replace nodes with the same uid."""

    nodes: tuple[TimelineNode, ...]
    current: str | None = None


@frozen
class BranchContent:
    """Messages on a branch as replay events, the reply to ReadBranch."""

    branch: int
    events: tuple[WireEnvelope, ...] = ()
    """Events from the branch's first checkpoint that isn't on the current branch."""
    since: str | None = None
    """The uid of the last checkpoint that the branch shares with the current branch; None without one."""
    summary: str = ""
    """The summary that replaced the branch, if it was left by a compaction."""


@frozen
class ComparedFile:
    """Difference of a file between two states."""

    path: str
    change: Literal["added", "removed", "changed", "not covered"]
    added: int = 0
    removed: int = 0
    diff: DiffBlock | None = None
    """None if the difference is too long or can't be shown by lines."""
    note: str = ""
    by: WhoChanged = ""
    no_diff: str = ""
    """Why there is no `diff`, if `change` doesn't make this clear."""
    is_on_request: bool = False
    """Whether the diff is left out. ReadPlannedFile requests it."""


@frozen
class Comparison:
    """Differences of the files between two checkpoints, or a checkpoint and now. The reply to Compare."""

    before: int
    after: int | None = None
    """None for the current files."""
    files: tuple[ComparedFile, ...] = ()
    note: str = ""
    """Why there is nothing to compare, or which changes aren't covered."""
    id: str = ""
    """Names the comparison in ReadPlannedFile; empty if no diff is sent on request."""


@frozen
class PatchWritten:
    """The differences between two states were written to a patch file."""

    path: str
    before: int
    after: int | None = None
    files: int = 0
    """Number of files in the patch."""
    left_out: tuple[str, ...] = ()
    """Changed files that the patch can't contain, with the reasons."""


@frozen
class SessionForked:
    """A new session was forked from a checkpoint. This session continues."""

    session_id: str
    title: str
    at: int | None = None
    """The checkpoint that the new session was forked from; None for the end of the current branch."""
