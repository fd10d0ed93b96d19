"""What links the timeline pane with the engine and the conversation."""

from collections.abc import Callable, Coroutine, Sequence
from typing import Any, Protocol, assert_never

from textual.screen import Screen

from kimi_tui.base.assets import asset_path
from kimi_tui.base.content import TextPart, ThinkPart
from kimi_tui.base.message import ToolCall
from kimi_tui.language.saying import say
from kimi_tui.tui.keys import KeyNames
from kimi_tui.tui.timeline.enquiries import Enquiries
from kimi_tui.tui.timeline.growth import Growth
from kimi_tui.tui.timeline.journeys import Journeys
from kimi_tui.tui.timeline.pane import TimelinePane, Wish
from kimi_tui.tui.timeline.tree import Tree
from kimi_tui.wire.channel import Outgoing
from kimi_tui.wire.commands import Command, ForkSession, NameCheckpoint, ShowTimeline
from kimi_tui.wire.events import SessionInfo, StepBegin, ToolResult
from kimi_tui.wire.timeline import CheckpointCreated, Reverted, Timeline, TimelineNode, TimelineUpdate

_AT_FIRST = 600
"""Checkpoints that are asked for first, of a long timeline: more than a screen shows of it."""
_FOR_OTHERS = frozenset({CheckpointCreated, StepBegin, TextPart, ThinkPart, ToolCall, ToolResult})
"""Of these a replay has tens of thousands."""


class Bench(Protocol):
    """The screen's part that the pane stands in, and the conversation beside it."""

    async def show_timeline(self, pane: TimelinePane) -> None:
        """Put the pane beside the conversation."""
        ...

    def hide_timeline(self) -> None:
        """Take it away."""
        ...

    def leave(self) -> None:
        """Give the keyboard back to the prompt."""
        ...

    def look_back(self, checkpoint_id: int | None) -> None:
        """Show where a checkpoint stands in the conversation; None goes back to where it was."""
        ...

    @property
    def is_narrow(self) -> bool:
        """Whether panes lie over the conversation."""
        ...


class TimelineRoom:
    """Shows the pane, keeps its tree, and does what is wanted of the marked row."""

    def __init__(
        self,
        *,
        screen: Screen[Any],
        bench: Bench,
        session: str,
        read_only: Callable[[], bool],
        is_working: Callable[[], bool],
        interrupt: Callable[[], None],
        in_background: Callable[[], int],
        command: Callable[[Command], None],
        say: Callable[..., None],
        choose: Callable[..., Coroutine[Any, Any, str | None]],
        copy: Callable[[str], None],
        names: KeyNames,
        wall_clock: Callable[[], float],
    ) -> None:
        self._bench = bench
        self._command = command
        self._say = say
        self._names = names
        self._wall_clock = wall_clock
        self._pane: TimelinePane | None = None
        self._is_shown = False
        self._tree: Tree | None = None
        self._completed: Tree | None = None
        """The tree whose rest was asked for."""
        self._is_stale = False
        """Whether a jump was made since the tree was told."""
        self._session = session
        self._read_only = read_only
        self._when_known: list[Callable[[Tree], None]] = []
        self._growth = Growth(screen=screen, show=self._show)
        self._enquiries = Enquiries(
            screen=screen,
            command=command,
            is_working=is_working,
            interrupt=interrupt,
            in_background=in_background,
        )
        self._is_working = is_working
        self.journeys = Journeys(
            enquiries=self._enquiries,
            tree=lambda: self._tree,
            with_tree=self._with_tree,
            read_only=read_only,
            say=say,
            choose=choose,
            copy=copy,
            names=names,
            wall_clock=wall_clock,
        )
        """Where the user can go from here."""
        sheet = screen.app.stylesheet
        sheet.read_all([asset_path("styles", "timeline.tcss")])
        sheet.parse()

    # the pane

    async def toggle(self) -> None:
        """Show the pane and go there; hide it when it has the keyboard."""
        if self._is_shown and self._pane is not None and self._pane.has_focus_within:
            self._hide()
            return
        self._is_shown = True
        self._ask_tree()  # first of all: the answer comes while the pane is put in its place
        is_new = self._pane is None
        if self._pane is None:
            self._pane = TimelinePane(
                names=self._names,
                wall_clock=self._wall_clock,
                read_only=self._read_only,
                wish=self._wished,
                marked=self._marked,
            )
        await self._bench.show_timeline(self._pane)
        if is_new and self._tree is not None:
            self._pane.view.show(self._tree)
            self._ask_for_the_rest()
        self._pane.screen.set_focus(self._pane.view)  # at once: the next key is for it

    def close(self) -> None:
        """Hide the pane; the keyboard stays where it is."""
        self._is_shown = False
        self._bench.hide_timeline()
        self._bench.look_back(None)

    def _hide(self) -> None:
        self.close()
        self._bench.leave()

    def _go_away(self) -> None:
        self._bench.look_back(None)
        self._bench.leave()

    def leave(self) -> None:
        """Go back to the prompt; where the pane lies over the conversation it is hidden."""
        if self._bench.is_narrow:
            self._hide()
        else:
            self._go_away()

    def _marked(self, node: TimelineNode | None) -> None:
        if self._pane is not None and self._pane.has_focus_within:
            self._bench.look_back(node.id if node is not None else None)

    # from the engine

    def take(self, batch: Sequence[Outgoing]) -> list[Outgoing]:
        """Take what is for the timeline out of what arrived; the rest is given back."""
        return [message for message in batch if type(message) in _FOR_OTHERS or not self._took(message)]

    def _took(self, message: Outgoing) -> bool:
        match message:
            case Timeline():
                self._growth.grow(message)
                return True
            case TimelineUpdate():
                self._growth.update(message)
                self._update(message)
                return True
            case Reverted(reason=reason) if reason not in ("dmail", "compaction"):
                self._jumped()
                return False
            case SessionInfo(session_id=session):
                self._follow_session(session)
                return False
            case _:
                return self._enquiries.took(message)

    def _show(self, tree: Tree) -> None:
        self._tree, self._is_stale = tree, False
        if self._pane is not None and self._pane.is_mounted:
            self._pane.view.show(tree)
            self._ask_for_the_rest()
        if tree.older:
            return
        waiting, self._when_known = self._when_known, []
        for act in waiting:
            act(tree)

    def _update(self, update: TimelineUpdate) -> None:
        if self._tree is None:
            return
        if self._pane is not None and self._pane.is_mounted:
            self._pane.view.update(update)
            self._tree = self._pane.view.rows.tree
        else:
            _, in_order = self._tree.update(update)
            self._tree = self._tree if in_order else self._tree.rebuilt()

    def _jumped(self) -> None:
        self._is_stale = True
        if self._pane is not None and self._pane.is_mounted:
            self._pane.view.action_edge(-1)
        self.leave()

    def _follow_session(self, session: str) -> None:
        if self._session and session != self._session and self._tree is not None:
            self._tree = None
            self._growth.stop()
            self._ask_tree()
        self._session = session

    # what is wanted

    def _ask_tree(self) -> None:
        if self._tree is None:
            self._command(ShowTimeline(_AT_FIRST))

    def _ask_for_the_rest(self) -> None:
        tree = self._tree
        if self._pane is not None and tree is not None and tree.older and self._completed is not tree:
            self._completed = tree
            self._pane.call_after_refresh(self._command, ShowTimeline())

    def _with_tree(self, act: Callable[[Tree], None]) -> None:
        if self._tree is not None and not self._tree.older and not self._is_stale:
            act(self._tree)
        else:
            self._when_known.append(act)
            self._command(ShowTimeline())

    def _wished(self, wish: Wish) -> None:
        if self._pane is None:
            return
        node, row = self._pane.view.node, self._pane.view.marked
        branch = None if node is None or row is None else self._pane.view.rows.tree.branch_at(node.uid)
        match wish:
            case "leave":
                self.leave()
            case "undo" | "redo":
                self.journeys.undo_or_redo(wish)
            case _ if row is None:
                self._say(say("This is how things are now. Choose a moment below."))
            case _ if node is None:
                self._say(say("Nothing lies before the beginning. Choose a moment above."))
            case "back" if row.kind == "branch" and branch is not None:
                self.journeys.switch(branch)
            case "back":
                self.journeys.go_back(node)
            case "conversation" | "files" | "turn":
                self.journeys.go_back(node, scope=wish)
            case "mail":
                self.journeys.go_back(node, mail=True)
            case "preview":
                self.journeys.compare(node, None)
            case "compare":
                self._compare_marked(node)
            case "switch" if branch is not None:
                self.journeys.switch(branch)
            case "look" if branch is not None:
                self.journeys.look_into(branch)
            case "switch" | "look":
                self._say(say("This lies on the conversation as it is; there is no branch to go to."))
            case "fork" | "name" if self.journeys.is_refused():
                pass
            case "fork" if self._is_working():
                self._say(
                    say("The agent is at work. Fork once it has finished, or stop it first."),
                    severity="warning",
                )
            case "fork":
                self._command(ForkSession(node.id))
            case "name":
                self._ask_name(self._pane, node)
            case _:
                assert_never(wish)

    def _compare_marked(self, node: TimelineNode) -> None:
        assert self._pane is not None
        view = self._pane.view
        other = view.rows.tree.nodes.get(view.compared)
        if other is None:
            view.compared = node.uid
        else:
            view.compared = ""
            if other is not node:
                before, after = sorted((other, node), key=lambda each: each.id)
                self.journeys.compare(before, after)
        view.refresh()
        self._pane.tell()

    def _ask_name(self, pane: TimelinePane, node: TimelineNode) -> None:
        pane.ask_for(
            say("a name for {number}; empty takes it away", number=node.id),
            lambda name: self._command(NameCheckpoint(node.id, name)),
            initial=node.name,
        )
