"""Reading a conversation that another process may write: as it stands on disk, and nothing is mended."""

from pathlib import Path

from kimi_tui.base.collection import uncollected
from kimi_tui.history.branch import Branch, Glance, branches, glance
from kimi_tui.history.journal import Journal
from kimi_tui.history.line import Line
from kimi_tui.history.loading import load
from kimi_tui.history.tree import Tree


class Reading:
    """The conversation in one file. Its methods block, and raise SessionError."""

    def __init__(self, file: Path) -> None:
        self._journal = Journal(file)
        self._glances: dict[int, Glance] = {}
        """Branches never change, so that one look at each is enough."""

    def line(self) -> Line:
        """The live line."""
        return load(self._journal.path).line if self._journal.size else Line()

    def branches(self, line: Line) -> tuple[Branch, ...]:
        """The lines that were left, oldest first, of which `line` is the live one."""
        for number, path in self._journal.rotations().items():
            if number not in self._glances:
                self._glances[number] = glance(number, path)
        return branches(self._glances.values(), line.reverts)

    def tree(self, line: Line) -> Tree:
        """All lines of the conversation, of which `line` is the live one, put together."""
        tree = Tree(tuple(line.checkpoints), tuple(line.reverts), self.branches(line))
        with uncollected():
            tree.put_together()
        return tree

    def forget(self) -> None:
        """Look at the branches anew: the folder is not the same any more."""
        self._glances.clear()

    def branch(self, number: int) -> Line | None:
        """A line that was left; None when there is none of that number."""
        path = self._journal.rotations().get(number)
        return load(path).line if path is not None else None
