"""Tree of all checkpoints of a session, on the current branch and on the other branches."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from kimi_tui.base.frozen import frozen
from kimi_tui.history.branch import Branch
from kimi_tui.history.manifest_id import is_manifest
from kimi_tui.history.records import Checkpoint, RevertRecord

NOT_CAPTURED_YET = "the files have not been captured yet"
"""Value of a checkpoint's `files` until its file state is known.

Until then, the next known state of the branch counts as the checkpoint's state, since operations that change
files wait for the capture.
"""


@frozen
class CheckpointNode:
    """A checkpoint and its position in the tree."""

    checkpoint: Checkpoint
    branch: int | None
    """The newest branch that contains the checkpoint; None if the current branch does."""
    parent: str | None
    """The uid of the previous checkpoint, or of the checkpoint where the branch starts."""
    next: Checkpoint | None
    """The next checkpoint on the same branch; None for the last one."""
    files: str
    """The manifest id of the file state, or the reason why there is no manifest."""
    problem: str = ""
    """Why the file state is permanently unknown; empty if it is known or may still become known."""


@dataclass(frozen=True)
class CheckpointTree:
    """The branches of one conversation."""

    current_branch: Sequence[Checkpoint]
    reverts: Sequence[RevertRecord]
    """Revert records of the current branch."""
    branches: Sequence[Branch]
    """Other branches, oldest first."""

    def build_index(self) -> None:
        """Compute the cached indexes ahead of time: with thousands of checkpoints that is slow."""
        len(self.by_id)

    def copy_without_index(self) -> "CheckpointTree":
        """Return the same tree without its cached indexes, which need a lot of memory."""
        return CheckpointTree(self.current_branch, self.reverts, self.branches)

    @cached_property
    def nodes(self) -> Mapping[str, CheckpointNode]:
        """Every checkpoint by uid, in order of ascending ids."""
        nodes: dict[str, CheckpointNode] = {}
        for branch, checkpoints in reversed(list(self._all_branches())):
            nodes.update({node.checkpoint.uid: node for node in _build_nodes(checkpoints, branch)})
        nodes |= {uid: self.resolve_parent(node, nodes) for uid, node in nodes.items() if node.parent is None}
        return {node.checkpoint.uid: node for node in sorted(nodes.values(), key=_id)}

    @cached_property
    def by_id(self) -> Mapping[int, CheckpointNode]:
        """Every checkpoint by id."""
        return {node.checkpoint.id: node for node in self.nodes.values()}

    def own_branches(self) -> list[Branch]:
        """Return the branches that have their own checkpoints."""
        numbers = {node.branch for node in self.nodes.values()}
        return [branch for branch in self.branches if branch.number in numbers]

    def branch(self, number: int) -> Branch | None:
        """Return a branch by its number; None if it doesn't exist."""
        return next((branch for branch in self.branches if branch.number == number), None)

    def files_at_end(self, branch: Branch) -> str:
        """Return the manifest id of the file state at the end of a branch, or why it is unknown."""
        last = branch.checkpoints[-1] if branch.checkpoints else None
        if last is not None and last.kind in {"revert", "clear"} and is_manifest(last.files):
            return last.files or ""
        after = self._first_state_after(branch)
        if after is not None and is_manifest(after):
            return after
        return (last.files if last is not None else None) or NOT_CAPTURED_YET

    def _first_state_after(self, branch: Branch) -> str | None:
        """Return the first known file state of the branch that followed `branch`."""
        last_id = max((checkpoint.id for checkpoint in branch.checkpoints), default=-1)
        for _, checkpoints in self._all_branches():
            later = [each for each in checkpoints if each.id > last_id and is_manifest(each.files)]
            if later:
                return min(later, key=lambda each: each.id).files
        return None

    def _all_branches(self) -> Iterator[tuple[int | None, Sequence[Checkpoint]]]:
        yield None, self.current_branch
        for branch in reversed(self.branches):
            yield branch.number, branch.checkpoints

    def newest_nodes(self, current_branch: Sequence[Checkpoint], since: int) -> list[CheckpointNode]:
        """Return the nodes of `current_branch` from the one before checkpoint `since` on.

        `current_branch` may have more checkpoints than this tree.
        """
        start = len(current_branch)
        while start > 0 and current_branch[start - 1].id >= since:
            start -= 1
        start = max(0, start - 1)
        nodes = _build_nodes(current_branch[max(0, start - 1) :], None)
        return [
            self.resolve_parent(node, self.nodes) if node.parent is None else node
            for node in nodes[min(start, 1) :]
        ]

    def resolve_parent(self, node: CheckpointNode, nodes: Mapping[str, CheckpointNode]) -> CheckpointNode:
        """Return `node` with its parent: for a branch's first node, the checkpoint that it starts from."""
        checkpoint = node.checkpoint
        if node.parent is not None or checkpoint.parent is None:
            return node
        origin = nodes.get(checkpoint.parent)
        if origin is None:
            return node
        tips = {branch.checkpoints[-1].uid for branch in self.branches if branch.checkpoints}
        parent = checkpoint.parent if checkpoint.parent in tips else origin.parent
        return CheckpointNode(checkpoint, node.branch, parent, node.next, node.files, node.problem)


def last_nodes(current_branch: Sequence[Checkpoint], count: int) -> list[CheckpointNode]:
    """Return the last `count` nodes of a current branch with more nodes. Earlier ones aren't examined."""
    return _build_nodes(current_branch[-count - 1 :], None)[1:]


def _id(node: CheckpointNode) -> int:
    return node.checkpoint.id


def _build_nodes(checkpoints: Sequence[Checkpoint], branch: int | None) -> list[CheckpointNode]:
    nodes = []
    known: str | None = None
    after: Checkpoint | None = None
    for index in range(len(checkpoints) - 1, -1, -1):
        checkpoint = checkpoints[index]
        files = checkpoint.files or "its files were not captured"
        problem = ""
        if files == known or is_manifest(files):
            known = files
        elif files != NOT_CAPTURED_YET:
            known, problem = None, files
        elif known is not None:
            files = known
        parent = checkpoints[index - 1].uid if index else None
        nodes.append(CheckpointNode(checkpoint, branch, parent, after, files, problem))
        after = checkpoint
    nodes.reverse()
    return nodes
