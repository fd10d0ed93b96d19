"""File states of a conversation, in the order of its steps."""

from collections.abc import Sequence

from kimi_tui.base.frozen import frozen
from kimi_tui.engine.files.checkpoint_views import are_equal
from kimi_tui.history.checkpoint_tree import CheckpointNode, CheckpointTree
from kimi_tui.history.manifest_id import is_manifest
from kimi_tui.history.snapshots.manifest import ManifestLog


@frozen(kw_only=True)
class CandidateState:
    """A state of the files that consecutive checkpoints share."""

    files: str
    """The manifest."""
    first: CheckpointNode | None
    """The first checkpoint with these files. None: only the current files have this state."""
    last: CheckpointNode | None
    """The last checkpoint with these files. Unless `is_current`, the step after it changed them."""
    is_current: bool
    """Whether the files are still the same now."""


def list_checkpoints(tree: CheckpointTree) -> list[CheckpointNode]:
    """Return the checkpoints from the start to the end of the current branch, including compacted ones."""
    path: list[CheckpointNode] = []
    uid = tree.current_branch[-1].uid if tree.current_branch else None
    while uid is not None and (node := tree.nodes.get(uid)) is not None:
        path.append(node)
        uid = node.parent
    path.reverse()
    return path


def group_states(
    checkpoints: Sequence[CheckpointNode], now: str, manifests: ManifestLog
) -> list[CandidateState]:
    """Return the different file states of `checkpoints` and of the current files `now`, oldest first.

    Checkpoints with unknown files are left out.
    """
    known = [node for node in checkpoints if is_manifest(node.files)]
    states: list[CandidateState] = []
    for node in known:
        if states and are_equal(states[-1].files, node.files, manifests):
            states[-1] = CandidateState(files=node.files, first=states[-1].first, last=node, is_current=False)
        else:
            states.append(CandidateState(files=node.files, first=node, last=node, is_current=False))
    if states and are_equal(states[-1].files, now, manifests):
        newest = states[-1]
        states[-1] = CandidateState(files=now, first=newest.first, last=newest.last, is_current=True)
    else:
        states.append(CandidateState(files=now, first=None, last=None, is_current=True))
    return states
