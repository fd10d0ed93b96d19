"""Read-only access to a conversation that another process may be writing. Nothing is repaired."""

from pathlib import Path

from kimi_tui.base.gc_control import gc_paused
from kimi_tui.history.branch import Branch, BranchPreview, preview_branch, resolve_branches
from kimi_tui.history.checkpoint_tree import CheckpointTree
from kimi_tui.history.conversation_state import ConversationState
from kimi_tui.history.journal import Journal
from kimi_tui.history.journal_reader import read_journal


class ReadOnlyConversation:
    """The conversation in one file. The methods block and raise SessionError."""

    def __init__(self, file: Path) -> None:
        self._journal = Journal(file)
        self._previews: dict[int, BranchPreview] = {}
        """Branches never change, so each is read only once."""

    def current_state(self) -> ConversationState:
        """Return the current branch."""
        return read_journal(self._journal.path).state if self._journal.size else ConversationState()

    def branches(self, state: ConversationState) -> tuple[Branch, ...]:
        """Return the other branches, oldest first; `state` is that of the current branch."""
        for number, path in self._journal.rotations().items():
            if number not in self._previews:
                self._previews[number] = preview_branch(number, path)
        return resolve_branches(self._previews.values(), state.reverts)

    def tree(self, state: ConversationState) -> CheckpointTree:
        """Return the tree of all branches; `state` is that of the current branch."""
        tree = CheckpointTree(tuple(state.checkpoints), tuple(state.reverts), self.branches(state))
        with gc_paused():
            tree.build_index()
        return tree

    def clear_cache(self) -> None:
        """Discard the cached previews. Call this after the session directory was replaced."""
        self._previews.clear()

    def read_branch(self, number: int) -> ConversationState | None:
        """Return the state of another branch; None if that branch doesn't exist."""
        path = self._journal.rotations().get(number)
        return read_journal(path).state if path is not None else None
