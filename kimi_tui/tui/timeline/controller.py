"""Controller of the timeline pane: connects it to the engine and the conversation."""

from collections.abc import Callable, Coroutine, Sequence
from typing import Any, Protocol, assert_never

from textual.screen import Screen

from kimi_tui.base.assets import asset_path
from kimi_tui.base.content_parts import TextPart, ThinkPart
from kimi_tui.base.message import ToolCall
from kimi_tui.i18n.translate import tr
from kimi_tui.tui.keys.keymap import KeyLabels
from kimi_tui.tui.timeline.actions import TimelineActions
from kimi_tui.tui.timeline.dialog_requests import DialogRequests
from kimi_tui.tui.timeline.pane import TimelineAction, TimelinePane
from kimi_tui.tui.timeline.tree import TimelineTree
from kimi_tui.tui.timeline.tree_loader import TreeLoader
from kimi_tui.wire.channel import Outgoing
from kimi_tui.wire.commands import Command, ForkSession, NameCheckpoint, ShowTimeline
from kimi_tui.wire.events import SessionInfo, StepBegin, ToolResult
from kimi_tui.wire.timeline import CheckpointCreated, Reverted, Timeline, TimelineNode, TimelineUpdate

_INITIAL_CHECKPOINTS = 600
"""Number of newest checkpoints to load first: more than fit on a screen."""
_IGNORED_TYPES = frozenset({CheckpointCreated, StepBegin, TextPart, ThinkPart, ToolCall, ToolResult})
"""Message types that are skipped early, since a replay contains tens of thousands of them."""


class TimelineHost(Protocol):
    """The part of the screen that holds the timeline pane and the conversation."""

    async def show_timeline(self, pane: TimelinePane) -> None:
        """Show the pane next to the conversation."""
        ...

    def hide_timeline(self) -> None:
        """Hide the pane."""
        ...

    def return_focus(self) -> None:
        """Focus the prompt."""
        ...

    def preview_checkpoint(self, checkpoint_id: int | None) -> None:
        """Scroll the conversation to a checkpoint; None restores the earlier scroll position."""
        ...

    @property
    def is_narrow(self) -> bool:
        """Whether panes are drawn over the conversation."""
        ...


class TimelineController:
    """Shows the pane, loads its tree, and handles actions on the highlighted row."""

    def __init__(
        self,
        *,
        screen: Screen[Any],
        host: TimelineHost,
        session: str,
        read_only: Callable[[], bool],
        is_working: Callable[[], bool],
        interrupt: Callable[[], None],
        background_task_count: Callable[[], int],
        command: Callable[[Command], None],
        notify: Callable[..., None],
        choose: Callable[..., Coroutine[Any, Any, str | None]],
        copy: Callable[[str], None],
        key_labels: KeyLabels,
        wall_clock: Callable[[], float],
    ) -> None:
        self._host = host
        self._command = command
        self._notify = notify
        self._key_labels = key_labels
        self._wall_clock = wall_clock
        self._pane: TimelinePane | None = None
        self._is_shown = False
        self._tree: TimelineTree | None = None
        self._completing_tree: TimelineTree | None = None
        """The partial tree for which the remaining checkpoints were requested."""
        self._is_stale = False
        """Whether a revert was made since the tree was loaded."""
        self._session = session
        self._read_only = read_only
        self._tree_callbacks: list[Callable[[TimelineTree], None]] = []
        self._tree_loader = TreeLoader(screen=screen, show=self._show)
        self._dialogs = DialogRequests(
            screen=screen,
            command=command,
            is_working=is_working,
            interrupt=interrupt,
            background_task_count=background_task_count,
        )
        self._is_working = is_working
        self.actions = TimelineActions(
            dialogs=self._dialogs,
            tree=lambda: self._tree,
            with_tree=self._with_tree,
            read_only=read_only,
            notify=notify,
            choose=choose,
            copy=copy,
            key_labels=key_labels,
            wall_clock=wall_clock,
        )
        """Handlers of the timeline commands."""
        sheet = screen.app.stylesheet
        sheet.read_all([asset_path("styles", "timeline.tcss")])
        sheet.parse()

    # the pane

    async def toggle(self) -> None:
        """Show and focus the pane, or hide it if it has the focus."""
        if self._is_shown and self._pane is not None and self._pane.has_focus_within:
            self._hide()
            return
        self._is_shown = True
        self._request_tree()  # first, so that the response arrives while the pane is being mounted
        is_new = self._pane is None
        if self._pane is None:
            self._pane = TimelinePane(
                key_labels=self._key_labels,
                wall_clock=self._wall_clock,
                read_only=self._read_only,
                request_action=self._handle_action,
                notify_highlighted=self._preview_highlighted,
            )
        await self._host.show_timeline(self._pane)
        if is_new and self._tree is not None:
            self._pane.view.show(self._tree)
            self._request_full_tree()
        self._pane.screen.set_focus(self._pane.view)  # immediately: the next key is for the pane

    def close(self) -> None:
        """Hide the pane without moving the focus."""
        self._is_shown = False
        self._host.hide_timeline()
        self._host.preview_checkpoint(None)

    def _hide(self) -> None:
        self.close()
        self._host.return_focus()

    def _return_to_prompt(self) -> None:
        self._host.preview_checkpoint(None)
        self._host.return_focus()

    def leave(self) -> None:
        """Focus the prompt; on a narrow screen also hide the pane."""
        if self._host.is_narrow:
            self._hide()
        else:
            self._return_to_prompt()

    def _preview_highlighted(self, node: TimelineNode | None) -> None:
        if self._pane is not None and self._pane.has_focus_within:
            self._host.preview_checkpoint(node.id if node is not None else None)

    # from the engine

    def consume(self, batch: Sequence[Outgoing]) -> list[Outgoing]:
        """Handle the messages of `batch` that are for the timeline and return the others."""
        return [message for message in batch if type(message) in _IGNORED_TYPES or not self._consume(message)]

    def _consume(self, message: Outgoing) -> bool:
        match message:
            case Timeline():
                self._tree_loader.load(message)
                return True
            case TimelineUpdate():
                self._tree_loader.update(message)
                self._update(message)
                return True
            case Reverted(reason=reason) if reason not in ("dmail", "compaction"):
                self._handle_revert()
                return False
            case SessionInfo(session_id=session):
                self._handle_session(session)
                return False
            case _:
                return self._dialogs.deliver(message)

    def _show(self, tree: TimelineTree) -> None:
        self._tree, self._is_stale = tree, False
        if self._pane is not None and self._pane.is_mounted:
            self._pane.view.show(tree)
            self._request_full_tree()
        if tree.older_count:
            return
        callbacks, self._tree_callbacks = self._tree_callbacks, []
        for callback in callbacks:
            callback(tree)

    def _update(self, update: TimelineUpdate) -> None:
        if self._tree is None:
            return
        if self._pane is not None and self._pane.is_mounted:
            self._pane.view.update(update)
            self._tree = self._pane.view.rows.tree
        else:
            _, in_order = self._tree.update(update)
            self._tree = self._tree if in_order else self._tree.rebuild()

    def _handle_revert(self) -> None:
        self._is_stale = True
        if self._pane is not None and self._pane.is_mounted:
            self._pane.view.action_edge(-1)
        self.leave()

    def _handle_session(self, session: str) -> None:
        if self._session and session != self._session and self._tree is not None:
            self._tree = None
            self._tree_loader.stop()
            self._request_tree()
        self._session = session

    # requests to the engine and actions of the pane

    def _request_tree(self) -> None:
        if self._tree is None:
            self._command(ShowTimeline(_INITIAL_CHECKPOINTS))

    def _request_full_tree(self) -> None:
        tree = self._tree
        if (
            self._pane is not None
            and tree is not None
            and tree.older_count
            and self._completing_tree is not tree
        ):
            self._completing_tree = tree
            self._pane.call_after_refresh(self._command, ShowTimeline())

    def _with_tree(self, callback: Callable[[TimelineTree], None]) -> None:
        if self._tree is not None and not self._tree.older_count and not self._is_stale:
            callback(self._tree)
        else:
            self._tree_callbacks.append(callback)
            self._command(ShowTimeline())

    def _handle_action(self, action: TimelineAction) -> None:
        if self._pane is None:
            return
        node, row = self._pane.view.highlighted_node, self._pane.view.highlighted_row
        branch = None if node is None or row is None else self._pane.view.rows.tree.branch_at(node.uid)
        match action:
            case "leave":
                self.leave()
            case "undo" | "redo":
                self.actions.undo_or_redo(action)
            case _ if row is None:
                self._notify(tr("This is the current state. Choose a checkpoint below."))
            case _ if node is None:
                self._notify(tr("The session starts here. Choose a checkpoint above."))
            case "back" if row.kind == "branch" and branch is not None:
                self.actions.switch_branch(branch)
            case "back":
                self.actions.revert_to(node)
            case "conversation" | "files" | "turn":
                self.actions.revert_to(node, scope=action)
            case "mail":
                self.actions.revert_to(node, writes_note=True)
            case "preview":
                self.actions.compare(node, None)
            case "compare":
                self._compare_marked(node)
            case "switch" if branch is not None:
                self.actions.switch_branch(branch)
            case "look" if branch is not None:
                self.actions.open_branch(branch)
            case "switch" | "look":
                self._notify(tr("This checkpoint is on the current branch."))
            case "fork" | "name" if self.actions.warn_if_read_only():
                pass
            case "fork" if self._is_working():
                self._notify(
                    tr("A turn is running. Interrupt it or wait until it ends, then fork."),
                    severity="warning",
                )
            case "fork":
                self._command(ForkSession(node.id))
            case "name":
                self._ask_name(self._pane, node)
            case _:
                assert_never(action)

    def _compare_marked(self, node: TimelineNode) -> None:
        assert self._pane is not None
        view = self._pane.view
        other = view.rows.tree.nodes.get(view.compare_uid)
        if other is None:
            view.compare_uid = node.uid
        else:
            view.compare_uid = ""
            if other is not node:
                before, after = sorted((other, node), key=lambda each: each.id)
                self.actions.compare(before, after)
        view.refresh()
        self._pane.refresh_details()

    def _ask_name(self, pane: TimelinePane, node: TimelineNode) -> None:
        pane.open_input(
            tr("name of checkpoint {number} (empty to remove)", number=node.id),
            lambda name: self._command(NameCheckpoint(node.id, name)),
            initial=node.name,
        )
