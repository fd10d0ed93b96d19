"""Key hints of the timeline pane for the highlighted row, most important first."""

from typing import Literal

from kimi_tui.i18n.translate import tr
from kimi_tui.tui.commands.command_host import CommandHost
from kimi_tui.tui.keys.keymap import KeyLabels
from kimi_tui.tui.timeline.rows import TimelineRow
from kimi_tui.tui.timeline.view import TimelineView
from kimi_tui.tui.widgets.key_hints import KeyHint

InputMode = Literal["filter", "name"]
"""Kind of text that the user is typing in the pane."""


class PaneHints:
    """Builds the key hints, with actions of the timeline pane."""

    def __init__(self, key_labels: KeyLabels, *, host: CommandHost) -> None:
        self._key_labels = key_labels
        self._host = host

    def build(self, view: TimelineView, *, input_mode: InputMode | None, has_focus: bool) -> list[KeyHint]:
        """Return the hints for the highlighted row of `view`; `has_focus` is whether the pane has the
        focus.
        """
        row = view.highlighted_row
        if not has_focus:
            return self._unfocused_hints(view)
        if input_mode is not None:
            return self._input_hints(input_mode)
        if row is None:
            hints = self._undo_hints(view)
            if view.rows.tree.nodes:
                hints.append(KeyHint("↓", tr("choose checkpoint"), "first"))
                hints.append(self._hint("timeline.review", tr("review"), "ask('review')"))
        elif row.kind == "origin":
            hints = []
        elif self._host.state.read_only:
            hints = self._read_only_hints(view, row)
        elif row.kind == "branch":
            hints = self._branch_hints(view, row)
        else:
            return self._checkpoint_hints(view, row.uid)
        return [*hints, self._hint("timeline.filter", tr("filter"), "ask('filter')"), self._leave_hint(view)]

    def _checkpoint_hints(self, view: TimelineView, uid: str) -> list[KeyHint]:
        compare_hint = self._compare_hint(view)
        is_revert = view.rows.tree.nodes[uid].kind == "revert"
        revert_label = tr("revert to this") if is_revert else tr("revert to before this")
        return [
            *([compare_hint] if view.compare_uid else []),
            self._hint("timeline.back", revert_label, "ask('back')", "bold"),
            *self._replaced_branch_hints(view, uid),
            self._hint("timeline.preview", tr("changes since"), "ask('preview')"),
            self._hint("timeline.review", tr("review"), "ask('review')"),
            *self._undo_hints(view),
            self._leave_hint(view),
            self._hint("timeline.conversation", tr("conversation only"), "ask('conversation')"),
            self._hint("timeline.files", tr("files only"), "ask('files')"),
            self._hint("timeline.turn", tr("this turn only"), "ask('turn')"),
            self._hint("timeline.name", tr("name"), "ask('name')"),
            self._hint("timeline.mail", tr("revert with a note"), "ask('mail')"),
            *([] if view.compare_uid else [compare_hint]),
            self._hint("timeline.fork", tr("fork"), "ask('fork')"),
            self._hint("timeline.attempts", tr("attempts"), "ask('attempts')"),
            self._hint("timeline.filter", tr("filter"), "ask('filter')"),
        ]

    def _branch_hints(self, view: TimelineView, row: TimelineRow) -> list[KeyHint]:
        return [
            self._fold_hint(view, row),
            self._hint("timeline.switch", tr("switch to it"), "ask('switch')"),
            self._hint("timeline.look", tr("view"), "ask('look')"),
            self._hint("timeline.preview", tr("changes since"), "ask('preview')"),
            *self._undo_hints(view),
        ]

    def _read_only_hints(self, view: TimelineView, row: TimelineRow) -> list[KeyHint]:
        """Return the hints for a read-only session."""
        hints = [self._fold_hint(view, row)] if row.kind == "branch" else []
        hints.append(self._hint("timeline.preview", tr("changes since"), "ask('preview')", "bold"))
        if row.kind != "branch":
            hints.append(self._hint("timeline.review", tr("review"), "ask('review')"))
        if view.rows.tree.branch_at(row.uid) is not None:
            hints.append(self._hint("timeline.look", tr("view"), "ask('look')"))
        return [*hints, self._compare_hint(view)]

    def _fold_hint(self, view: TimelineView, row: TimelineRow) -> KeyHint:
        if view.rows.is_open(row):
            return self._hint("timeline.close", tr("collapse"), "unfold")
        return self._hint("timeline.open", tr("expand"), "unfold")

    def _input_hints(self, input_mode: InputMode) -> list[KeyHint]:
        label = tr("apply filter") if input_mode == "filter" else tr("save name")
        hints = [KeyHint("enter", label, "submit_input", "bold")]
        if input_mode == "filter":
            keys = (
                f"{self._key_labels.first_key('timeline.up')} {self._key_labels.first_key('timeline.down')}"
            )
            hints.append(KeyHint(keys, tr("choose"), "first"))
        return [*hints, self._hint("timeline.leave", tr("cancel"), "ask('leave')")]

    def _unfocused_hints(self, view: TimelineView) -> list[KeyHint]:
        """Return the hints while the prompt has the focus and the pane's letter keys type text."""
        tree = view.rows.tree
        hints = [
            KeyHint(self._key_labels.first_key("panes.timeline"), tr("choose checkpoint"), "first", "bold")
        ]
        if tree.redo:
            hints.insert(0, KeyHint("/redo", tr("redo"), "ask('redo')", "bold"))
        if tree.undo:
            hints.insert(0, KeyHint("/undo", tr("undo"), "ask('undo')", "bold"))
        return hints

    def _replaced_branch_hints(self, view: TimelineView, uid: str) -> list[KeyHint]:
        tree = view.rows.tree
        branch = tree.branch_at(uid)
        if branch is None:
            return []
        hints = [self._hint("timeline.look", tr("view"), "ask('look')")]
        if tree.nodes[uid].kind == "compaction":
            hints.append(self._hint("timeline.switch", tr("undo compaction"), "ask('switch')"))
        return hints

    def _undo_hints(self, view: TimelineView) -> list[KeyHint]:
        tree = view.rows.tree
        hints = []
        if tree.undo:
            hints.append(self._hint("timeline.undo", tr("undo"), "ask('undo')", "bold"))
        if tree.redo:
            hints.append(self._hint("timeline.redo", tr("redo"), "ask('redo')", "bold"))
        return hints

    def _compare_hint(self, view: TimelineView) -> KeyHint:
        other = view.rows.tree.nodes.get(view.compare_uid)
        if other is None:
            return self._hint("timeline.compare", tr("mark to compare"), "ask('compare')")
        label = tr("compare with {number}", number=other.id)
        return self._hint("timeline.compare", label, "ask('compare')", "bold")

    def _leave_hint(self, view: TimelineView) -> KeyHint:
        label = tr("unmark") if view.compare_uid else tr("show all") if view.rows.query else tr("leave")
        return self._hint("timeline.leave", label, "ask('leave')")

    def _hint(self, binding_id: str, label: str, action: str, style: str = "") -> KeyHint:
        return KeyHint(self._key_labels.first_key(binding_id), label, action, style)
