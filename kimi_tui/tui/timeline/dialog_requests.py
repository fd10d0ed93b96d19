"""Delivery of the engine's replies to the timeline dialogs that requested them."""

from collections.abc import Callable, Coroutine
from typing import Any

from textual.screen import Screen

from kimi_tui.tui.timeline.branch_dialog import BranchDialog
from kimi_tui.tui.timeline.changes_dialog import ChangesDialog
from kimi_tui.tui.timeline.plan_dialog import PlanDecision, PlanDialog
from kimi_tui.wire.channel import Outgoing
from kimi_tui.wire.commands import Command
from kimi_tui.wire.events import Notification, TurnBegin, TurnEnd
from kimi_tui.wire.timeline import BranchContent, Comparison, PatchWritten, RevertPlan


class DialogRequests:
    """Opens one dialog at a time and sends the user's decision to the engine."""

    def __init__(
        self,
        *,
        screen: Screen[Any],
        command: Callable[[Command], None],
        is_working: Callable[[], bool],
        interrupt: Callable[[], None],
        background_task_count: Callable[[], int],
    ) -> None:
        """`is_working` returns whether a turn is running; `interrupt` interrupts it."""
        self._screen = screen
        self._command = command
        self.is_working = is_working
        self.background_task_count = background_task_count
        self._interrupt = interrupt
        self._deferred_revert: Command | None = None
        """The revert to run when the interrupted turn has ended."""
        self._dialog: PlanDialog | ChangesDialog | BranchDialog | None = None
        self._pending_answers = 0
        """Number of requested replies that haven't arrived yet."""

    def ask(self, query: Command) -> None:
        """Send a query whose reply a dialog shows."""
        self._pending_answers += 1
        self._command(query)

    def deliver(self, message: Outgoing) -> bool:
        """Pass `message` to the dialog that requested it; return False if none did.

        A reply that arrives after its dialog was closed is dropped. A `PatchWritten` is shown in the dialog
        and also returned as unhandled, so that the conversation reports it too.
        """
        dialog = self._dialog
        if isinstance(message, TurnBegin | TurnEnd):
            self._handle_turn(message)
        if not self._pending_answers:
            return False
        match message:
            case RevertPlan():
                if isinstance(dialog, PlanDialog):
                    dialog.show_plan(message)
            case Comparison():
                if isinstance(dialog, ChangesDialog):
                    dialog.show_comparison(message)
            case PatchWritten():
                if isinstance(dialog, ChangesDialog):
                    dialog.show_patch(message)
                self._pending_answers -= 1
                return False
            case BranchContent():
                if isinstance(dialog, BranchDialog):
                    dialog.show_content(message)
            case Notification(severity="error") if dialog is not None:
                dialog.show_problem(f"{message.title} {message.body}".strip())
            case _:
                return False
        self._pending_answers -= 1
        return True

    def _handle_turn(self, message: TurnBegin | TurnEnd) -> None:
        if isinstance(message, TurnEnd) and self._deferred_revert is not None:
            command, self._deferred_revert = self._deferred_revert, None
            self._command(command)
        if isinstance(self._dialog, PlanDialog):
            self._dialog.handle_turn_change()

    def open_plan(self, dialog: PlanDialog, build_command: Callable[[PlanDecision], Command]) -> None:
        """Let the user decide on a plan."""
        self.start(self._run_plan_dialog(dialog, build_command))

    def open_changes(
        self, dialog: ChangesDialog, query: Command, restore_file: Callable[[str], None]
    ) -> None:
        """Show a comparison, from which the user may restore a file."""
        self.start(self._run_changes_dialog(dialog, query, restore_file))

    def open_branch(self, dialog: BranchDialog, query: Command, switch_branch: Callable[[], None]) -> None:
        """Show the messages of a branch, to which the user may switch."""
        self.start(self._run_branch_dialog(dialog, query, switch_branch))

    def start(self, work: Coroutine[Any, Any, None]) -> None:
        """Run a coroutine that waits for the user."""
        self._screen.run_worker(work, group="timeline")

    async def _run_plan_dialog(
        self, dialog: PlanDialog, build_command: Callable[[PlanDecision], Command]
    ) -> None:
        self._dialog = dialog
        decision = await self._screen.app.push_screen_wait(dialog)
        self._dialog = None
        if decision is None:
            return
        if self.is_working():
            self._deferred_revert = build_command(decision)
            self._interrupt()
        else:
            self._command(build_command(decision))

    async def _run_changes_dialog(
        self, dialog: ChangesDialog, query: Command, restore_file: Callable[[str], None]
    ) -> None:
        self._dialog = dialog
        dialog.call_after_refresh(self.ask, query)
        path = await self._screen.app.push_screen_wait(dialog)
        self._dialog = None
        if path is not None:
            restore_file(path)

    async def _run_branch_dialog(
        self, dialog: BranchDialog, query: Command, switch_branch: Callable[[], None]
    ) -> None:
        self._dialog = dialog
        dialog.call_after_refresh(self.ask, query)
        should_switch = await self._screen.app.push_screen_wait(dialog)
        self._dialog = None
        if should_switch:
            switch_branch()
