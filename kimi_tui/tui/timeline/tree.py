"""Tree of checkpoints for the timeline pane. Branches consist of turns and fork off other branches."""

import weakref
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from kimi_tui.wire.checks import StepCheck
from kimi_tui.wire.timeline import CheckpointKind, Timeline, TimelineBranch, TimelineNode, TimelineUpdate

_STEP_KINDS: frozenset[CheckpointKind] = frozenset({"step", "dmail", "revert"})
"""Kinds of checkpoints that belong to the current turn. All other kinds begin a new turn."""


_REPLACING_KINDS: frozenset[CheckpointKind] = frozenset({"compaction", "clear"})
"""Kinds of checkpoints at which a conversation was replaced. The replaced conversation became a branch."""


@dataclass(frozen=True, slots=True)
class Totals:
    """Changes made between one or more checkpoints and the checkpoints after them."""

    added: int = 0
    removed: int = 0
    changed: int = 0
    by_user: int = 0
    shell: bool = False
    partial: bool = False
    check: StepCheck | None = None
    """The last check of the checkpoints. First failures take precedence over other checks."""

    def add(self, node: TimelineNode) -> "Totals":
        """Return the totals with the changes after one more checkpoint."""
        files = node.files
        check = self._combine(node.check)
        if files is None:
            if check is self.check and (self.shell or not node.shell):
                return self
            return Totals(*self._counts, self.shell or node.shell, self.partial, check)
        return Totals(
            self.added + files.added_lines,
            self.removed + files.removed_lines,
            self.changed + files.changed,
            self.by_user + files.yours,
            self.shell or node.shell,
            self.partial or bool(files.coverage),
            check,
        )

    def _combine(self, check: StepCheck | None) -> StepCheck | None:
        if check is None or (
            self.check is not None and self.check.is_first_failure and not check.is_first_failure
        ):
            return self.check
        return check

    @property
    def _counts(self) -> tuple[int, int, int, int]:
        return self.added, self.removed, self.changed, self.by_user


class TimelineTurn:
    """A prompt with its steps, or a single checkpoint such as a compaction."""

    __slots__ = ("_tree_branch_ref", "child_branches", "head", "index", "steps", "totals")

    def __init__(self, head: str, tree_branch: "weakref.ref[TreeBranch]", index: int) -> None:
        self.head = head
        """The uid of the turn's first checkpoint."""
        self.index = index
        """Index of the turn in its branch."""
        self.steps: list[str] = []
        """The uids of the turn's other checkpoints, oldest first."""
        # Weak, so that a replaced tree is freed immediately instead of by the garbage collector.
        self._tree_branch_ref = tree_branch
        self.child_branches: dict[str, list[TreeBranch]] = {}
        """The branches that fork off in this turn, by the uid of the checkpoint where they fork off."""
        self.totals: Totals | None = None
        """Changes made in the turn. None until `TimelineTree.totals` computes them."""

    @property
    def tree_branch(self) -> "TreeBranch":
        """The branch that contains the turn."""
        tree_branch = self._tree_branch_ref()
        assert tree_branch is not None
        return tree_branch


class TreeBranch:
    """A branch of the conversation, from its fork to its tip."""

    __slots__ = (
        "__weakref__",
        "branch",
        "count",
        "fork_uid",
        "forked_turns",
        "lane",
        "prompts",
        "steps",
        "turns",
    )

    def __init__(self, *, fork_uid: str | None, branch: TimelineBranch | None, lane: int) -> None:
        self.fork_uid = fork_uid
        """The checkpoint of another branch where this branch forks off. None: the start of the session."""
        self.branch = branch
        """The engine's record of the branch. None for the current branch."""
        self.lane = lane
        """Indentation level: the number of branches to the left of this branch."""
        self.turns: list[TimelineTurn] = []
        self.forked_turns: set[int] = set()
        """Indexes of the turns in which other branches fork off."""
        self.count = 0
        """Number of checkpoints."""
        self.prompts = 0
        self.steps = 0

    @property
    def key(self) -> str:
        """The uid of its first checkpoint."""
        return self.turns[0].head if self.turns else ""

    @property
    def tip(self) -> str:
        """The uid of the branch's last checkpoint."""
        last = self.turns[-1]
        return last.steps[-1] if last.steps else last.head


class TimelineTree:
    """All branches. Appending a checkpoint to the current branch takes constant time."""

    def __init__(self, timeline: Timeline | None = None) -> None:
        timeline = timeline or Timeline()
        self.nodes: dict[str, TimelineNode] = {node.uid: node for node in timeline.nodes}
        self.branches = timeline.branches
        self.undo = timeline.undo
        self.redo = timeline.redo
        self.current = timeline.current
        self.older_count = timeline.older
        """Number of older checkpoints that haven't been loaded yet."""
        self.has_checks = any(node.check is not None for node in timeline.nodes)
        """Whether any step was checked."""
        self.has_file_states = any(not node.problem for node in timeline.nodes)
        """Whether file states are recorded at all."""
        self.turn_of: dict[str, TimelineTurn] = {}
        """The turn of each checkpoint, by uid."""
        self.root_branches: list[TreeBranch] = []
        """Branches other than the current one that begin at the session start."""
        self._prompts_by_parent = {node.parent: node.uid for node in timeline.nodes if node.kind == "user"}
        self.current_branch = TreeBranch(fork_uid=None, branch=None, lane=0)
        self._append_path(self.current_branch, self._path(timeline.current))
        self._add_branches()

    @property
    def nodes_by_age(self) -> Iterable[TimelineNode]:
        """All checkpoints, oldest first."""
        return self.nodes.values()

    def find_by_id(self, number: int) -> TimelineNode | None:
        """Return the checkpoint with this number."""
        return next((node for node in self.nodes.values() if node.id == number), None)

    def totals(self, turn: TimelineTurn) -> Totals:
        """Return the changes made in a turn."""
        if turn.totals is None:
            total = Totals()
            for uid in (turn.head, *turn.steps):
                total = total.add(self.nodes[uid])
            turn.totals = total
        return turn.totals

    def tree_branch_of(self, uid: str) -> TreeBranch:
        """Return the branch that contains a checkpoint."""
        return self.turn_of[uid].tree_branch

    def branch_at(self, uid: str) -> TimelineBranch | None:
        """Return the branch that contains a checkpoint, or that a compaction or a clear created at it.

        None if the checkpoint is on the current branch and replaced nothing.
        """
        node = self.nodes[uid]
        if (branch := self.tree_branch_of(uid).branch) is not None:
            return branch
        for candidate in self.branches:
            if candidate.number == node.branch or (
                candidate.reason == node.kind in _REPLACING_KINDS and candidate.tip in (node.uid, node.parent)
            ):
                return candidate
        return None

    def is_on_current_branch(self, uid: str) -> bool:
        """Return whether a checkpoint is on the current branch."""
        return self.tree_branch_of(uid) is self.current_branch

    def update(self, update: TimelineUpdate) -> "tuple[list[str], bool]":
        """Apply an update. Return the uids appended to the current branch and whether nothing else changed.

        If anything else changed, the tree must be rebuilt.
        """
        added: list[str] = []
        in_order = True
        for node in update.nodes:
            self.has_checks = self.has_checks or node.check is not None
            if (old := self.nodes.get(node.uid)) is not None:
                self.nodes[node.uid] = node
                self._update_totals(old, node)
                in_order = in_order and old.kind == node.kind and old.parent == node.parent
            else:
                self.nodes[node.uid] = node
                self.has_file_states = self.has_file_states or not node.problem
                if node.kind == "user":
                    self._prompts_by_parent[node.parent] = node.uid
                if node.parent == self.current:
                    self.current = node.uid
                    self._append_path(self.current_branch, [node.uid])
                    added.append(node.uid)
                else:
                    in_order = False
        if update.current is not None and update.current != self.current:
            in_order = False
            self.current = update.current
        return added, in_order

    def rebuild(self) -> "TimelineTree":
        """Return a new tree of the same checkpoints."""
        nodes = tuple(sorted(self.nodes.values(), key=lambda node: node.id))
        return TimelineTree(
            Timeline(
                nodes=nodes,
                branches=self.branches,
                current=self.current,
                undo=self.undo,
                redo=self.redo,
                older=self.older_count,
            )
        )

    # building

    def _path(self, tip: str | None) -> list[str]:
        # Ancestors of the tip that aren't in the tree yet, oldest first.
        nodes, turn_of = self.nodes, self.turn_of
        path: dict[str, None] = {}
        while tip is not None and tip in nodes and tip not in turn_of and tip not in path:
            path[tip] = None
            tip = nodes[tip].parent
        return list(reversed(path))

    def _append_path(self, tree_branch: TreeBranch, path: Sequence[str]) -> None:
        # Performance matters: with ten thousand checkpoints, the user waits for this when opening the pane.
        nodes, turns, turn_of, branch_ref = (
            self.nodes,
            tree_branch.turns,
            self.turn_of,
            weakref.ref(tree_branch),
        )
        turn = turns[-1] if turns else None
        for uid in path:
            node = nodes[uid]
            if turn is not None and node.kind in _STEP_KINDS and not self._replaces_request(node):
                turn.steps.append(uid)
                if turn.totals is not None:
                    turn.totals = turn.totals.add(node)
            else:
                turn = TimelineTurn(uid, branch_ref, len(turns))
                turns.append(turn)
            turn_of[uid] = turn
        kinds = Counter([nodes[uid].kind for uid in path])
        tree_branch.count += len(path)
        tree_branch.prompts += kinds["user"]
        tree_branch.steps += kinds["step"]

    def _replaces_request(self, node: TimelineNode) -> bool:
        # A D-Mail to before a prompt replaces that prompt, so it starts a turn.
        if node.kind != "dmail":
            return False
        prompt = self._prompts_by_parent.get(node.parent)
        return prompt is not None and self.nodes[prompt].id < node.id

    def _add_branches(self) -> None:
        for branch in sorted(self.branches, key=lambda branch: -branch.number):
            self._add_branch(branch.tip, branch)
        if len(self.turn_of) < len(self.nodes):
            # Checkpoints on no known branch are shown on placeholder branches.
            for uid in reversed(list(self.nodes)):
                if uid not in self.turn_of:
                    self._add_branch(uid, TimelineBranch(number=-1, left=self.nodes[uid].time, tip=uid))

    def _add_branch(self, tip: str | None, branch: TimelineBranch) -> None:
        path = self._path(tip)
        if not path:
            return
        fork_uid = self.nodes[path[0]].parent
        parent_turn = self.turn_of.get(fork_uid) if fork_uid is not None else None
        if parent_turn is None or fork_uid is None:
            tree_branch = TreeBranch(fork_uid=None, branch=branch, lane=1)
            self._append_path(tree_branch, path)
            self.root_branches.insert(0, tree_branch)
            return
        tree_branch = TreeBranch(fork_uid=fork_uid, branch=branch, lane=parent_turn.tree_branch.lane + 1)
        self._append_path(tree_branch, path)
        parent_turn.child_branches.setdefault(fork_uid, []).insert(0, tree_branch)
        parent_turn.tree_branch.forked_turns.add(parent_turn.index)

    def _update_totals(self, old: TimelineNode, node: TimelineNode) -> None:
        turn = self.turn_of.get(node.uid)
        if turn is None or turn.totals is None or _have_same_totals(old, node):
            return
        if old.files is None and not old.shell and old.check is None and node.check is None:
            turn.totals = turn.totals.add(node)
        else:
            turn.totals = None


def _have_same_totals(old: TimelineNode, node: TimelineNode) -> bool:
    return old.files == node.files and old.shell == node.shell and old.check == node.check
