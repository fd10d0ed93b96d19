"""Dialogs that ask the engine something: each gets its answer, and no answer goes astray."""

from collections.abc import Callable, Coroutine
from typing import Any

from textual.screen import Screen

from kimi_tui.tui.timeline.branch_dialog import BranchDialog
from kimi_tui.tui.timeline.changes_dialog import ChangesDialog
from kimi_tui.tui.timeline.plan_dialog import Decision, PlanDialog
from kimi_tui.wire.channel import Outgoing
from kimi_tui.wire.commands import Command
from kimi_tui.wire.events import Notification, TurnBegin, TurnEnd
from kimi_tui.wire.timeline import BranchContent, Comparison, PatchWritten, RevertPlan


class Enquiries:
    """Opens one dialog at a time. What the user decided in it is given to the engine."""

    def __init__(
        self,
        *,
        screen: Screen[Any],
        command: Callable[[Command], None],
        is_working: Callable[[], bool],
        interrupt: Callable[[], None],
        in_background: Callable[[], int],
    ) -> None:
        """`is_working` tells whether a turn runs, which `interrupt` stops."""
        self._screen = screen
        self._command = command
        self.is_working = is_working
        self.in_background = in_background
        self._interrupt = interrupt
        self._held: Command | None = None
        """The jump that waits for the end of the turn, which was stopped for it."""
        self._dialog: PlanDialog | ChangesDialog | BranchDialog | None = None
        self._awaited = 0
        """How many answers to what dialogs asked are still to come."""

    def ask(self, question: Command) -> None:
        """Ask the engine something that a dialog shows."""
        self._awaited += 1
        self._command(question)

    def took(self, message: Outgoing) -> bool:
        """Give `message` to the dialog that asked for it; False when nobody did.

        An answer that comes after its dialog was closed is dropped. A patch stays to be told of elsewhere.
        """
        dialog = self._dialog
        if isinstance(message, TurnBegin | TurnEnd):
            self._follow_turn(message)
        if not self._awaited:
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
                self._awaited -= 1
                return False
            case BranchContent():
                if isinstance(dialog, BranchDialog):
                    dialog.show_content(message)
            case Notification(severity="error") if dialog is not None:
                dialog.show_problem(f"{message.title} {message.body}".strip())
            case _:
                return False
        self._awaited -= 1
        return True

    def _follow_turn(self, message: TurnBegin | TurnEnd) -> None:
        if isinstance(message, TurnEnd) and self._held is not None:
            held, self._held = self._held, None
            self._command(held)
        if isinstance(self._dialog, PlanDialog):
            self._dialog.follow_turn()

    def decide(self, dialog: PlanDialog, carry_out: Callable[[Decision], Command]) -> None:
        """Have the user decide on a plan."""
        self.start(self._decide(dialog, carry_out))

    def look(self, dialog: ChangesDialog, question: Command, bring_back: Callable[[str], None]) -> None:
        """Show what the engine answers; the user may want to bring back a file of it."""
        self.start(self._look(dialog, question, bring_back))

    def read(self, dialog: BranchDialog, question: Command, go_on: Callable[[], None]) -> None:
        """Show what was said on a branch; the user may want to go on with it."""
        self.start(self._read(dialog, question, go_on))

    def start(self, work: Coroutine[Any, Any, None]) -> None:
        """Do what waits for the user."""
        self._screen.run_worker(work, group="timeline")

    async def _decide(self, dialog: PlanDialog, carry_out: Callable[[Decision], Command]) -> None:
        self._dialog = dialog
        decision = await self._screen.app.push_screen_wait(dialog)
        self._dialog = None
        if decision is None:
            return
        if self.is_working():
            self._held = carry_out(decision)
            self._interrupt()
        else:
            self._command(carry_out(decision))

    async def _look(
        self, dialog: ChangesDialog, question: Command, bring_back: Callable[[str], None]
    ) -> None:
        self._dialog = dialog
        dialog.call_after_refresh(self.ask, question)
        path = await self._screen.app.push_screen_wait(dialog)
        self._dialog = None
        if path is not None:
            bring_back(path)

    async def _read(self, dialog: BranchDialog, question: Command, go_on: Callable[[], None]) -> None:
        self._dialog = dialog
        dialog.call_after_refresh(self.ask, question)
        wanted = await self._screen.app.push_screen_wait(dialog)
        self._dialog = None
        if wanted:
            go_on()
