"""Where the user can go in time, each journey by a dialog that shows first what it would change."""

from collections.abc import Callable, Coroutine, Sequence
from typing import Any

from kimi_tui.base.terminal import plain_line
from kimi_tui.language.saying import say, say_many
from kimi_tui.tui.choices import Choice
from kimi_tui.tui.keys import KeyNames
from kimi_tui.tui.timeline.branch_dialog import BranchDialog
from kimi_tui.tui.timeline.changes_dialog import ChangesDialog
from kimi_tui.tui.timeline.enquiries import Enquiries
from kimi_tui.tui.timeline.look import about_strand, age, titled, without_before
from kimi_tui.tui.timeline.plan_dialog import Decision, PlanDialog
from kimi_tui.tui.timeline.tree import Tree
from kimi_tui.wire.commands import (
    Command,
    Compare,
    LookIntoBranch,
    PlanRevert,
    PlanSwitch,
    Redo,
    Revert,
    SwitchBranch,
    Undo,
    WritePatch,
)
from kimi_tui.wire.timeline import RevertScope, TimelineBranch, TimelineNode

_SCOPES: tuple[RevertScope, ...] = ("both", "conversation", "files", "turn")
_SWITCH_SCOPES: tuple[RevertScope, ...] = ("both", "conversation", "files")


class Journeys:
    """Goes back, undoes, switches, compares."""

    def __init__(
        self,
        *,
        enquiries: Enquiries,
        tree: Callable[[], Tree | None],
        with_tree: Callable[[Callable[[Tree], None]], None],
        read_only: Callable[[], bool],
        say: Callable[..., None],
        choose: Callable[..., Coroutine[Any, Any, str | None]],
        copy: Callable[[str], None],
        names: KeyNames,
        wall_clock: Callable[[], float],
    ) -> None:
        """`with_tree` does something as soon as the tree is known."""
        self._enquiries = enquiries
        self._tree = tree
        self._with_tree = with_tree
        self._read_only = read_only
        self._say = say
        self._choose = choose
        self._copy = copy
        self._names = names
        self._wall_clock = wall_clock

    def is_refused(self) -> bool:
        """Whether nothing may change, for the session is only read: the user is told so."""
        if self._read_only():
            self._say(
                say("This session is read only: nothing can be changed in it. /write goes on with it."),
                severity="warning",
            )
        return self._read_only()

    def go_back(self, node: TimelineNode, *, scope: RevertScope = "both", mail: bool = False) -> None:
        """Show the plan of going back to a checkpoint, and carry it out if the user wants."""
        if self.is_refused():
            return
        self._plan(
            say("Go back to {checkpoint}", checkpoint=titled(node))
            if node.kind == "revert"  # whose name says already whether it is before or after a jump
            else say("Go back to before {checkpoint}", checkpoint=titled(node)),
            act=say("go back"),
            scopes=_SCOPES,
            scope=scope,
            mail=mail,
            may_note=True,
            ask=lambda wanted: PlanRevert(node.id, wanted),
            carry_out=lambda done: Revert(node.id, done.scope, done.paths, done.note),
        )

    def go_back_to(self, number: int, *, scope: RevertScope = "both") -> None:
        """The same for a checkpoint that was named by its number."""
        if self.is_refused():
            return

        def found(tree: Tree) -> None:
            node = tree.by_id(number)
            if node is None:
                self._say(
                    say(
                        "There is no checkpoint {number}. The timeline shows those that there are.",
                        number=number,
                    ),
                    severity="error",
                )
            else:
                self.go_back(node, scope=scope)

        self._with_tree(found)

    def undo_or_redo(self, what: str) -> None:
        """Show the plan of an undo or a redo, and carry it out if the user wants."""
        if self.is_refused():
            return

        def found(tree: Tree) -> None:
            words = without_before(tree.undo if what == "undo" else tree.redo)
            if not words:
                self._say(
                    say("There is nothing to undo.") if what == "undo" else say("There is nothing to redo.")
                )
                return
            undoing = what == "undo"
            self._plan(
                say("Take back: {words}", words=words)
                if undoing
                else say("Do again what the last undo took back"),
                act=say("undo") if undoing else say("redo"),
                way_back=say("redo does it again") if undoing else "",
                scopes=("both",),
                scope="both",
                ask=lambda _: PlanRevert("undo" if undoing else "redo"),
                carry_out=lambda decision: (Undo if undoing else Redo)(decision.paths),
            )

        self._with_tree(found)

    def switch(self, branch: TimelineBranch) -> None:
        """Show the plan of going on with a branch, and carry it out if the user wants."""
        if self.is_refused():
            return
        self._plan(
            say("Go on with the branch “{branch}”", branch=self._about(branch)),
            act=say("switch"),
            scopes=_SWITCH_SCOPES,
            scope="both",
            ask=lambda _: PlanSwitch(branch.number),
            carry_out=lambda decision: SwitchBranch(branch.number, None, decision.scope, decision.paths),
        )

    def choose_branch(self) -> None:
        """Let the user choose a branch to go on with, or to read where nothing may change."""
        self._with_tree(lambda tree: self._enquiries.start(self._choose_branch(tree)))

    async def _choose_branch(self, tree: Tree) -> None:
        branches = {str(branch.number): branch for branch in reversed(tree.branches)}
        if not branches:
            self._say(say("There are no branches: nothing was undone, compacted or cleared yet."))
            return
        now = self._wall_clock()
        choices = [
            Choice(
                value=number,
                label=self._about(branch),
                detail=say_many("{count:,} message", "{count:,} messages", branch.messages),
                note=age(now - branch.left) if branch.left else "",
            )
            for number, branch in branches.items()
        ]
        title = say("Read a branch") if self._read_only() else say("Go on with a branch")
        chosen = await self._choose(title, choices)
        if chosen in branches and self._read_only():
            self.look_into(branches[chosen])
        elif chosen in branches:
            self.switch(branches[chosen])

    def compare(self, before: TimelineNode, after: TimelineNode | None) -> None:
        """Show how the files differ."""
        end = say("now") if after is None else titled(after)
        last = after.id if after is not None else None
        may_change = not self._read_only()
        dialog = ChangesDialog(
            title=say("From {before} to {end}", before=titled(before), end=end),
            names=self._names,
            copy=self._copy,
            may_bring_back=may_change,
            write_patch=(lambda: self._enquiries.ask(WritePatch(before.id, last))) if may_change else None,
        )
        self._enquiries.look(
            dialog, Compare(before.id, last), bring_back=lambda path: self._bring_back(path, before)
        )

    def _bring_back(self, path: str, node: TimelineNode) -> None:
        """Show the plan of having one file as it was before a checkpoint."""
        self._plan(
            say(
                "Bring {path} back as it was before {checkpoint}",
                path=plain_line(path),
                checkpoint=titled(node),
            ),
            act=say("bring back"),
            scopes=("files",),
            scope="files",
            only=path,
            ask=lambda _: PlanRevert(node.id, "files"),
            carry_out=lambda done: Revert(node.id, "files", done.paths),
        )

    def compare_numbers(self, before: int | None, after: int | None) -> None:
        """The same for checkpoints that were named by their numbers; without one, since the last prompt."""

        def found(tree: Tree) -> None:
            first = _last_prompt(tree) if before is None else tree.by_id(before)
            second = None if after is None else tree.by_id(after)
            if first is None or (second is None and after is not None):
                number = before if first is None else after
                what = (
                    say("There is no checkpoint {number}.", number=number)
                    if number is not None
                    else say("Nothing was said yet.")
                )
                self._say(
                    say("{what} The timeline shows the checkpoints that there are.", what=what),
                    severity="error",
                )
            else:
                self.compare(first, second)

        self._with_tree(found)

    def look_into(self, branch: TimelineBranch) -> None:
        """Show what was said on a branch."""
        dialog = BranchDialog(
            title=say("The branch “{branch}”", branch=self._about(branch)),
            names=self._names,
            may_switch=not self._read_only(),
        )
        question = LookIntoBranch(branch.number)
        self._enquiries.read(dialog, question, lambda: self.switch(branch))

    def _about(self, branch: TimelineBranch) -> str:
        tree = self._tree()
        if branch.reason == "compaction":
            return say("what the compaction replaced")
        if tree is None or branch.tip not in tree.turn_of:
            return say("branch {number}", number=branch.number)
        return about_strand(tree, tree.strand_of(branch.tip))

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
        only: str | None = None,
        way_back: str = "",
    ) -> None:
        dialog = PlanDialog(
            title=title,
            act=act,
            scopes=scopes,
            scope=scope,
            writes_note=mail,
            may_note=may_note,
            only=only,
            way_back=way_back,
            plan=lambda wanted: self._enquiries.ask(ask(wanted)),
            is_working=self._enquiries.is_working,
            in_background=self._enquiries.in_background,
            names=self._names,
            copy=self._copy,
        )

        self._enquiries.decide(dialog, carry_out)


def _last_prompt(tree: Tree) -> TimelineNode | None:
    prompts = (tree.nodes[turn.head] for turn in reversed(tree.live.turns))
    return next((node for node in prompts if node.kind == "user"), None)
