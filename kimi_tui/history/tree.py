"""The tree: every checkpoint of a session, of the live line and of the branches, put together."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from kimi_tui.base.value import value
from kimi_tui.history.branch import Branch
from kimi_tui.history.records import Checkpoint, Revert
from kimi_tui.history.snapshots.manifest import is_manifest

NOT_YET = "the files have not been captured yet"
"""A checkpoint's `files` until its state is known. The next known state of the line is its state, too: what
changes files waits for it."""


@value
class Place:
    """A checkpoint and where it stands."""

    checkpoint: Checkpoint
    branch: int | None
    """The newest branch that it lies on; None when it is on the live line."""
    parent: str | None
    """The uid of the checkpoint before it: on its line, or where that line grew from."""
    next: Checkpoint | None
    """The one after it on its line."""
    files: str
    """The manifest of the files' state, or why there is none."""
    problem: str = ""
    """Why that state is not known and never will be; empty when it is or may yet be."""


@dataclass(frozen=True)
class Tree:
    """The lines of one conversation."""

    live: Sequence[Checkpoint]
    reverts: Sequence[Revert]
    """Those of the live line."""
    branches: Sequence[Branch]
    """Oldest first."""

    def put_together(self) -> None:
        """Do the work that the answers need: with thousands of checkpoints it takes its time."""
        len(self.by_id)

    def put_aside(self) -> "Tree":
        """The same tree before that work: what keeps it for later keeps no more than the lines."""
        return Tree(self.live, self.reverts, self.branches)

    @cached_property
    def places(self) -> Mapping[str, Place]:
        """Every checkpoint by its uid, by rising ids."""
        found: dict[str, Place] = {}
        for branch, line in reversed(list(self._lines())):
            found.update({place.checkpoint.uid: place for place in _placed(line, branch)})
        found |= {uid: self.rooted(place, found) for uid, place in found.items() if place.parent is None}
        return {place.checkpoint.uid: place for place in sorted(found.values(), key=_id)}

    @cached_property
    def by_id(self) -> Mapping[int, Place]:
        """Every checkpoint by its number."""
        return {place.checkpoint.id: place for place in self.places.values()}

    def own_branches(self) -> list[Branch]:
        """The branches that have checkpoints of their own."""
        numbers = {place.branch for place in self.places.values()}
        return [branch for branch in self.branches if branch.number in numbers]

    def branch(self, number: int) -> Branch | None:
        """A branch by its number."""
        return next((branch for branch in self.branches if branch.number == number), None)

    def end_of(self, branch: Branch) -> str:
        """The files' state when a branch was left, or why it isn't known."""
        last = branch.checkpoints[-1] if branch.checkpoints else None
        if last is not None and last.kind in {"revert", "clear"} and is_manifest(last.files):
            return last.files or ""
        after = self._first_after(branch)
        if after is not None and is_manifest(after):
            return after
        return (last.files if last is not None else None) or NOT_YET

    def _first_after(self, branch: Branch) -> str | None:
        """The first state that is known of the line which took the branch's place."""
        left_at = max((checkpoint.id for checkpoint in branch.checkpoints), default=-1)
        for _, line in self._lines():
            later = [known for known in line if known.id > left_at and is_manifest(known.files)]
            if later:
                return min(later, key=lambda known: known.id).files
        return None

    def _lines(self) -> Iterator[tuple[int | None, Sequence[Checkpoint]]]:
        yield None, self.live
        for branch in reversed(self.branches):
            yield branch.number, branch.checkpoints

    def newest(self, live: Sequence[Checkpoint], since: int) -> list[Place]:
        """The checkpoints of the live line as it has grown since, from the one before `since` on."""
        start = len(live)
        while start > 0 and live[start - 1].id >= since:
            start -= 1
        start = max(0, start - 1)
        placed = _placed(live[max(0, start - 1) :], None)
        return [
            self.rooted(place, self.places) if place.parent is None else place
            for place in placed[min(start, 1) :]
        ]

    def rooted(self, place: Place, found: Mapping[str, Place]) -> Place:
        """`place` with its parent: the first of a line grows from where that line came from."""
        checkpoint = place.checkpoint
        if place.parent is not None or checkpoint.parent is None:
            return place
        origin = found.get(checkpoint.parent)
        if origin is None:
            return place
        tips = {branch.checkpoints[-1].uid for branch in self.branches if branch.checkpoints}
        parent = checkpoint.parent if checkpoint.parent in tips else origin.parent
        return Place(checkpoint, place.branch, parent, place.next, place.files, place.problem)


def newest_places(live: Sequence[Checkpoint], count: int) -> list[Place]:
    """The last `count` places of the live line, which has more: what lies before them is not looked at."""
    return _placed(live[-count - 1 :], None)[1:]


def _id(place: Place) -> int:
    return place.checkpoint.id


def _placed(line: Sequence[Checkpoint], branch: int | None) -> list[Place]:
    places = []
    known: str | None = None
    after: Checkpoint | None = None
    for index in range(len(line) - 1, -1, -1):
        checkpoint = line[index]
        files = checkpoint.files or "its files were not captured"
        problem = ""
        if files == known or is_manifest(files):
            known = files
        elif files != NOT_YET:
            known, problem = None, files
        elif known is not None:
            files = known
        before = line[index - 1].uid if index else None
        places.append(Place(checkpoint, branch, before, after, files, problem))
        after = checkpoint
    places.reverse()
    return places
