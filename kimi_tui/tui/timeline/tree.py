"""The tree of checkpoints as the pane shows it: strands made of turns, which other strands leave."""

import weakref
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from kimi_tui.wire.timeline import CheckpointKind, Timeline, TimelineBranch, TimelineNode, TimelineUpdate

_WITHIN: frozenset[CheckpointKind] = frozenset({"step", "dmail", "revert"})
"""Kinds that belong to the turn before them; every other begins a row of its own."""


_REPLACING: frozenset[CheckpointKind] = frozenset({"compaction", "clear"})
"""Kinds that stand where a conversation was replaced, which is a branch since."""


@dataclass(frozen=True, slots=True)
class Totals:
    """What was done from a checkpoint, or from all of a turn's, until the next one."""

    added: int = 0
    removed: int = 0
    changed: int = 0
    yours: int = 0
    shell: bool = False
    partial: bool = False

    def plus(self, node: TimelineNode) -> "Totals":
        """These and what was done from one more checkpoint."""
        files = node.files
        if files is None:
            return self if self.shell or not node.shell else Totals(*self._counts, True, self.partial)
        return Totals(
            self.added + files.added_lines,
            self.removed + files.removed_lines,
            self.changed + files.changed,
            self.yours + files.yours,
            self.shell or node.shell,
            self.partial or bool(files.coverage),
        )

    @property
    def _counts(self) -> tuple[int, int, int, int]:
        return self.added, self.removed, self.changed, self.yours


class Turn:
    """A prompt with its steps, or a mark that stands by itself, such as a compaction."""

    __slots__ = ("_strand", "head", "leaving", "place", "steps", "totals")

    def __init__(self, head: str, strand: "weakref.ref[Strand]", place: int) -> None:
        self.head = head
        """The uid of its first checkpoint."""
        self.place = place
        """How many turns come before it on its strand."""
        self.steps: list[str] = []
        """The uids of the others, oldest first."""
        self._strand = strand  # weak: a tree that is replaced goes at once, and the collector needn't find it
        self.leaving: dict[str, list[Strand]] = {}
        """The strands that leave it, by the checkpoint that they grew from."""
        self.totals: Totals | None = None
        """What was done in it; None until somebody asks."""

    @property
    def strand(self) -> "Strand":
        """What it lies on."""
        strand = self._strand()
        assert strand is not None
        return strand


class Strand:
    """A line of the conversation, from where it leaves another one to its tip."""

    __slots__ = ("__weakref__", "branch", "count", "fork", "forks", "lane", "prompts", "steps", "turns")

    def __init__(self, *, fork: str | None, branch: TimelineBranch | None, lane: int) -> None:
        self.fork = fork
        """The checkpoint of another strand that it grew from; None when it has a beginning of its own."""
        self.branch = branch
        """What is known of it; None for the live line."""
        self.lane = lane
        """How many strands stand left of it."""
        self.turns: list[Turn] = []
        self.forks: set[int] = set()
        """The places of the turns that other strands leave."""
        self.count = 0
        """How many checkpoints it has."""
        self.prompts = 0
        self.steps = 0

    @property
    def key(self) -> str:
        """The uid of its first checkpoint."""
        return self.turns[0].head if self.turns else ""

    @property
    def tip(self) -> str:
        """The uid of its last checkpoint."""
        last = self.turns[-1]
        return last.steps[-1] if last.steps else last.head


class Tree:
    """All strands. A checkpoint at the live line's end costs the same in every tree."""

    def __init__(self, timeline: Timeline | None = None) -> None:
        timeline = timeline or Timeline()
        self.nodes: dict[str, TimelineNode] = {node.uid: node for node in timeline.nodes}
        self.branches = timeline.branches
        self.undo = timeline.undo
        self.redo = timeline.redo
        self.current = timeline.current
        self.older = timeline.older
        """How many checkpoints there are besides, which are told of later."""
        self.keeps_files = any(not node.problem for node in timeline.nodes)
        """Whether the files' states are kept at all."""
        self.turn_of: dict[str, Turn] = {}
        """The turn of each checkpoint."""
        self.rootless: list[Strand] = []
        """Strands besides the live one that begin at the beginning."""
        self._parents = {node.parent: node.uid for node in timeline.nodes if node.kind == "user"}
        self.live = Strand(fork=None, branch=None, lane=0)
        self._grow(self.live, self._path(timeline.current))
        self._add_branches()

    @property
    def by_age(self) -> Iterable[TimelineNode]:
        """Every checkpoint, the oldest first."""
        return self.nodes.values()

    def by_id(self, number: int) -> TimelineNode | None:
        """The checkpoint of that number."""
        return next((node for node in self.nodes.values() if node.id == number), None)

    def totals(self, turn: Turn) -> Totals:
        """What was done in a turn."""
        if turn.totals is None:
            total = Totals()
            for uid in (turn.head, *turn.steps):
                total = total.plus(self.nodes[uid])
            turn.totals = total
        return turn.totals

    def strand_of(self, uid: str) -> Strand:
        """The strand that a checkpoint lies on."""
        return self.turn_of[uid].strand

    def branch_at(self, uid: str) -> TimelineBranch | None:
        """The branch that a checkpoint lies on, or that a compaction or a clear left there; None for none."""
        node = self.nodes[uid]
        if (branch := self.strand_of(uid).branch) is not None:
            return branch
        for known in self.branches:
            if known.number == node.branch or (
                known.reason == node.kind in _REPLACING and known.tip in (node.uid, node.parent)
            ):
                return known
        return None

    def is_live(self, uid: str) -> bool:
        """Whether a checkpoint lies on the live line."""
        return self.strand_of(uid) is self.live

    def update(self, update: TimelineUpdate) -> "tuple[list[str], bool]":
        """Take in what is new: the uids that were added at the live line's end, and whether that was all.

        When it was not, the rows have to be made anew.
        """
        added: list[str] = []
        in_order = True
        for node in update.nodes:
            if (old := self.nodes.get(node.uid)) is not None:
                self.nodes[node.uid] = node
                self._recount(old, node)
                in_order = in_order and old.kind == node.kind and old.parent == node.parent
            else:
                self.nodes[node.uid] = node
                self.keeps_files = self.keeps_files or not node.problem
                if node.kind == "user":
                    self._parents[node.parent] = node.uid
                if node.parent == self.current:
                    self.current = node.uid
                    self._grow(self.live, [node.uid])
                    added.append(node.uid)
                else:
                    in_order = False
        if update.current is not None and update.current != self.current:
            in_order = False
            self.current = update.current
        return added, in_order

    def rebuilt(self) -> "Tree":
        """The same checkpoints, arranged anew."""
        nodes = tuple(sorted(self.nodes.values(), key=lambda node: node.id))
        return Tree(
            Timeline(
                nodes=nodes,
                branches=self.branches,
                current=self.current,
                undo=self.undo,
                redo=self.redo,
                older=self.older,
            )
        )

    # arranging

    def _path(self, tip: str | None) -> list[str]:
        # From the tip down to a checkpoint that has its place already, oldest first.
        nodes, placed = self.nodes, self.turn_of
        path: dict[str, None] = {}
        while tip is not None and tip in nodes and tip not in placed and tip not in path:
            path[tip] = None
            tip = nodes[tip].parent
        return list(reversed(path))

    def _grow(self, strand: Strand, path: Sequence[str]) -> None:
        # With ten thousand checkpoints whoever opens the pane waits for this.
        nodes, turns, turn_of, weak = self.nodes, strand.turns, self.turn_of, weakref.ref(strand)
        turn = turns[-1] if turns else None
        for uid in path:
            node = nodes[uid]
            if turn is not None and node.kind in _WITHIN and not self._replaces_request(node):
                turn.steps.append(uid)
                if turn.totals is not None:
                    turn.totals = turn.totals.plus(node)
            else:
                turn = Turn(uid, weak, len(turns))
                turns.append(turn)
            turn_of[uid] = turn
        kinds = Counter([nodes[uid].kind for uid in path])
        strand.count += len(path)
        strand.prompts += kinds["user"]
        strand.steps += kinds["step"]

    def _replaces_request(self, node: TimelineNode) -> bool:
        # A D-Mail to before a request stands where that request stood: it begins the turn anew.
        if node.kind != "dmail":
            return False
        request = self._parents.get(node.parent)
        return request is not None and self.nodes[request].id < node.id

    def _add_branches(self) -> None:
        known = sorted(self.branches, key=lambda branch: -branch.number)
        for branch in known:
            self._add_strand(branch.tip, branch)
        if len(self.turn_of) < len(self.nodes):
            # What no branch speaks of: what is known of it is shown all the same.
            for uid in reversed(list(self.nodes)):
                if uid not in self.turn_of:
                    self._add_strand(uid, TimelineBranch(number=-1, left=self.nodes[uid].time, tip=uid))

    def _add_strand(self, tip: str | None, branch: TimelineBranch) -> None:
        path = self._path(tip)
        if not path:
            return
        fork = self.nodes[path[0]].parent
        trunk = self.turn_of.get(fork) if fork is not None else None
        lane = trunk.strand.lane + 1 if trunk is not None else 1
        strand = Strand(fork=fork if trunk is not None else None, branch=branch, lane=lane)
        self._grow(strand, path)
        if trunk is not None and fork is not None:
            trunk.leaving.setdefault(fork, []).insert(0, strand)
            trunk.strand.forks.add(trunk.place)
        else:
            self.rootless.insert(0, strand)

    def _recount(self, old: TimelineNode, node: TimelineNode) -> None:
        turn = self.turn_of.get(node.uid)
        if turn is None or turn.totals is None or (old.files == node.files and old.shell == node.shell):
            return
        if old.files is None and not old.shell:
            turn.totals = turn.totals.plus(node)
        else:
            turn.totals = None
