"""What one can do with the marked row of the timeline, the most important first."""

from collections.abc import Callable
from typing import Literal

from kimi_tui.language.saying import say
from kimi_tui.tui.hints import Hint
from kimi_tui.tui.keys import KeyNames
from kimi_tui.tui.timeline.rows import Row
from kimi_tui.tui.timeline.view import TimelineView

Typing = Literal["filter", "name"]
"""What is being typed in the pane."""


class PaneHints:
    """Makes the hints of a timeline pane, whose actions they name."""

    def __init__(self, names: KeyNames, *, read_only: Callable[[], bool]) -> None:
        self._names = names
        self._read_only = read_only

    def of(self, view: TimelineView, *, typing: Typing | None, here: bool) -> list[Hint]:
        """The hints for the row that `view` marks; `here` tells whether the pane has the keyboard."""
        row = view.marked
        if not here:
            return self._from_afar(view)
        if typing is not None:
            return self._while_typing(typing)
        if row is None:
            hints = self._undoing(view)
            if view.rows.tree.nodes:
                hints.append(Hint("↓", say("choose a moment"), "first"))
        elif row.kind == "origin":
            hints = []
        elif self._read_only():
            hints = self._looking(view, row)
        elif row.kind == "branch":
            hints = self._of_branch(view, row)
        else:
            return self._of_checkpoint(view, row.uid)
        return [*hints, self._hint("timeline.filter", say("filter"), "ask('filter')"), self._leaving(view)]

    def _of_checkpoint(self, view: TimelineView, uid: str) -> list[Hint]:
        comparing = self._comparing(view)
        is_jump = view.rows.tree.nodes[uid].kind == "revert"
        back = say("back to this") if is_jump else say("back to before this")
        return [
            *([comparing] if view.compared else []),
            self._hint("timeline.back", back, "ask('back')", "bold"),
            *self._branching(view, uid),
            self._hint("timeline.preview", say("changed since"), "ask('preview')"),
            *self._undoing(view),
            self._leaving(view),
            self._hint("timeline.conversation", say("only conversation"), "ask('conversation')"),
            self._hint("timeline.files", say("only files"), "ask('files')"),
            self._hint("timeline.turn", say("only this turn"), "ask('turn')"),
            self._hint("timeline.name", say("name"), "ask('name')"),
            self._hint("timeline.mail", say("back with a note"), "ask('mail')"),
            *([] if view.compared else [comparing]),
            self._hint("timeline.fork", say("fork"), "ask('fork')"),
            self._hint("timeline.filter", say("filter"), "ask('filter')"),
        ]

    def _of_branch(self, view: TimelineView, row: Row) -> list[Hint]:
        return [
            self._folding(view, row),
            self._hint("timeline.switch", say("go on with it"), "ask('switch')"),
            self._hint("timeline.look", say("read it"), "ask('look')"),
            self._hint("timeline.preview", say("changed since"), "ask('preview')"),
            *self._undoing(view),
        ]

    def _looking(self, view: TimelineView, row: Row) -> list[Hint]:
        """What can be done where nothing may change."""
        hints = [self._folding(view, row)] if row.kind == "branch" else []
        hints.append(self._hint("timeline.preview", say("changed since"), "ask('preview')", "bold"))
        if view.rows.tree.branch_at(row.uid) is not None:
            hints.append(self._hint("timeline.look", say("read it"), "ask('look')"))
        return [*hints, self._comparing(view)]

    def _folding(self, view: TimelineView, row: Row) -> Hint:
        if view.rows.shows_open(row):
            return self._hint("timeline.close", say("fold"), "unfold")
        return self._hint("timeline.open", say("open"), "unfold")

    def _while_typing(self, typing: Typing) -> list[Hint]:
        words = say("keep the filter") if typing == "filter" else say("keep the name")
        hints = [Hint("enter", words, "keep", "bold")]
        if typing == "filter":
            keys = f"{self._names.first('timeline.up')} {self._names.first('timeline.down')}"
            hints.append(Hint(keys, say("choose"), "first"))
        return [*hints, self._hint("timeline.leave", say("cancel"), "ask('leave')")]

    def _from_afar(self, view: TimelineView) -> list[Hint]:
        """What works while the keyboard is in the prompt, where the pane's own keys are letters."""
        tree = view.rows.tree
        hints = [Hint(self._names.first("panes.timeline"), say("choose a moment"), "first", "bold")]
        if tree.redo:
            hints.insert(0, Hint("/redo", say("redo"), "ask('redo')", "bold"))
        if tree.undo:
            hints.insert(0, Hint("/undo", say("undo"), "ask('undo')", "bold"))
        return hints

    def _branching(self, view: TimelineView, uid: str) -> list[Hint]:
        tree = view.rows.tree
        branch = tree.branch_at(uid)
        if branch is None:
            return []
        hints = [self._hint("timeline.look", say("read it"), "ask('look')")]
        if tree.nodes[uid].kind == "compaction":
            hints.append(self._hint("timeline.switch", say("undo the compaction"), "ask('switch')"))
        return hints

    def _undoing(self, view: TimelineView) -> list[Hint]:
        tree = view.rows.tree
        hints = []
        if tree.undo:
            hints.append(self._hint("timeline.undo", say("undo"), "ask('undo')", "bold"))
        if tree.redo:
            hints.append(self._hint("timeline.redo", say("redo"), "ask('redo')", "bold"))
        return hints

    def _comparing(self, view: TimelineView) -> Hint:
        other = view.rows.tree.nodes.get(view.compared)
        if other is None:
            return self._hint("timeline.compare", say("mark to compare"), "ask('compare')")
        words = say("compare with {number}", number=other.id)
        return self._hint("timeline.compare", words, "ask('compare')", "bold")

    def _leaving(self, view: TimelineView) -> Hint:
        words = say("unmark") if view.compared else say("show all") if view.rows.query else say("leave")
        return self._hint("timeline.leave", words, "ask('leave')")

    def _hint(self, binding_id: str, label: str, action: str, style: str = "") -> Hint:
        return Hint(self._names.first(binding_id), label, action, style)
