"""What links the timeline pane and its dialogs with the engine and the conversation."""

from collections.abc import Callable, Coroutine, Sequence
from typing import Any, Protocol, assert_never

from textual.screen import Screen

from kimi_tui.base.assets import asset_path
from kimi_tui.base.terminal import plain_line
from kimi_tui.tui.choices import Choice
from kimi_tui.tui.keys import KeyNames
from kimi_tui.tui.timeline.branch_dialog import BranchDialog
from kimi_tui.tui.timeline.changes_dialog import ChangesDialog
from kimi_tui.tui.timeline.look import age, label_of, titled
from kimi_tui.tui.timeline.pane import TimelinePane, Wish
from kimi_tui.tui.timeline.plan_dialog import Decision, PlanDialog
from kimi_tui.tui.timeline.tree import Tree
from kimi_tui.wire.channel import Outgoing
from kimi_tui.wire.commands import (
    Command,
    Compare,
    ForkSession,
    LookIntoBranch,
    NameCheckpoint,
    PlanRevert,
    PlanSwitch,
    Redo,
    Revert,
    ShowTimeline,
    SwitchBranch,
    Undo,
)
from kimi_tui.wire.events import Notification
from kimi_tui.wire.timeline import (
    BranchContent,
    Comparison,
    Reverted,
    RevertPlan,
    RevertScope,
    Timeline,
    TimelineBranch,
    TimelineNode,
    TimelineUpdate,
)

_SCOPES: tuple[RevertScope, ...] = ("both", "conversation", "files", "turn")
_SWITCH_SCOPES: tuple[RevertScope, ...] = ("both", "conversation", "files")


class Bench(Protocol):
    """The screen's part that the pane stands in, and the conversation beside it."""

    def show_timeline(self, pane: TimelinePane | None) -> None:
        """Put the pane beside the conversation; None hides it."""
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
    """Opens the pane and the dialogs, asks the engine for what they show, and has decisions carried out."""

    def __init__(
        self,
        *,
        screen: Screen[Any],
        bench: Bench,
        command: Callable[[Command], None],
        say: Callable[..., None],
        choose: Callable[..., Coroutine[Any, Any, str | None]],
        copy: Callable[[str], None],
        names: KeyNames,
        wall_clock: Callable[[], float],
    ) -> None:
        self._screen = screen
        self._bench = bench
        self._command = command
        self._say = say
        self._choose = choose
        self._copy = copy
        self._names = names
        self._wall_clock = wall_clock
        self._pane: TimelinePane | None = None
        self._is_shown = False
        self._tree: Tree | None = None
        self._dialog: PlanDialog | ChangesDialog | BranchDialog | None = None
        self._awaited = 0
        """How many answers to what dialogs asked are still to come."""
        self._when_known: list[Callable[[Tree], None]] = []
        self._load_styles()

    def _load_styles(self) -> None:
        sheet = self._screen.app.stylesheet
        sheet.read_all([asset_path("styles", "timeline.tcss")])
        sheet.parse()

    # the pane

    def toggle(self) -> None:
        """Show the pane and go there; hide it when it has the keyboard."""
        if self._is_shown and self._pane is not None and self._pane.has_focus_within:
            self._hide()
            return
        self._is_shown = True
        if self._pane is None:
            self._pane = TimelinePane(
                names=self._names, wall_clock=self._wall_clock, wish=self._wished, marked=self._marked
            )
            self._bench.show_timeline(self._pane)
            self._pane.call_after_refresh(self._fill)
        else:
            self._bench.show_timeline(self._pane)
            self._pane.view.focus()
        self._ask_tree()

    def _fill(self) -> None:
        if self._pane is not None:
            self._pane.view.focus()
            if self._tree is not None:
                self._pane.view.show(self._tree)

    def _hide(self) -> None:
        self._is_shown = False
        self._bench.show_timeline(None)
        self._go_away()

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
        return [message for message in batch if not self._took(message)]

    def _took(self, message: Outgoing) -> bool:
        match message:
            case Timeline():
                self._show(Tree(message))
            case TimelineUpdate():
                self._update(message)
            case RevertPlan() if self._awaited:
                self._awaited -= 1
                if isinstance(self._dialog, PlanDialog):
                    self._dialog.show_plan(message)
            case Comparison() if self._awaited:
                self._awaited -= 1
                if isinstance(self._dialog, ChangesDialog):
                    self._dialog.show_comparison(message)
            case BranchContent() if self._awaited:
                self._awaited -= 1
                if isinstance(self._dialog, BranchDialog):
                    self._dialog.show_content(message)
            case Notification(severity="error") if self._awaited and self._dialog is not None:
                self._awaited -= 1
                self._dialog.show_problem(f"{message.title} {message.body}".strip())
            case Reverted(reason=reason) if reason not in ("dmail", "compaction"):
                self._jumped()
                return False
            case _:
                return False
        return True

    def _show(self, tree: Tree) -> None:
        self._tree = tree
        if self._pane is not None and self._pane.is_mounted:
            self._pane.view.show(tree)
        waiting, self._when_known = self._when_known, []
        for act in waiting:
            act(tree)

    def _update(self, update: TimelineUpdate) -> None:
        if self._pane is not None and self._pane.is_mounted:
            self._pane.view.update(update)
            self._tree = self._pane.view.rows.tree
        elif self._tree is not None:
            _, in_order = self._tree.update(update)
            self._tree = self._tree if in_order else self._tree.rebuilt()

    def _jumped(self) -> None:
        if self._is_shown and self._pane is not None and self._pane.has_focus_within:
            self.leave()
        self._bench.look_back(None)

    # what is wanted

    def _ask_tree(self) -> None:
        if self._tree is None:
            self._command(ShowTimeline())

    def _with_tree(self, act: Callable[[Tree], None]) -> None:
        if self._tree is not None:
            act(self._tree)
        else:
            self._when_known.append(act)
            self._ask_tree()

    def _wished(self, wish: Wish) -> None:
        if self._pane is None:
            return
        node, row = self._pane.view.node, self._pane.view.marked
        match wish:
            case "leave":
                self.leave()
            case "filter":
                pass
            case "undo" | "redo":
                self.undo_or_redo(wish)
            case _ if node is None or row is None:
                self._say("This is how things are now. Choose a moment below.")
            case "back" if row.kind == "branch" and row.strand.branch is not None:
                self.switch(row.strand.branch)
            case "back":
                self.go_back(node)
            case "conversation" | "files" | "turn":
                self.go_back(node, scope=wish)
            case "mail":
                self.go_back(node, mail=True)
            case "preview":
                self.compare(node, None)
            case "compare":
                self._compare_marked(node)
            case "switch" | "look":
                branch = row.strand.branch
                if branch is None:
                    self._say("This lies on the conversation as it is; there is no branch to go to.")
                elif wish == "switch":
                    self.switch(branch)
                else:
                    self.look_into(branch)
            case "fork":
                self._command(ForkSession(node.id))
            case "name":
                self._pane.ask_for(
                    f"a name for checkpoint {node.id}; empty takes it away",
                    lambda name: self._command(NameCheckpoint(node.id, name)),
                    initial=node.name,
                )
            case _:
                assert_never(wish)

    def _compare_marked(self, node: TimelineNode) -> None:
        assert self._pane is not None
        view = self._pane.view
        other = view.rows.tree.nodes.get(view.compared)
        if other is None:
            view.compared = node.uid
            self._say(f"Checkpoint {node.id} is marked. Mark another one to see the difference.")
        else:
            view.compared = ""
            if other is not node:
                before, after = sorted((other, node), key=lambda each: each.id)
                self.compare(before, after)
        view.refresh()

    # dialogs

    def go_back(self, node: TimelineNode, *, scope: RevertScope = "both", mail: bool = False) -> None:
        """Show the plan of going back to a checkpoint, and carry it out if the user wants."""

        def carry_out(decision: Decision) -> Command:
            return Revert(node.id, decision.scope, decision.paths, decision.note)

        self._plan(
            f"Go back to before {titled(node)}",
            act="go back",
            scopes=_SCOPES,
            scope=scope,
            mail=mail,
            may_note=True,
            ask=lambda wanted: PlanRevert(node.id, wanted),
            carry_out=carry_out,
        )

    def go_back_to(self, number: int, *, scope: RevertScope = "both") -> None:
        """The same for a checkpoint that was named by its number."""

        def found(tree: Tree) -> None:
            node = tree.by_id(number)
            if node is None:
                self._say(
                    f"There is no checkpoint {number}. The timeline shows those that there are.",
                    severity="error",
                )
            else:
                self.go_back(node, scope=scope)

        self._with_tree(found)

    def undo_or_redo(self, what: str) -> None:
        """Show the plan of an undo or a redo, and carry it out if the user wants."""

        def found(tree: Tree) -> None:
            words = tree.undo if what == "undo" else tree.redo
            if not words:
                self._say(f"There is nothing to {what}.")
                return
            undoing = what == "undo"
            self._plan(
                f"{'Take back' if undoing else 'Do again'}: {plain_line(words)}",
                act=what,
                scopes=("both",),
                scope="both",
                ask=lambda _: PlanRevert("undo" if undoing else "redo"),
                carry_out=lambda decision: (Undo if undoing else Redo)(decision.paths),
            )

        self._with_tree(found)

    def switch(self, branch: TimelineBranch) -> None:
        """Show the plan of going on with a branch, and carry it out if the user wants."""
        self._plan(
            f"Go on with the branch that ends in {self._tip(branch)}",
            act="switch",
            scopes=_SWITCH_SCOPES,
            scope="both",
            ask=lambda _: PlanSwitch(branch.number),
            carry_out=lambda decision: SwitchBranch(branch.number, None, decision.scope, decision.paths),
        )

    def choose_branch(self) -> None:
        """Let the user choose a branch to go on with."""
        self._with_tree(lambda tree: self._start(self._choose_branch(tree)))

    async def _choose_branch(self, tree: Tree) -> None:
        branches = {str(branch.number): branch for branch in reversed(tree.branches)}
        if not branches:
            self._say("There are no branches: nothing was undone, compacted or cleared yet.")
            return
        now = self._wall_clock()
        choices = [
            Choice(
                value=number,
                label=self._tip(branch),
                detail=f"{branch.messages} messages",
                note=age(now - branch.left) if branch.left else "",
            )
            for number, branch in branches.items()
        ]
        chosen = await self._choose("Go on with a branch", choices)
        if chosen in branches:
            self.switch(branches[chosen])

    def compare(self, before: TimelineNode, after: TimelineNode | None) -> None:
        """Show how the files differ."""
        end = "now" if after is None else titled(after)
        dialog = ChangesDialog(title=f"From {titled(before)} to {end}", names=self._names, copy=self._copy)
        self._start(self._show_dialog(dialog, Compare(before.id, after.id if after is not None else None)))

    def compare_numbers(self, before: int | None, after: int | None) -> None:
        """The same for checkpoints that were named by their numbers; without one, since the last prompt."""

        def found(tree: Tree) -> None:
            first = _last_prompt(tree) if before is None else tree.by_id(before)
            second = None if after is None else tree.by_id(after)
            if first is None or (second is None and after is not None):
                number = before if first is None else after
                what = f"There is no checkpoint {number}." if number is not None else "Nothing was said yet."
                self._say(f"{what} The timeline shows the checkpoints that there are.", severity="error")
            else:
                self.compare(first, second)

        self._with_tree(found)

    def look_into(self, branch: TimelineBranch) -> None:
        """Show what was said on a branch."""
        self._start(self._look_into(branch))

    async def _look_into(self, branch: TimelineBranch) -> None:
        dialog = BranchDialog(title=f"The branch that ends in {self._tip(branch)}", names=self._names)
        if await self._show_dialog(dialog, LookIntoBranch(branch.number)):
            self.switch(branch)

    def _tip(self, branch: TimelineBranch) -> str:
        node = self._tree.nodes.get(branch.tip or "") if self._tree is not None else None
        return f"“{label_of(node)}”" if node is not None else f"branch {branch.number}"

    def _plan(
        self,
        title: str,
        *,
        act: str,
        scopes: Sequence[RevertScope],
        scope: RevertScope,
        ask: Callable[[RevertScope], Command],
        carry_out: Callable[[Decision], Command],
        mail: bool = False,
        may_note: bool = False,
    ) -> None:
        dialog = PlanDialog(
            title=title,
            act=act,
            scopes=scopes,
            scope=scope,
            writes_note=mail,
            may_note=may_note,
            plan=lambda wanted: self._ask(ask(wanted)),
            names=self._names,
            copy=self._copy,
        )

        async def run() -> None:
            decision = await self._show_dialog(dialog)
            if decision is not None:
                self._command(carry_out(decision))

        self._start(run())

    async def _show_dialog(self, dialog: Any, question: Command | None = None) -> Any:
        self._dialog = dialog
        try:
            if question is not None:
                dialog.call_after_refresh(self._ask, question)
            return await self._screen.app.push_screen_wait(dialog)
        finally:
            if self._dialog is dialog:
                self._dialog = None

    def _ask(self, question: Command) -> None:
        self._awaited += 1
        self._command(question)

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        self._screen.run_worker(work, group="timeline")


def _last_prompt(tree: Tree) -> TimelineNode | None:
    prompts = (tree.nodes[turn.head] for turn in reversed(tree.live.turns))
    return next((node for node in prompts if node.kind == "user"), None)
