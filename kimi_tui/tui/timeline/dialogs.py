"""Dialogs of the timeline, and what the user decides in them."""

from typing import Any, TypeVar, assert_never

from textual.screen import Screen

from kimi_tui.frontend.session_controller import SessionController
from kimi_tui.i18n.translate import tr
from kimi_tui.tui.commands.command_host import CommandHost
from kimi_tui.tui.keys.keymap import KeyLabels
from kimi_tui.tui.timeline.branch_dialog import BranchDialog
from kimi_tui.tui.timeline.changes_dialog import ChangesDialog
from kimi_tui.tui.timeline.plan_dialog import PlanDialog
from kimi_tui.tui.timeline.query_dialog import Query, QueryDialog, Reply
from kimi_tui.tui.timeline.revert_proposal import (
    RevertCommand,
    RevertProposal,
    propose_file_restore,
    propose_switch,
)
from kimi_tui.wire.channel import Wire
from kimi_tui.wire.events import Notification, TurnBegin, TurnEnd
from kimi_tui.wire.timeline import (
    BranchContent,
    Comparison,
    PatchWritten,
    RevertPlan,
    TimelineBranch,
    TimelineNode,
)

T = TypeVar("T")


class TimelineDialogs:
    """Shows one dialog at a time, passes it the engine's replies, and sends what the user confirms.

    The coroutines wait for the user, so they must run in a worker.
    """

    def __init__(
        self,
        *,
        screen: Screen[Any],
        host: CommandHost,
        wire: Wire,
        session_controller: SessionController,
        key_labels: KeyLabels,
    ) -> None:
        self._screen = screen
        self._host = host
        self._wire = wire
        self._session_controller = session_controller
        self._key_labels = key_labels
        self._dialog: QueryDialog[Any] | None = None
        """The open dialog."""
        self._pending_replies = 0
        """Number of requested replies that haven't arrived yet."""
        self._deferred_command: RevertCommand | None = None
        """The command to send when the interrupted turn has ended."""

    async def plan(self, proposal: RevertProposal) -> None:
        """Show the plan of a proposal, and run it if the user confirms. This interrupts a running turn."""
        command = await self._show(
            PlanDialog(proposal, host=self._host, queries=self, key_labels=self._key_labels)
        )
        if command is None:
            return
        if self._host.state.turn is not None:
            self._deferred_command = command
            self._session_controller.interrupt()
        else:
            self._wire.command(command)

    async def compare(self, before: TimelineNode, after: TimelineNode | None) -> None:
        """Show how the files differ between two checkpoints, and let the user restore one of them.

        Without `after`, compare with the current files.
        """
        path = await self._show(
            ChangesDialog(before, after, host=self._host, queries=self, key_labels=self._key_labels)
        )
        if path is not None:
            await self.plan(propose_file_restore(path, before))

    async def view_branch(self, branch: TimelineBranch, title: str) -> None:
        """Show the messages of a branch, and let the user switch to it."""
        should_switch = await self._show(
            BranchDialog(
                branch,
                title=tr("Branch “{branch}”", branch=title),
                can_switch=not self._host.state.read_only,
                queries=self,
                key_labels=self._key_labels,
            )
        )
        if should_switch:
            await self.plan(propose_switch(branch, title))

    async def _show(self, dialog: QueryDialog[T]) -> T | None:
        self._dialog = dialog
        result = await self._screen.app.push_screen_wait(dialog)
        self._dialog = None
        return result

    # queries and replies

    def ask(self, query: Query) -> None:
        """Send a query. The open dialog is passed the reply, which doesn't name its query."""
        self._pending_replies += 1
        self._wire.command(query)

    def deliver(self, message: Reply | Notification) -> bool:
        """Handle `message`; return False if no dialog requested it.

        A reply that arrives after its dialog was closed is dropped. A `PatchWritten` is shown in the dialog
        and also returned as unhandled, so that the conversation reports it too.
        """
        dialog = self._dialog
        if not self._pending_replies:
            return False
        match message:
            case RevertPlan() | Comparison() | PatchWritten() | BranchContent():
                if dialog is not None:
                    dialog.show_reply(message)
            case Notification(severity=severity):
                if severity != "error" or dialog is None:
                    return False
                dialog.show_problem(f"{message.title} {message.body}".strip())
            case _:
                assert_never(message)
        self._pending_replies -= 1
        return not isinstance(message, PatchWritten)

    def handle_turn(self, message: TurnBegin | TurnEnd) -> None:
        """Send the deferred command once its turn has ended, and update the open dialog."""
        if isinstance(message, TurnEnd) and self._deferred_command is not None:
            command, self._deferred_command = self._deferred_command, None
            self._wire.command(command)
        if self._dialog is not None:
            self._dialog.handle_turn_change()
