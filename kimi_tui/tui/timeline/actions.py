"""Timeline actions: revert, undo, redo, switch and compare, each with a dialog that previews the changes."""

from collections.abc import Callable, Coroutine, Sequence
from typing import Any

from kimi_tui.base.terminal_text import sanitize_line
from kimi_tui.i18n.translate import tr, tr_n
from kimi_tui.tui.keys.keymap import KeyLabels
from kimi_tui.tui.timeline.branch_dialog import BranchDialog
from kimi_tui.tui.timeline.changes_dialog import ChangesDialog
from kimi_tui.tui.timeline.dialog_requests import DialogRequests
from kimi_tui.tui.timeline.plan_dialog import PlanDecision, PlanDialog
from kimi_tui.tui.timeline.row_renderer import branch_label, checkpoint_title, format_age, revert_target_label
from kimi_tui.tui.timeline.tree import TimelineTree
from kimi_tui.tui.widgets.choice_list import Choice
from kimi_tui.wire.commands import (
    Command,
    Compare,
    PlanRevert,
    PlanSwitch,
    ReadBranch,
    Redo,
    Revert,
    SwitchBranch,
    Undo,
    WritePatch,
)
from kimi_tui.wire.timeline import RevertScope, TimelineBranch, TimelineNode

_SCOPES: tuple[RevertScope, ...] = ("both", "conversation", "files", "turn")
_SWITCH_SCOPES: tuple[RevertScope, ...] = ("both", "conversation", "files")


class TimelineActions:
    """Opens the dialogs for reverting, undoing, redoing, switching branches and comparing checkpoints."""

    def __init__(
        self,
        *,
        dialogs: DialogRequests,
        tree: Callable[[], TimelineTree | None],
        with_tree: Callable[[Callable[[TimelineTree], None]], None],
        read_only: Callable[[], bool],
        notify: Callable[..., None],
        choose: Callable[..., Coroutine[Any, Any, str | None]],
        copy: Callable[[str], None],
        key_labels: KeyLabels,
        wall_clock: Callable[[], float],
    ) -> None:
        """`with_tree` calls its argument with the tree as soon as the tree is loaded."""
        self._dialogs = dialogs
        self._tree = tree
        self._with_tree = with_tree
        self._read_only = read_only
        self._notify = notify
        self._choose = choose
        self._copy = copy
        self._key_labels = key_labels
        self._wall_clock = wall_clock

    def warn_if_read_only(self) -> bool:
        """Return whether the session is read-only; if it is, notify the user."""
        if self._read_only():
            self._notify(
                tr("This session is read-only. Use /write to continue it."),
                severity="warning",
            )
        return self._read_only()

    def revert_to(
        self, node: TimelineNode, *, scope: RevertScope = "both", writes_note: bool = False
    ) -> None:
        """Show the plan of a revert to `node` and run it if the user confirms."""
        if self.warn_if_read_only():
            return
        self._open_plan(
            tr("Revert to {checkpoint}", checkpoint=checkpoint_title(node))
            if node.kind == "revert"  # its label already says "before" or "after"
            else tr("Revert to before {checkpoint}", checkpoint=checkpoint_title(node)),
            action_label=tr("revert"),
            scopes=_SCOPES,
            scope=scope,
            writes_note=writes_note,
            can_add_note=True,
            build_query=lambda chosen_scope: PlanRevert(node.id, chosen_scope),
            build_command=lambda decision: Revert(node.id, decision.scope, decision.paths, decision.note),
        )

    def revert_to_number(self, number: int, *, scope: RevertScope = "both") -> None:
        """Do the same for the checkpoint with this number."""
        if self.warn_if_read_only():
            return

        def revert(tree: TimelineTree) -> None:
            node = tree.find_by_id(number)
            if node is None:
                self._notify(
                    tr(
                        "Checkpoint {number} doesn't exist. Open the timeline to see all checkpoints.",
                        number=number,
                    ),
                    severity="error",
                )
            else:
                self.revert_to(node, scope=scope)

        self._with_tree(revert)

    def undo_or_redo(self, action: str) -> None:
        """Show the plan of an undo or a redo and run it if the user confirms."""
        if self.warn_if_read_only():
            return

        def open_plan(tree: TimelineTree) -> None:
            is_undo = action == "undo"
            target = revert_target_label(tree.undo if is_undo else tree.redo)
            if not target:
                self._notify(tr("Nothing to undo.") if is_undo else tr("Nothing to redo."))
                return
            self._open_plan(
                tr("Undo: {target}", target=target) if is_undo else tr("Redo the last undone revert"),
                action_label=tr("undo") if is_undo else tr("redo"),
                undo_hint=tr("can be redone") if is_undo else "",
                scopes=("both",),
                scope="both",
                build_query=lambda _: PlanRevert("undo" if is_undo else "redo"),
                build_command=lambda decision: (Undo if is_undo else Redo)(decision.paths),
            )

        self._with_tree(open_plan)

    def switch_branch(self, branch: TimelineBranch) -> None:
        """Show the plan of a switch to `branch` and run it if the user confirms."""
        if self.warn_if_read_only():
            return
        self._open_plan(
            tr("Switch to branch “{branch}”", branch=self._branch_label(branch)),
            action_label=tr("switch"),
            scopes=_SWITCH_SCOPES,
            scope="both",
            build_query=lambda _: PlanSwitch(branch.number),
            build_command=lambda decision: SwitchBranch(branch.number, None, decision.scope, decision.paths),
        )

    def choose_branch(self) -> None:
        """Let the user choose a branch to switch to or, in a read-only session, to view."""
        self._with_tree(lambda tree: self._dialogs.start(self._choose_branch(tree)))

    async def _choose_branch(self, tree: TimelineTree) -> None:
        branches = {str(branch.number): branch for branch in reversed(tree.branches)}
        if not branches:
            self._notify(tr("No branches yet. Reverting, compacting or clearing creates one."))
            return
        now = self._wall_clock()
        choices = [
            Choice(
                value=number,
                label=self._branch_label(branch),
                detail=tr_n("{count:,} message", "{count:,} messages", branch.messages),
                note=format_age(now - branch.left) if branch.left else "",
            )
            for number, branch in branches.items()
        ]
        title = tr("View a branch") if self._read_only() else tr("Switch to a branch")
        chosen = await self._choose(title, choices)
        if chosen in branches and self._read_only():
            self.open_branch(branches[chosen])
        elif chosen in branches:
            self.switch_branch(branches[chosen])

    def compare(self, before: TimelineNode, after: TimelineNode | None) -> None:
        """Show how the files differ between two checkpoints; without `after`, between `before` and now."""
        end = tr("now") if after is None else checkpoint_title(after)
        end_id = after.id if after is not None else None
        is_writable = not self._read_only()
        dialog = ChangesDialog(
            title=tr("Changes from {before} to {end}", before=checkpoint_title(before), end=end),
            key_labels=self._key_labels,
            copy=self._copy,
            can_restore=is_writable,
            write_patch=(lambda: self._dialogs.ask(WritePatch(before.id, end_id))) if is_writable else None,
        )
        self._dialogs.open_changes(
            dialog, Compare(before.id, end_id), restore_file=lambda path: self._restore_file(path, before)
        )

    def _restore_file(self, path: str, node: TimelineNode) -> None:
        """Show the plan of restoring one file to its content before a checkpoint."""
        self._open_plan(
            tr(
                "Restore {path} as it was before {checkpoint}",
                path=sanitize_line(path),
                checkpoint=checkpoint_title(node),
            ),
            action_label=tr("restore"),
            scopes=("files",),
            scope="files",
            only_path=path,
            build_query=lambda _: PlanRevert(node.id, "files"),
            build_command=lambda decision: Revert(node.id, "files", decision.paths),
        )

    def compare_numbers(self, before: int | None, after: int | None) -> None:
        """Do the same for checkpoint numbers. Without `before`, compare from the last prompt."""

        def compare(tree: TimelineTree) -> None:
            first = _last_prompt(tree) if before is None else tree.find_by_id(before)
            second = None if after is None else tree.find_by_id(after)
            if first is None or (second is None and after is not None):
                number = before if first is None else after
                self._notify(
                    tr(
                        "Checkpoint {number} doesn't exist. Open the timeline to see all checkpoints.",
                        number=number,
                    )
                    if number is not None
                    else tr("No prompts yet."),
                    severity="error",
                )
            else:
                self.compare(first, second)

        self._with_tree(compare)

    def open_branch(self, branch: TimelineBranch) -> None:
        """Show the messages of a branch."""
        dialog = BranchDialog(
            title=tr("Branch “{branch}”", branch=self._branch_label(branch)),
            key_labels=self._key_labels,
            can_switch=not self._read_only(),
        )
        self._dialogs.open_branch(dialog, ReadBranch(branch.number), lambda: self.switch_branch(branch))

    def _branch_label(self, branch: TimelineBranch) -> str:
        tree = self._tree()
        if branch.reason == "compaction":
            return tr("conversation before compaction")
        if tree is None or branch.tip not in tree.turn_of:
            return tr("branch {number}", number=branch.number)
        return branch_label(tree, tree.tree_branch_of(branch.tip))

    def _open_plan(
        self,
        title: str,
        *,
        action_label: str,
        scopes: Sequence[RevertScope],
        scope: RevertScope,
        build_query: Callable[[RevertScope], Command],
        build_command: Callable[[PlanDecision], Command],
        writes_note: bool = False,
        can_add_note: bool = False,
        only_path: str | None = None,
        undo_hint: str = "",
    ) -> None:
        dialog = PlanDialog(
            title=title,
            action_label=action_label,
            scopes=scopes,
            scope=scope,
            writes_note=writes_note,
            can_add_note=can_add_note,
            only_path=only_path,
            undo_hint=undo_hint,
            request_plan=lambda chosen_scope: self._dialogs.ask(build_query(chosen_scope)),
            is_working=self._dialogs.is_working,
            background_task_count=self._dialogs.background_task_count,
            key_labels=self._key_labels,
            copy=self._copy,
        )

        self._dialogs.open_plan(dialog, build_command)


def _last_prompt(tree: TimelineTree) -> TimelineNode | None:
    prompts = (tree.nodes[turn.head] for turn in reversed(tree.current_branch.turns))
    return next((node for node in prompts if node.kind == "user"), None)
