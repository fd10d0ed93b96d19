"""Base dialog that sends the engine queries and shows the replies."""

from typing import Generic, Protocol, TypeVar

from textual.screen import ModalScreen

from kimi_tui.tui.keys.keymap import KeyLabels
from kimi_tui.wire.attempts import AttemptChanges, AttemptList, PlanAdoption, ReadAttempt, StartAttempts
from kimi_tui.wire.commands import Compare, PlanRevert, PlanSwitch, ReadBranch, WritePatch
from kimi_tui.wire.review import (
    AddComment,
    ChangeReview,
    CommentList,
    EditComment,
    ListComments,
    PlannedFileContent,
    ReadPlannedFile,
    RemoveComment,
    ReviewChanges,
)
from kimi_tui.wire.timeline import BranchContent, Comparison, PatchWritten, RevertPlan
from kimi_tui.wire.why import ExplainLine, LineReason

T = TypeVar("T")
Query = (
    PlanRevert
    | PlanSwitch
    | Compare
    | WritePatch
    | ReadBranch
    | ReviewChanges
    | ReadPlannedFile
    | AddComment
    | EditComment
    | RemoveComment
    | ListComments
    | ExplainLine
    | PlanAdoption
    | ReadAttempt
    | StartAttempts
)
Reply = (
    RevertPlan
    | Comparison
    | PatchWritten
    | BranchContent
    | ChangeReview
    | PlannedFileContent
    | CommentList
    | LineReason
    | AttemptChanges
)


class TimelineQueries(Protocol):
    """Sends queries to the engine."""

    def ask(self, query: Query) -> None:
        """Send a query. The open dialog gets the reply."""
        ...


class QueryDialog(ModalScreen[T], Generic[T]):
    """Subclasses send queries once they are mounted."""

    def __init__(self, *, title: str, queries: TimelineQueries, key_labels: KeyLabels) -> None:
        super().__init__()
        self._dialog_title = title
        self._queries = queries
        self.key_labels = key_labels

    def show_reply(self, reply: Reply) -> None:
        """Show the reply to a query. Ignore replies to queries of earlier dialogs."""
        raise NotImplementedError

    def show_problem(self, text: str) -> None:
        """Show why a query failed."""
        raise NotImplementedError

    def handle_turn_change(self) -> None:
        """Update the parts that depend on whether a turn is running."""

    def handle_revert(self) -> None:
        """Update the parts that depend on the files, after a revert."""

    def show_attempts(self, attempts: AttemptList) -> bool:
        """Update the attempts. Return whether the dialog shows them."""
        return False
