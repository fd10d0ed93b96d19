"""Rows of the timeline pane: the visible checkpoints of the tree, according to folding and filter.

Rows are sorted by age, oldest first, so that a new checkpoint is appended. The pane draws them in reverse.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, overload

from kimi_tui.tui.timeline.filter import IncrementalFilter, SearchTextCache
from kimi_tui.tui.timeline.tree import TimelineTree, TimelineTurn, TreeBranch

RowKind = Literal["turn", "step", "branch", "origin"]
_NO_TURNS: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class TimelineRow:
    """A turn, one of its steps, a branch that forks off here, or the start of the session."""

    kind: RowKind
    tree_branch: TreeBranch
    """The branch that contains the row. For a branch row, the branch of the row."""
    turn: TimelineTurn | None = None
    uid: str = ""
    """The uid of the row's checkpoint. For a branch, the uid of its last checkpoint."""
    has_branch_above: bool = False
    """Whether a branch forks off directly above this row."""
    is_topmost: bool = True
    """For a branch, whether it is the newest branch that forks off at its checkpoint."""

    @property
    def key(self) -> tuple[RowKind, str]:
        """Identity of the row, which is stable when the rows are rebuilt."""
        return self.kind, self.tree_branch.key if self.kind == "branch" else self.uid


Entry = TimelineRow | TimelineTurn | str
"""A row, a turn that needs no other rows, or the uid of a checkpoint that matches the filter."""


class RowList(Sequence[TimelineRow]):
    """List of rows. Creates rows on access, so that a long timeline creates only the visible rows."""

    def __init__(self, tree: TimelineTree) -> None:
        self._tree = tree
        self._entries: list[Entry] = []

    def __len__(self) -> int:
        return len(self._entries)

    @overload
    def __getitem__(self, index: int) -> TimelineRow: ...
    @overload
    def __getitem__(self, index: slice) -> list[TimelineRow]: ...
    def __getitem__(self, index: int | slice) -> TimelineRow | list[TimelineRow]:
        """Return a row or a list of rows."""
        if isinstance(index, slice):
            return list(map(self._resolve, self._entries[index]))
        return self._resolve(self._entries[index])

    def append(self, entry: Entry) -> None:
        """Add a row at the end."""
        self._entries.append(entry)

    def extend(self, entries: Iterable[Entry]) -> None:
        """Add rows at the end."""
        self._entries.extend(entries)

    def prepend(self, entries: Sequence[Entry]) -> None:
        """Add rows at the beginning."""
        self._entries[:0] = entries

    def index_of_entry(self, entry: TimelineTurn | str) -> int | None:
        """Return the index of an entry that is a turn or the uid of a match. None if it isn't in the list."""
        try:
            return self._entries.index(entry)
        except ValueError:
            return None

    def index_of_row(self, key: tuple[RowKind, str]) -> int | None:
        """Return the index of a `TimelineRow` entry. None if it isn't in the list."""
        rows = ((index, entry) for index, entry in enumerate(self._entries) if isinstance(entry, TimelineRow))
        return next((index for index, row in rows if row.key == key), None)

    def _resolve(self, entry: Entry) -> TimelineRow:
        return entry if isinstance(entry, TimelineRow) else self._build_row(entry)

    def _build_row(self, entry: TimelineTurn | str) -> TimelineRow:
        turn = self._tree.turn_of[entry] if isinstance(entry, str) else entry
        uid = entry if isinstance(entry, str) else turn.head
        return TimelineRow("turn" if uid == turn.head else "step", turn.tree_branch, turn, uid)


class TimelineRows:
    """The rows of a tree. Turns and branches are collapsed, except for the newest turn and rows that the user
    expanded.
    """

    def __init__(self, tree: TimelineTree) -> None:
        self.tree = tree
        self.all = RowList(self.tree)
        self.query = ""
        self._search_texts = SearchTextCache()
        self._incremental_filter: IncrementalFilter | None = None
        """The running search for `query`."""
        self._expanded: set[tuple[RowKind, str]] = set()
        """Keys of the rows that the user expanded."""
        self._newest_turn = ""
        """The head of the turn that is expanded because it is the newest turn."""
        self._expanded_turns: defaultdict[TreeBranch, set[int]] = defaultdict(set)
        """Indexes of the expanded turns with steps, as of the last rebuild."""
        self.show(tree)

    def show(self, tree: TimelineTree) -> None:
        """Show another tree with the same rows expanded."""
        self.tree = tree
        self._newest_turn = tree.current_branch.turns[-1].head if tree.current_branch.turns else ""
        self._rebuild()

    def filter(self, query: str) -> None:
        """Show only checkpoints that contain `query`. An empty query shows all.

        In a long timeline, call `continue_search` to find older checkpoints.
        """
        self.query = query.strip().lower()
        self._rebuild()

    @property
    def is_searching(self) -> bool:
        """Whether the filter hasn't searched all checkpoints yet."""
        return self._incremental_filter is not None

    def continue_search(self) -> int:
        """Search the next slice and return the number of rows that were prepended."""
        if self._incremental_filter is None:
            return 0
        uids = self._incremental_filter.search_slice()
        self.all.prepend(uids)
        if self._incremental_filter.is_done:
            self._incremental_filter = None
        return len(uids)

    def append_checkpoints(self, added: list[str]) -> bool:
        """Append checkpoints of the current branch. Return False if earlier rows have changed as well."""
        for uid in added:
            turn = self.tree.turn_of[uid]
            if self.query:
                if self._search_texts.matches(self.tree.nodes[uid], self.query):
                    self.all.append(uid)
            elif uid == turn.head:
                if not self._update_newest(turn):
                    return False
                self.all.append(turn)
            elif self._is_open(("turn", turn.head)):
                self.all.append(TimelineRow("step", turn.tree_branch, turn, uid))
        return True

    def index_of(self, key: tuple[RowKind, str]) -> int | None:
        """Return the index of a row, or None if it isn't visible."""
        kind, uid = key
        turn = self.tree.turn_of.get(uid) if kind in ("turn", "step") else None
        if turn is None or kind != ("turn" if uid == turn.head else "step"):
            return self.all.index_of_row(key) if turn is None else None
        if self.query:
            return self.all.index_of_entry(uid)
        index = self.all.index_of_entry(turn) if kind == "turn" else None
        return index if index is not None else self.all.index_of_row(key)

    def index_of_checkpoint(self, uid: str) -> int | None:
        """Return the index of a checkpoint, or of the collapsed turn or branch that contains it."""
        turn = self.tree.turn_of.get(uid)
        while turn is not None:
            for key in (("turn", uid), ("step", uid), ("turn", turn.head), ("branch", turn.tree_branch.key)):
                if (index := self.index_of(key)) is not None:
                    return index
            fork_uid = turn.tree_branch.fork_uid
            turn = self.tree.turn_of.get(fork_uid) if fork_uid is not None else None
            uid = fork_uid or ""
        return None

    # folding

    def can_open(self, row: TimelineRow) -> bool:
        """Return whether the row can be expanded."""
        if self.query or row.kind == "origin":
            return False
        if row.kind == "turn" and row.turn is not None:
            return bool(row.turn.steps)
        return row.kind == "branch"

    def is_open(self, row: TimelineRow) -> bool:
        """Return whether the row is expanded."""
        return self._is_open(row.key)

    def fold(self, row: TimelineRow, *, opened: bool) -> bool:
        """Expand or collapse a turn or branch and return whether that changed anything."""
        if not self.can_open(row) or self.is_open(row) == opened:
            return False
        if opened:
            self._expanded.add(row.key)
        else:
            self._expanded.discard(row.key)
            if row.key == ("turn", self._newest_turn):
                self._newest_turn = ""
        self._rebuild()
        return True

    def reveal(self, uid: str) -> None:
        """Expand the turns and branches that contain a checkpoint."""
        turn = self.tree.turn_of.get(uid)
        while turn is not None:
            if uid != turn.head:
                self._expanded.add(("turn", turn.head))
            if turn.tree_branch is not self.tree.current_branch:
                self._expanded.add(("branch", turn.tree_branch.key))
            uid = turn.tree_branch.fork_uid or ""
            turn = self.tree.turn_of.get(uid)
        self._rebuild()

    def _is_open(self, key: tuple[RowKind, str]) -> bool:
        return key in self._expanded or key == ("turn", self._newest_turn)

    def _update_newest(self, turn: TimelineTurn) -> bool:
        # Collapse the turn that was expanded only because it was the newest; keep what the user expanded.
        previous, self._newest_turn = self._newest_turn, turn.head
        if previous and ("turn", previous) not in self._expanded and self.tree.turn_of[previous].steps:
            self._rebuild()
            return False
        return True

    # building

    def _rebuild(self) -> None:
        rows = self.all = RowList(self.tree)
        tree = self.tree
        self._incremental_filter = None
        if self.query:
            self._incremental_filter = IncrementalFilter(tree.nodes_by_age, self.query, self._search_texts)
            self.continue_search()
            return
        self._expanded_turns.clear()
        for kind, uid in (*self._expanded, ("turn", self._newest_turn)):
            turn = tree.turn_of.get(uid) if kind == "turn" else None
            if turn is not None and turn.head == uid and turn.steps:
                self._expanded_turns[turn.tree_branch].add(turn.index)
        if tree.root_branches:
            # The list starts at the bottom of the pane: the session start first, then its branches.
            rows.append(TimelineRow("origin", tree.current_branch, has_branch_above=True))
            self._add_branches(tree.root_branches)
        self._add_branch(tree.current_branch)

    def _add_branch(self, tree_branch: TreeBranch) -> None:
        start = 0
        expanded = self._expanded_turns.get(tree_branch, _NO_TURNS)
        for index in sorted(expanded | tree_branch.forked_turns):
            self.all.extend(tree_branch.turns[start:index])
            self._add_turn(tree_branch, tree_branch.turns[index], is_expanded=index in expanded)
            start = index + 1
        self.all.extend(tree_branch.turns[start:] if start else tree_branch.turns)

    def _add_turn(self, tree_branch: TreeBranch, turn: TimelineTurn, *, is_expanded: bool) -> None:
        child_branches = turn.child_branches
        if not is_expanded:
            self.all.append(
                TimelineRow("turn", tree_branch, turn, turn.head, has_branch_above=bool(child_branches))
            )
            for uid in (turn.head, *turn.steps):
                self._add_branches(child_branches.get(uid, ()))
            return
        self.all.append(
            TimelineRow("turn", tree_branch, turn, turn.head, has_branch_above=turn.head in child_branches)
        )
        self._add_branches(child_branches.get(turn.head, ()))
        for uid in turn.steps:
            self.all.append(
                TimelineRow("step", tree_branch, turn, uid, has_branch_above=uid in child_branches)
            )
            self._add_branches(child_branches.get(uid, ()))

    def _add_branches(self, branches: "list[TreeBranch] | tuple[()]") -> None:
        for index, branch in enumerate(branches):
            if self._is_open(("branch", branch.key)):
                self._add_branch(branch)
            self.all.append(
                TimelineRow("branch", branch, None, branch.tip, is_topmost=index == len(branches) - 1)
            )
