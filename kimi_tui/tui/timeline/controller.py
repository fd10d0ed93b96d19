"""Controller of the timeline: runs the user's requests from the pane and from commands."""

from collections.abc import Coroutine, Sequence
from typing import Any, Literal, assert_never

from textual.screen import Screen

from kimi_tui.base.assets import asset_path
from kimi_tui.frontend.message_batch import MessageBatch
from kimi_tui.frontend.session_controller import SessionController
from kimi_tui.i18n.translate import tr, tr_n
from kimi_tui.tui.commands.command_host import CommandHost
from kimi_tui.tui.keys.keymap import KeyLabels
from kimi_tui.tui.options import TuiOptions
from kimi_tui.tui.screen.timeline_place import TimelinePlace
from kimi_tui.tui.timeline.attempts_opener import AttemptsOpener
from kimi_tui.tui.timeline.changes_dialog import ReviewRequested
from kimi_tui.tui.timeline.dialogs import TimelineDialogs
from kimi_tui.tui.timeline.pane import TimelinePane
from kimi_tui.tui.timeline.request import TimelineRequest
from kimi_tui.tui.timeline.revert_proposal import (
    AttemptSelection,
    RevertCommand,
    RevertProposal,
    propose_adoption,
    propose_file_restore,
    propose_redo,
    propose_revert,
    propose_switch,
    propose_undo,
)
from kimi_tui.tui.timeline.review_opener import ReviewOpener, notify_missing_checkpoint
from kimi_tui.tui.timeline.row_renderer import branch_title, format_age
from kimi_tui.tui.timeline.tree import TimelineTree
from kimi_tui.tui.timeline.tree_loader import TreeLoader
from kimi_tui.tui.widgets.choice_list import Choice
from kimi_tui.wire.attempts import AttemptChanges, AttemptList
from kimi_tui.wire.channel import Wire
from kimi_tui.wire.commands import ForkSession, NameCheckpoint
from kimi_tui.wire.events import Notification, SessionInfo, TurnBegin, TurnEnd
from kimi_tui.wire.review import ChangeReview, CommentList, PlannedFileContent
from kimi_tui.wire.timeline import (
    BranchContent,
    Comparison,
    PatchWritten,
    Reverted,
    RevertPlan,
    RevertScope,
    Timeline,
    TimelineBranch,
    TimelineNode,
    TimelineUpdate,
)
from kimi_tui.wire.why import LineReason


class TimelineController:
    """Shows the pane, and opens the dialogs that the user requests in the pane or with a command."""

    def __init__(
        self,
        *,
        screen: Screen[Any],
        place: TimelinePlace,
        host: CommandHost,
        wire: Wire,
        session_controller: SessionController,
        options: TuiOptions,
        key_labels: KeyLabels,
    ) -> None:
        self._screen = screen
        self._place = place
        self._host = host
        self._wire = wire
        self._options = options
        self._key_labels = key_labels
        self._session_id = session.session_id if (session := host.state.session) is not None else ""
        self._pane: TimelinePane | None = None
        self._is_shown = False
        self._loader = TreeLoader(screen=screen, wire=wire)
        self._dialogs = TimelineDialogs(screen=screen, host=host, wire=wire, key_labels=key_labels)
        self._reviews = ReviewOpener(loader=self._loader, dialogs=self._dialogs, host=host, planner=self)
        self._attempts = AttemptsOpener(dialogs=self._dialogs, planner=self)
        self._session_controller = session_controller
        self._deferred_command: RevertCommand | None = None
        """The command to send when the interrupted turn has ended."""
        sheet = screen.app.stylesheet
        sheet.read_all([asset_path("styles", "timeline.tcss")])
        sheet.parse()

    # the pane

    async def toggle(self) -> None:
        """Show and focus the pane, or hide it if it has the focus."""
        if self._is_shown and self._pane is not None and self._pane.has_focus_within:
            self.hide()
            return
        self._is_shown = True
        self._loader.load_newest()  # first, so that the reply arrives while the pane is being mounted
        if self._pane is not None:
            await self._place.show_timeline(self._pane)
        else:
            self._pane = TimelinePane(
                handler=self, host=self._host, options=self._options, key_labels=self._key_labels
            )
            await self._place.show_timeline(self._pane)
            self._loader.show_in(self._pane.view)
        self._screen.set_focus(self._pane.view)  # immediately: the next key is for the pane

    def close(self) -> None:
        """Hide the pane without moving the focus."""
        self._is_shown = False
        self._place.hide_timeline()
        self._place.preview_checkpoint(None)

    def hide(self) -> None:
        """Hide the pane and return the focus to the prompt."""
        self.close()
        self._place.return_focus()

    def leave(self) -> None:
        """Focus the prompt; on a narrow screen also hide the pane."""
        if self._place.is_narrow:
            self.hide()
        else:
            self._place.preview_checkpoint(None)
            self._place.return_focus()

    def preview(self, node: TimelineNode | None) -> None:
        """Scroll the conversation to a checkpoint. None is the current state."""
        self._place.preview_checkpoint(node.id if node is not None else None)

    # from the engine

    def consume(self, batch: MessageBatch) -> None:
        """Handle the messages for the timeline. Drop replies shown in a dialog from the conversation."""
        for message in batch.timeline:
            match message:
                case Timeline():
                    self._loader.build(message)
                case TimelineUpdate():
                    self._loader.update(message)
                case Reverted(reason=reason):
                    if reason not in ("dmail", "compaction"):
                        self._handle_revert()
                case SessionInfo(session_id=session_id):
                    if self._session_id and session_id != self._session_id:
                        self._loader.restart()
                    self._session_id = session_id
                case TurnBegin() | TurnEnd():
                    if isinstance(message, TurnEnd) and self._deferred_command is not None:
                        command, self._deferred_command = self._deferred_command, None
                        self._wire.command(command)
                    self._dialogs.handle_turn_change()
                case AttemptList(is_requested=is_requested):
                    if self._dialogs.show_attempts(message) and is_requested:
                        batch.drop_from_conversation(message)
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
                    | Notification()
                ):
                    if self._dialogs.deliver(message):
                        batch.drop_from_conversation(message)
                case _:
                    assert_never(message)

    def _handle_revert(self) -> None:
        """Show the current state. The focus stays in the pane, so that `u` undoes a revert from there."""
        self._loader.expect_revert()
        self._dialogs.handle_revert()
        if self._pane is not None and self._pane.is_mounted:
            self._pane.view.action_edge(-1)
        self._place.preview_checkpoint(None)

    # what the user requests in the pane

    def handle_request(self, request: TimelineRequest) -> None:
        """Run an action of the pane."""
        action, node, branch = request.action, request.node, request.branch
        match action:
            case "leave":
                self.leave()
            case "undo" | "redo":
                self.undo_or_redo(action)
            case "back" if node is None and request.row_kind is None:
                self.revert_to_number(None)
            case "review" if node is None and request.row_kind is None:
                self.review_numbers(None, None)
            case _ if node is None and request.row_kind is None:
                self._host.notify(tr("This is the current state. Choose a checkpoint below."))
            case _ if node is None:
                self._host.notify(tr("The session starts here. Choose a checkpoint above."))
            case "back" if request.row_kind == "branch" and branch is not None:
                self.open_plan(propose_switch(branch, branch_title(branch, self._loader.tree)))
            case "back":
                self.open_plan(propose_revert(node))
            case "conversation" | "files" | "turn":
                self.open_plan(propose_revert(node, scope=action))
            case "mail":
                self.open_plan(propose_revert(node, writes_note=True))
            case "preview":
                self._start(self._compare(node, None))
            case "compare":
                self._start(self._compare(node, request.other_node))
            case "review":
                self.review_numbers(node.id, None)
            case "attempts" if self._is_read_only():
                pass
            case "attempts":
                self._start(self._attempts.start(node))
            case "switch" if branch is not None:
                self.open_plan(propose_switch(branch, branch_title(branch, self._loader.tree)))
            case "look" if branch is not None:
                self._start(self._view_branch(branch))
            case "switch" | "look":
                self._host.notify(tr("This checkpoint is on the current branch."))
            case "fork" | "name" if self._is_read_only():
                pass
            case "fork" if self._host.state.turn is not None:
                self._host.notify(
                    tr("A turn is running. Interrupt it or wait until it ends, then fork."),
                    severity="warning",
                )
            case "fork":
                self._wire.command(ForkSession(node.id))
            case "name":
                self._wire.command(NameCheckpoint(node.id, request.name))
            case _:
                assert_never(action)

    # what the user requests with a command

    async def load_checkpoints(self) -> Sequence[TimelineNode]:
        """Return the checkpoints of the current branch, oldest first."""
        tree = await self._loader.load_all()
        return [tree.nodes[uid] for turn in tree.current_branch.turns for uid in (turn.head, *turn.steps)]

    def show_number(self, number: int) -> None:
        """Show the pane and highlight the checkpoint with this number."""
        self._start(self._show_number(number))

    async def _show_number(self, number: int) -> None:
        if not self._is_shown or self._pane is None or not self._pane.has_focus_within:
            await self.toggle()
        node = (await self._loader.load_all()).find_by_id(number)
        if node is None:
            notify_missing_checkpoint(self._host, number)
        elif self._pane is not None:
            self._pane.view.highlight_checkpoint(node.uid)

    def revert_to_number(
        self, number: int | None, *, scope: RevertScope = "both", note: str = "", only: str = ""
    ) -> None:
        """Show the plan of a revert to a checkpoint, by default the last prompt. Run it if the user confirms.

        With `only`, restore only that file.
        """
        if not self._is_read_only():
            self._start(self._revert_to_number(number, scope, note, only))

    async def _revert_to_number(self, number: int | None, scope: RevertScope, note: str, only: str) -> None:
        tree = await self._loader.load_all()
        node = _last_prompt(tree) if number is None else tree.find_by_id(number)
        if node is None and number is None:
            self._host.notify(tr("No prompt to revert yet."))
        elif node is None:
            notify_missing_checkpoint(self._host, number)
        else:
            proposal = propose_revert(node, scope=scope, note=note)
            await self._plan(propose_file_restore(only, node) if only else proposal)

    def switch_to_number(self, number: int, *, to: int | None = None) -> None:
        """Show the plan of a switch to the branch with this number and run it if the user confirms."""
        if not self._is_read_only():
            self._start(self._switch_to_number(number, to))

    async def _switch_to_number(self, number: int, to: int | None) -> None:
        tree = await self._loader.load_all()
        branch = next((branch for branch in tree.branches if branch.number == number), None)
        if branch is None:
            self._host.notify(
                tr("Branch {number} doesn't exist. /branches lists the branches.", number=number),
                severity="error",
            )
        else:
            await self._plan(propose_switch(branch, branch_title(branch, self._loader.tree), to=to))

    def undo_or_redo(self, action: Literal["undo", "redo"]) -> None:
        """Show the plan of an undo or a redo and run it if the user confirms."""
        if not self._is_read_only():
            self._start(self._undo_or_redo(action))

    async def _undo_or_redo(self, action: Literal["undo", "redo"]) -> None:
        tree = await self._loader.load_all()
        proposal = propose_undo(tree) if action == "undo" else propose_redo(tree)
        if proposal is None:
            self._host.notify(tr("Nothing to undo.") if action == "undo" else tr("Nothing to redo."))
        else:
            await self._plan(proposal)

    def choose_branch(self) -> None:
        """Let the user choose a branch to switch to or, in a read-only session, to view."""
        self._start(self._choose_branch())

    async def _choose_branch(self) -> None:
        tree = await self._loader.load_all()
        branches = {str(branch.number): branch for branch in reversed(tree.branches)}
        if not branches:
            self._host.notify(tr("No branches yet. Reverting, compacting or clearing creates one."))
            return
        now = self._options.wall_clock()
        choices = [
            Choice(
                value=number,
                label=branch_title(branch, self._loader.tree),
                detail=tr_n("{count:,} message", "{count:,} messages", branch.messages),
                note=format_age(now - branch.left) if branch.left else "",
            )
            for number, branch in branches.items()
        ]
        title = tr("View a branch") if self._host.state.read_only else tr("Switch to a branch")
        branch = branches.get(await self._host.choose(title, choices) or "")
        if branch is not None and self._host.state.read_only:
            await self._view_branch(branch)
        elif branch is not None:
            await self._plan(propose_switch(branch, branch_title(branch, self._loader.tree)))

    def compare_numbers(self, before: int | None, after: int | None) -> None:
        """Show how the files differ between two checkpoints. Without `before`, compare from the last prompt;
        without `after`, with the current files.
        """
        self._start(self._compare_numbers(before, after))

    async def _compare_numbers(self, before: int | None, after: int | None) -> None:
        tree = await self._loader.load_all()
        first = _last_prompt(tree) if before is None else tree.find_by_id(before)
        second = None if after is None else tree.find_by_id(after)
        if first is None:
            notify_missing_checkpoint(self._host, before)
        elif second is None and after is not None:
            notify_missing_checkpoint(self._host, after)
        else:
            await self._compare(first, second)

    def review_numbers(self, before: int | None, after: int | None) -> None:
        """Let the user review the changes between two checkpoints. Without `before`, begin after the last
        review; without `after`, end with the current files.
        """
        self._start(self._reviews.open(before, after))

    def open_attempts(self, adopted: Sequence[int] = ()) -> None:
        """Let the user compare the attempts and adopt their changes.

        With `adopted`, show the plan that adopts these attempts, and run it if the user confirms.
        """
        if adopted:
            self.open_plan(propose_adoption(AttemptSelection(tuple(adopted))))
        elif not self._is_read_only():
            self._start(self._attempts.compare())

    def open_plan(self, proposal: RevertProposal) -> None:
        """Show the plan of a proposal, and run it if the user confirms."""
        if not self._is_read_only():
            self._start(self._plan(proposal))

    async def _plan(self, proposal: RevertProposal) -> None:
        """Show the plan of a proposal, and run it if the user confirms. This interrupts a running turn."""
        command = await self._dialogs.confirm(proposal)
        if command is None:
            return
        if self._host.state.turn is not None:
            self._deferred_command = command
            self._session_controller.interrupt()
        else:
            self._wire.command(command)

    async def _compare(self, before: TimelineNode, after: TimelineNode | None) -> None:
        match await self._dialogs.compare(before, after):
            case RevertProposal() as proposal:
                await self._plan(proposal)
            case ReviewRequested():
                await self._reviews.open(before.id, after.id if after is not None else None)
            case None:
                pass

    async def _view_branch(self, branch: TimelineBranch) -> None:
        if (
            proposal := await self._dialogs.view_branch(branch, branch_title(branch, self._loader.tree))
        ) is not None:
            await self._plan(proposal)

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        """Run a coroutine that waits for the user."""
        self._screen.run_worker(work, group="timeline")

    def _is_read_only(self) -> bool:
        """Return whether the session is read-only. In that case, notify the user."""
        if self._host.state.read_only:
            self._host.notify(tr("This session is read-only. Use /write to continue it."), severity="warning")
        return self._host.state.read_only


def _last_prompt(tree: TimelineTree) -> TimelineNode | None:
    prompts = (tree.nodes[turn.head] for turn in reversed(tree.current_branch.turns))
    return next((node for node in prompts if node.kind == "user"), None)
