"""Opener of the dialogs of the timeline. Returns the user's decisions."""

from typing import Any, TypeVar, assert_never

from textual.screen import Screen

from kimi_tui.i18n.translate import tr
from kimi_tui.tui.commands.command_host import CommandHost
from kimi_tui.tui.keys.keymap import KeyLabels
from kimi_tui.tui.timeline.branch_dialog import BranchDialog
from kimi_tui.tui.timeline.changes_dialog import ChangesDialog, ReviewRequested
from kimi_tui.tui.timeline.plan_dialog import PlanDialog
from kimi_tui.tui.timeline.query_dialog import Query, QueryDialog, Reply
from kimi_tui.tui.timeline.revert_proposal import (
    RevertCommand,
    RevertPlanner,
    RevertProposal,
    propose_file_restore,
    propose_switch,
)
from kimi_tui.tui.timeline.tree import TimelineTree
from kimi_tui.wire.attempts import AttemptChanges, AttemptList, StartAttempts
from kimi_tui.wire.channel import Wire
from kimi_tui.wire.events import Notification
from kimi_tui.wire.review import ChangeReview, CommentList, PlannedFileContent
from kimi_tui.wire.timeline import (
    BranchContent,
    Comparison,
    PatchWritten,
    RevertPlan,
    TimelineBranch,
    TimelineNode,
)
from kimi_tui.wire.why import LineReason

T = TypeVar("T")


class TimelineDialogs:
    """Shows one dialog at a time, passes the engine's replies to it, and returns the user's decision.

    The coroutines wait for the user, so they must run in a worker.
    """

    def __init__(
        self,
        *,
        screen: Screen[Any],
        host: CommandHost,
        wire: Wire,
        key_labels: KeyLabels,
    ) -> None:
        self._screen = screen
        self._host = host
        self._wire = wire
        self._key_labels = key_labels
        self._dialog: QueryDialog[Any] | None = None
        """The open dialog. It may cover another dialog."""
        self._pending_replies = 0
        """Number of requested replies that haven't arrived yet."""
        self._pending_starts = 0
        """Number of pending replies that are lists of attempts. Such lists also arrive without a query."""

    async def confirm(self, proposal: RevertProposal) -> RevertCommand | None:
        """Show the plan of a proposal. Return the command that the user confirms."""
        return await self._show(
            PlanDialog(proposal, host=self._host, queries=self, key_labels=self._key_labels)
        )

    async def compare(
        self, before: TimelineNode, after: TimelineNode | None
    ) -> RevertProposal | ReviewRequested | None:
        """Show how the files differ between two checkpoints. Return a proposal to restore the chosen file,
        ReviewRequested, or None.

        Without `after`, compare with the current files.
        """
        result = await self._show(
            ChangesDialog(before, after, host=self._host, queries=self, key_labels=self._key_labels)
        )
        return propose_file_restore(result, before) if isinstance(result, str) else result

    async def review(
        self, before: int | None, after: int | None, *, tree: TimelineTree, planner: RevertPlanner
    ) -> None:
        """Let the user review the changes between two checkpoints, or a checkpoint and now."""
        from kimi_tui.tui.review.review_screen import ReviewScreen

        screen = ReviewScreen(
            before,
            after,
            tree=tree,
            planner=planner,
            host=self._host,
            queries=self,
            key_labels=self._key_labels,
        )
        await self._show(screen)

    async def compare_attempts(self, *, is_starting: bool, planner: RevertPlanner) -> None:
        """Let the user compare the attempts and adopt their changes.

        `is_starting`: attempts were just started and aren't listed yet.
        """
        from kimi_tui.tui.attempts.attempts_dialog import AttemptsDialog

        await self._show(
            AttemptsDialog(
                is_starting=is_starting,
                planner=planner,
                host=self._host,
                queries=self,
                key_labels=self._key_labels,
            )
        )

    async def choose_attempts(self, node: TimelineNode) -> StartAttempts | None:
        """Let the user choose the attempts to start from a checkpoint. Return None if they cancel."""
        from kimi_tui.tui.attempts.start_attempts_dialog import StartAttemptsDialog

        session = self._host.state.session
        if session is None:
            return None
        dialog = StartAttemptsDialog(node, session=session, key_labels=self._key_labels)
        return await self._screen.app.push_screen_wait(dialog)

    async def view_branch(self, branch: TimelineBranch, title: str) -> RevertProposal | None:
        """Show the messages of a branch. If the user wants to switch to the branch, return a proposal."""
        should_switch = await self._show(
            BranchDialog(
                branch,
                title=tr("Branch “{branch}”", branch=title),
                can_switch=not self._host.state.read_only,
                queries=self,
                key_labels=self._key_labels,
            )
        )
        return propose_switch(branch, title) if should_switch else None

    async def _show(self, dialog: QueryDialog[T]) -> T | None:
        covered, self._dialog = self._dialog, dialog
        result = await self._screen.app.push_screen_wait(dialog)
        self._dialog = covered
        return result

    # queries and replies

    def ask(self, query: Query) -> None:
        """Send a query. The open dialog gets the reply. Replies don't identify their query."""
        self._pending_replies += 1
        self._pending_starts += isinstance(query, StartAttempts)
        self._wire.command(query)

    def deliver(self, message: Reply | Notification) -> bool:
        """Handle `message`. Return False if no dialog requested it.

        A reply that arrives after its dialog was closed is dropped. A `PatchWritten` is shown in the dialog
        and also returned as unhandled, so that the conversation reports it too.
        """
        dialog = self._dialog
        if not self._pending_replies:
            return False
        match message:
            case (
                RevertPlan()
                | Comparison()
                | PatchWritten()
                | BranchContent()
                | ChangeReview()
                | PlannedFileContent()
                | CommentList()
                | LineReason()
                | AttemptChanges()
            ):
                if dialog is not None:
                    dialog.show_reply(message)
            case Notification(severity=severity):
                if severity != "error" or dialog is None:
                    return False
                dialog.show_problem(f"{message.title} {message.body}".strip())
                self._pending_starts = min(self._pending_starts, self._pending_replies - 1)
            case _:
                assert_never(message)
        self._pending_replies -= 1
        return not isinstance(message, PatchWritten)

    def show_attempts(self, attempts: AttemptList) -> bool:
        """Update the attempts. Return whether the open dialog shows them."""
        if self._pending_starts:
            self._pending_starts -= 1
            self._pending_replies -= 1
        return self._dialog is not None and self._dialog.show_attempts(attempts)

    def handle_turn_change(self) -> None:
        """Update the open dialog after a turn has begun or ended."""
        if self._dialog is not None:
            self._dialog.handle_turn_change()

    def handle_revert(self) -> None:
        """Update the open dialog after a revert."""
        if self._dialog is not None:
            self._dialog.handle_revert()
