"""The rows of the pane: which checkpoints of the tree stand below each other, as it is folded and filtered.

They are kept oldest first, so that a new checkpoint is appended; the pane draws them the other way round.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, overload

from kimi_tui.tui.timeline.search import Search, SearchedWords
from kimi_tui.tui.timeline.tree import Strand, Tree, Turn

RowKind = Literal["turn", "step", "branch", "origin"]
_NONE: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Row:
    """One row: a turn, one of its steps, a branch that leaves here, or the beginning of all lines."""

    kind: RowKind
    strand: Strand
    """What it lies on; for a branch, that branch itself."""
    turn: Turn | None = None
    uid: str = ""
    """Its checkpoint; of a branch the last one."""
    joins: bool = False
    """Whether a branch leaves the strand directly above it."""
    topmost: bool = True
    """Of a branch: whether it is the newest of those that leave there."""

    @property
    def key(self) -> tuple[RowKind, str]:
        """What stays the same when the rows are made anew."""
        return self.kind, self.strand.key if self.kind == "branch" else self.uid


Entry = Row | Turn | str
"""What a row is made of: itself, a turn that stands alone, or the uid of a checkpoint that was found."""


class RowList(Sequence[Row]):
    """Rows that are made when they are looked at: of ten thousand only those in sight ever are."""

    def __init__(self, made: Callable[[Turn | str], Row]) -> None:
        self._made = made
        self._entries: list[Entry] = []

    def __len__(self) -> int:
        return len(self._entries)

    @overload
    def __getitem__(self, index: int) -> Row: ...
    @overload
    def __getitem__(self, index: slice) -> list[Row]: ...
    def __getitem__(self, index: int | slice) -> Row | list[Row]:
        """The row there, or those."""
        if isinstance(index, slice):
            return list(map(self._row, self._entries[index]))
        return self._row(self._entries[index])

    def append(self, entry: Entry) -> None:
        """Add a row at the end."""
        self._entries.append(entry)

    def extend(self, entries: Iterable[Entry]) -> None:
        """Add rows at the end."""
        self._entries.extend(entries)

    def put_before(self, entries: Sequence[Entry]) -> None:
        """Add rows at the beginning."""
        self._entries[:0] = entries

    def place_of(self, entry: Turn | str) -> int | None:
        """Where a turn that stands alone, or a checkpoint that was found, is; None when it isn't there."""
        try:
            return self._entries.index(entry)
        except ValueError:
            return None

    def place_of_row(self, key: tuple[RowKind, str]) -> int | None:
        """The same for a row that is more than its turn."""
        rows = ((index, entry) for index, entry in enumerate(self._entries) if isinstance(entry, Row))
        return next((index for index, row in rows if row.key == key), None)

    def _row(self, entry: Entry) -> Row:
        return entry if isinstance(entry, Row) else self._made(entry)


class Rows:
    """The rows of a tree. What the user did not open is closed, but for the newest turn."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.all = RowList(self._row_of)
        self.query = ""
        self._words = SearchedWords()
        self._search: Search | None = None
        """What goes on finding what fits `query`."""
        self._open: set[tuple[RowKind, str]] = set()
        """Keys of the rows that the user opened."""
        self._newest = ""
        """The turn that is open because it is the newest."""
        self._opened: defaultdict[Strand, set[int]] = defaultdict(set)
        """The places of the turns that are open and have steps, as the rows were made last."""
        self.show(tree)

    def show(self, tree: Tree) -> None:
        """Show another tree, folded as before."""
        self.tree = tree
        self._newest = tree.live.turns[-1].head if tree.live.turns else ""
        self._make()

    def filter(self, query: str) -> None:
        """Show only checkpoints that speak of `query`; all of them for nothing.

        In a long timeline the older ones are found later, by `search_on`.
        """
        self.query = query.strip().lower()
        self._make()

    @property
    def is_searching(self) -> bool:
        """Whether there may be more that fits."""
        return self._search is not None

    def search_on(self) -> int:
        """Search a bit further; how many rows came in, before those that were there."""
        if self._search is None:
            return 0
        found = self._search.go_on()
        self.all.put_before(found)
        if self._search.is_over:
            self._search = None
        return len(found)

    def grow(self, added: list[str]) -> bool:
        """Show checkpoints that were added at the live line's end. False when rows before them changed."""
        for uid in added:
            turn = self.tree.turn_of[uid]
            if self.query:
                if self._words.fit(self.tree.nodes[uid], self.query):
                    self.all.append(uid)
            elif uid == turn.head:
                if not self._settle_newest(turn):
                    return False
                self.all.append(turn)
            elif self._is_open(("turn", turn.head)):
                self.all.append(Row("step", turn.strand, turn, uid))
        return True

    def index_of(self, key: tuple[RowKind, str]) -> int | None:
        """Where a row stands; None when it doesn't."""
        kind, uid = key
        turn = self.tree.turn_of.get(uid) if kind in ("turn", "step") else None
        if turn is None or kind != ("turn" if uid == turn.head else "step"):
            return self.all.place_of_row(key) if turn is None else None
        if self.query:
            return self.all.place_of(uid)
        index = self.all.place_of(turn) if kind == "turn" else None
        return index if index is not None else self.all.place_of_row(key)

    def index_of_checkpoint(self, uid: str) -> int | None:
        """Where a checkpoint stands, else the turn or branch that it is folded into."""
        turn = self.tree.turn_of.get(uid)
        while turn is not None:
            for key in (("turn", uid), ("step", uid), ("turn", turn.head), ("branch", turn.strand.key)):
                if (index := self.index_of(key)) is not None:
                    return index
            fork = turn.strand.fork
            turn = self.tree.turn_of.get(fork) if fork is not None else None
            uid = fork or ""
        return None

    # folding

    def can_open(self, row: Row) -> bool:
        """Whether there is something in it."""
        if self.query or row.kind == "origin":
            return False
        if row.kind == "turn" and row.turn is not None:
            return bool(row.turn.steps)
        return row.kind == "branch"

    def shows_open(self, row: Row) -> bool:
        """Whether it is open."""
        return self._is_open(row.key)

    def fold(self, row: Row, *, opened: bool) -> bool:
        """Open or close a turn or branch; whether that changed anything."""
        if not self.can_open(row) or self.shows_open(row) == opened:
            return False
        if opened:
            self._open.add(row.key)
        else:
            self._open.discard(row.key)
            if row.key == ("turn", self._newest):
                self._newest = ""
        self._make()
        return True

    def reveal(self, uid: str) -> None:
        """Open what a checkpoint is folded into."""
        turn = self.tree.turn_of.get(uid)
        while turn is not None:
            if uid != turn.head:
                self._open.add(("turn", turn.head))
            if turn.strand is not self.tree.live:
                self._open.add(("branch", turn.strand.key))
            uid = turn.strand.fork or ""
            turn = self.tree.turn_of.get(uid)
        self._make()

    def _is_open(self, key: tuple[RowKind, str]) -> bool:
        return key in self._open or key == ("turn", self._newest)

    def _settle_newest(self, turn: Turn) -> bool:
        # The turn that was open only since it was the newest closes; the user's own choices stay.
        before, self._newest = self._newest, turn.head
        if before and ("turn", before) not in self._open and self.tree.turn_of[before].steps:
            self._make()
            return False
        return True

    # making

    def _make(self) -> None:
        rows = self.all = RowList(self._row_of)
        tree = self.tree
        self._search = None
        if self.query:
            self._search = Search(tree.by_age, self.query, self._words)
            self.search_on()
            return
        self._opened.clear()
        for kind, uid in (*self._open, ("turn", self._newest)):
            turn = tree.turn_of.get(uid) if kind == "turn" else None
            if turn is not None and turn.head == uid and turn.steps:
                self._opened[turn.strand].add(turn.place)
        if tree.rootless:
            # Drawn from below: the beginning first, then what begins there.
            rows.append(Row("origin", tree.live, joins=True))
            self._add_branches(tree.rootless)
        self._add_strand(tree.live)

    def _add_strand(self, strand: Strand) -> None:
        done = 0
        opened = self._opened.get(strand, _NONE)
        for place in sorted(opened | strand.forks):
            self.all.extend(strand.turns[done:place])
            self._add_turn(strand, strand.turns[place], opened=place in opened)
            done = place + 1
        self.all.extend(strand.turns[done:] if done else strand.turns)

    def _add_turn(self, strand: Strand, turn: Turn, *, opened: bool) -> None:
        leaving = turn.leaving
        if not opened:
            self.all.append(Row("turn", strand, turn, turn.head, joins=bool(leaving)))
            for uid in (turn.head, *turn.steps):
                self._add_branches(leaving.get(uid, ()))
            return
        self.all.append(Row("turn", strand, turn, turn.head, joins=turn.head in leaving))
        self._add_branches(leaving.get(turn.head, ()))
        for uid in turn.steps:
            self.all.append(Row("step", strand, turn, uid, joins=uid in leaving))
            self._add_branches(leaving.get(uid, ()))

    def _add_branches(self, branches: "list[Strand] | tuple[()]") -> None:
        for number, strand in enumerate(branches):
            if self._is_open(("branch", strand.key)):
                self._add_strand(strand)
            self.all.append(Row("branch", strand, None, strand.tip, topmost=number == len(branches) - 1))

    # filtering

    def _row_of(self, entry: Turn | str) -> Row:
        turn = self.tree.turn_of[entry] if isinstance(entry, str) else entry
        uid = entry if isinstance(entry, str) else turn.head
        return Row("turn" if uid == turn.head else "step", turn.strand, turn, uid)
