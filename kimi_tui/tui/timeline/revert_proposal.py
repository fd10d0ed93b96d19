"""Reverts, undos, redos and branch switches that the plan dialog proposes to the user."""

from dataclasses import dataclass
from typing import Literal, Protocol, assert_never

from kimi_tui.base.terminal_text import sanitize_line
from kimi_tui.i18n.translate import tr, tr_n
from kimi_tui.tui.timeline.row_renderer import checkpoint_title, revert_target_label
from kimi_tui.tui.timeline.tree import TimelineTree
from kimi_tui.wire.attempts import AdoptAttempts, AttemptFiles, PlanAdoption
from kimi_tui.wire.commands import PlanRevert, PlanSwitch, Redo, Revert, SwitchBranch, Undo
from kimi_tui.wire.timeline import FileChoice, RevertScope, TimelineBranch, TimelineNode

RevertCommand = Revert | Undo | Redo | SwitchBranch | AdoptAttempts


@dataclass(frozen=True, slots=True)
class AttemptSelection:
    """The attempts to adopt."""

    numbers: tuple[int, ...]
    files: tuple[AttemptFiles, ...] = ()
    """The files to adopt. Empty: all files of the attempts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RevertProposal:
    """Target of a revert, and its presentation in the plan dialog."""

    target: TimelineNode | TimelineBranch | AttemptSelection | Literal["undo", "redo"]
    title: str
    action_label: str
    """Label of the key that confirms the plan."""
    scopes: tuple[RevertScope, ...] = ("both",)
    """The scopes that the user can select."""
    scope: RevertScope = "both"
    """The initially selected scope."""
    only_path: str | None = None
    """The only initially selected file. None: the files that the plan suggests."""
    decisions: tuple[FileChoice, ...] = ()
    """The initially selected files and hunks. Empty: the selection that the plan suggests."""
    can_add_note: bool = False
    """Whether the user can add a note for the model."""
    writes_note: bool = False
    """Whether the dialog opens with the focus in the note field."""
    note: str = ""
    """Initial text of the note."""
    to: int | None = None
    """Checkpoint of a branch. The branch is restored up to just before it. None: the whole branch."""
    can_be_redone: bool = False
    """Whether /redo, instead of /undo, reverses the command."""

    def plan_query(self, scope: RevertScope) -> PlanRevert | PlanSwitch | PlanAdoption:
        """Return the query for the plan of a scope."""
        match self.target:
            case TimelineNode(id=number):
                return PlanRevert(number, scope)
            case TimelineBranch(number=number):
                return PlanSwitch(number, self.to)
            case AttemptSelection(numbers=numbers, files=files):
                return PlanAdoption(numbers, files)
            case "undo" | "redo":
                return PlanRevert(self.target)
            case _:
                assert_never(self.target)

    def build_command(
        self,
        scope: RevertScope,
        paths: tuple[str, ...] | None,
        note: str = "",
        choices: tuple[FileChoice, ...] = (),
    ) -> RevertCommand:
        """Return the command that runs the plan.

        `paths` are the files to change. None: the files that the plan suggests. `choices` are decisions about
        single files.
        """
        match self.target:
            case TimelineNode(id=number):
                return Revert(number, scope, paths, note, choices)
            case TimelineBranch(number=number):
                return SwitchBranch(number, self.to, scope, paths, choices)
            case AttemptSelection(numbers=numbers, files=files):
                return AdoptAttempts(numbers, paths, choices, files)
            case "undo":
                return Undo(paths, choices)
            case "redo":
                return Redo(paths, choices)
            case _:
                assert_never(self.target)


class RevertPlanner(Protocol):
    """Shows the plan of a revert, and runs it if the user confirms."""

    def open_plan(self, proposal: RevertProposal) -> None:
        """Show the plan of a proposal above the open dialogs."""
        ...


def propose_revert(
    node: TimelineNode, *, scope: RevertScope = "both", writes_note: bool = False, note: str = ""
) -> RevertProposal:
    """Propose to revert to a checkpoint."""
    return RevertProposal(
        target=node,
        title=tr("Revert to {checkpoint}", checkpoint=checkpoint_title(node))
        if node.kind == "revert"  # its label already says "before" or "after"
        else tr("Revert to before {checkpoint}", checkpoint=checkpoint_title(node)),
        action_label=tr("revert"),
        scopes=("both", "conversation", "files", "turn"),
        scope=scope,
        can_add_note=True,
        writes_note=writes_note,
        note=note,
    )


def propose_file_restore(path: str, node: TimelineNode) -> RevertProposal:
    """Propose to restore one file to its content before a checkpoint."""
    return RevertProposal(
        target=node,
        title=tr(
            "Restore {path} as it was before {checkpoint}",
            path=sanitize_line(path),
            checkpoint=checkpoint_title(node),
        ),
        action_label=tr("restore"),
        scopes=("files",),
        scope="files",
        only_path=path,
    )


def propose_hunks(node: TimelineNode, decisions: tuple[FileChoice, ...]) -> RevertProposal:
    """Propose to revert hunks of the changes since a checkpoint."""
    return RevertProposal(
        target=node,
        title=tr("Revert changes since {checkpoint}", checkpoint=checkpoint_title(node)),
        action_label=tr("revert"),
        scopes=("files",),
        scope="files",
        only_path=decisions[0].path,
        decisions=decisions,
    )


def propose_adoption(selection: AttemptSelection) -> RevertProposal:
    """Propose to adopt changes of attempts."""
    names = ", ".join(map(str, selection.numbers))
    return RevertProposal(
        target=selection,
        title=tr_n("Adopt attempt {names}", "Adopt attempts {names}", len(selection.numbers), names=names),
        action_label=tr("adopt"),
        scopes=("files",),
        scope="files",
    )


def propose_undo(tree: TimelineTree) -> RevertProposal | None:
    """Propose to undo the last revert. Return None if no revert can be undone."""
    target = revert_target_label(tree.undo)
    if not target:
        return None
    title = tr("Undo: {target}", target=target)
    return RevertProposal(target="undo", title=title, action_label=tr("undo"), can_be_redone=True)


def propose_redo(tree: TimelineTree) -> RevertProposal | None:
    """Propose to redo the last undone revert. Return None if no revert can be redone."""
    if not revert_target_label(tree.redo):
        return None
    return RevertProposal(target="redo", title=tr("Redo the last undone revert"), action_label=tr("redo"))


def propose_switch(branch: TimelineBranch, title: str, *, to: int | None = None) -> RevertProposal:
    """Propose to switch to a branch. With `to`, restore it up to just before that checkpoint."""
    return RevertProposal(
        target=branch,
        to=to,
        title=tr("Switch to branch “{branch}”", branch=title)
        if to is None
        else tr("Switch to branch “{branch}” before checkpoint {number}", branch=title, number=to),
        action_label=tr("switch"),
        scopes=("both", "conversation", "files"),
    )
