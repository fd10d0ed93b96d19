"""Plan dialog: shows the plan of a revert and asks for confirmation."""

from collections.abc import Sequence
from dataclasses import replace

from textual import getters, on
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Input

from kimi_tui.frontend.text.timeline import saved_versions_note
from kimi_tui.frontend.text.why import why_text
from kimi_tui.i18n.translate import tr, tr_lazy, tr_n, translate_message
from kimi_tui.tui.commands.command_host import CommandHost
from kimi_tui.tui.keys.keymap import KeyLabels, bindings
from kimi_tui.tui.keys.tables import PLAN_KEYS
from kimi_tui.tui.timeline.choice_lines import choice_lines
from kimi_tui.tui.timeline.file_detail import FileDetail, FileHeader
from kimi_tui.tui.timeline.file_list import FileList, FileListRow, FileRow, NoteRow, chosen_plan_row
from kimi_tui.tui.timeline.files_dialog import FilesDialog, command_rows
from kimi_tui.tui.timeline.plan_contents import PlanContents
from kimi_tui.tui.timeline.plan_selection import PlanSelection
from kimi_tui.tui.timeline.query_dialog import Reply, TimelineQueries
from kimi_tui.tui.timeline.revert_proposal import RevertCommand, RevertProposal
from kimi_tui.tui.widgets.hunk_view import FileHunks, HunkView
from kimi_tui.tui.widgets.key_hints import KeyHint, KeyHints
from kimi_tui.tui.widgets.line_view import LineView
from kimi_tui.wire.review import PlannedFileContent
from kimi_tui.wire.timeline import ConflictChoice, PlannedFile, RevertPlan, RevertScope
from kimi_tui.wire.why import ExplainLine, LineReason

_SCOPE_LABELS: dict[RevertScope, str] = {
    "both": tr_lazy("conversation + files"),
    "conversation": tr_lazy("conversation"),
    "files": tr_lazy("files"),
    "turn": tr_lazy("this turn only"),
}
_SCOPE_NOTES: dict[RevertScope, str] = {
    "both": "",
    "conversation": tr_lazy("The files don't change."),
    "files": tr_lazy("The conversation doesn't change."),
    "turn": tr_lazy("The conversation and later file changes are kept."),
}


class PlanDialog(FilesDialog[RevertCommand | None]):
    """Shows the plan of a proposal once it arrives. Returns the command to run, or None if canceled."""

    BINDINGS = bindings(PLAN_KEYS)

    _hunk_view = getters.query_one(HunkView)

    def __init__(
        self,
        proposal: RevertProposal,
        *,
        host: CommandHost,
        queries: TimelineQueries,
        key_labels: KeyLabels,
    ) -> None:
        super().__init__(title=proposal.title, host=host, queries=queries, key_labels=key_labels)
        self._proposal = proposal
        self._scope = proposal.scope
        self._plans: dict[bool, RevertPlan] = {}
        """The latest plans. The key is whether the plan is for a single turn."""
        self._shown_plan: RevertPlan | None = None
        self._selection = PlanSelection((), ())
        self._contents: PlanContents | None = None

    def header_widgets(self) -> Sequence[Widget]:
        """Return the scope selector and the note field."""
        widgets: list[Widget] = []
        if len(self._proposal.scopes) > 1:
            widgets.append(KeyHints(_scope_hints(self.key_labels, self._proposal, self._scope), max_lines=2))
            widgets[0].id = "plan-scopes"
        field = Input(self._proposal.note, placeholder=tr("note for the model"), id="plan-note")
        field.cursor_blink = False
        field.display = self._proposal.writes_note or bool(self._proposal.note)
        return [*widgets, field]

    def on_mount(self) -> None:
        """Request the plan; focus the note field if the user is writing a note."""
        self._queries.ask(self._proposal.plan_query(self._scope))
        if self._proposal.writes_note:
            self.query_one("#plan-note", Input).focus()

    # the plan

    def show_reply(self, reply: Reply) -> None:
        """Show a plan that has arrived, or the hunks of one of its files."""
        if isinstance(reply, PlannedFileContent):
            self._add_file_content(reply)
        if isinstance(reply, LineReason):
            self._host.dialogs.show_text(*why_text(reply))
        if isinstance(reply, RevertPlan):
            self._plans[reply.scope == "turn"] = reply
            if self._shown_plan is None or "turn" in (reply.scope, self._shown_plan.scope):
                self._show_current_plan()

    def handle_turn_change(self) -> None:
        """Update the summary when a turn begins or ends."""
        self._show_plan_summary()

    def _show_current_plan(self) -> None:
        plan = self._plans.get(self._scope == "turn")
        if plan is None:
            self._shown_plan = None
            self.show_rows([], set())
            self.show_summary(Content(tr("Comparing files …")))
            self._queries.ask(self._proposal.plan_query(self._scope))
            return
        if plan is not self._shown_plan:
            self._shown_plan = plan
            self._selection = PlanSelection(plan.files, _initial_selection(self._proposal, plan))
            self._contents = PlanContents(
                plan, self._selection, decisions=self._proposal.decisions, queries=self._queries
            )
            selected_paths = set(self._selection.paths)
            rows: list[FileListRow] = [
                chosen_plan_row(file, plan.reason, self._selection)
                for file in sorted(plan.files, key=_is_unrelated)
            ]
            if plan.note:
                note = translate_message(plan.note)
                rows.insert(0, NoteRow(f"◔ {note}", "$warning", note))
            rows += [NoteRow(f"◔ {text}", "$warning", text) for text in map(translate_message, plan.remarks)]
            if saved := saved_versions_note(plan):
                rows.append(NoteRow(f"◔ {saved}", "$text-muted", saved))
            rows += command_rows(plan.commands)
            self.show_rows(rows, selected_paths)
            if self._proposal.only_path is not None:
                self.files.highlight_path(self._proposal.only_path)
        self.files.set_dimmed(self._scope == "conversation")
        self._show_plan_summary()

    def _add_file_content(self, content: PlannedFileContent) -> None:
        """Show the diff and the hunks of a file that weren't part of the plan."""
        plan, file = self._shown_plan, content.file
        if plan is None or self._contents is None or content.plan != plan.id:
            return
        files = tuple(file if it.path == file.path else it for it in plan.files)
        self._shown_plan = self._plans[self._scope == "turn"] = plan = replace(plan, files=files)
        self._selection.replace_file(file)
        self._contents.apply_decision(file)
        self._show_selection(file.path)
        self._show_plan_summary()
        self.show_hints()

    @on(FileList.SelectionChanged)
    def _handle_selection_changed(self) -> None:
        changed = self.files.selected_paths ^ self._selection.paths
        self._selection.set_paths(self.files.selected_paths)
        for path in changed:
            self._show_selection(path)
        self._show_plan_summary()

    def _show_selection(self, path: str) -> None:
        """Show the selected parts of a file in its row and, if the row is highlighted, in the details."""
        plan = self._shown_plan
        file = next((it for it in plan.files if it.path == path), None) if plan is not None else None
        if plan is None or file is None:
            return
        row = chosen_plan_row(file, plan.reason, self._selection)
        self.files.replace_row(row, is_selected=path in self._selection.paths)
        if self.files.highlighted_path == path:
            self._show_hunks(row, keeps_position=True)

    def _show_plan_summary(self) -> None:
        plan = self._shown_plan
        if plan is None:
            return
        selected_paths = self.files.selected_paths if self._scope != "conversation" else set()
        selected = [file for file in plan.files if file.path in selected_paths]
        conflicts = sum(file.action == "conflict" for file in plan.files)
        parts: list[Content] = []
        if self._host.state.turn is not None:
            parts.append(Content.styled(tr("the running turn is interrupted first"), "bold $warning"))
        if self._scope == "conversation":
            parts.append(Content(tr("no files change")))
        elif plan.files:
            parts.append(
                Content.assemble(
                    (tr("{count} of {total} files", count=len(selected), total=len(plan.files)) + " ", ""),
                    (f"+{sum(self._selection.count_lines(file.path)[0] for file in selected)} ", "$success"),
                    (f"−{sum(self._selection.count_lines(file.path)[1] for file in selected)}", "$error"),
                )
            )
        elif not plan.note:
            parts.append(Content(tr("no files change")))
        if conflicts and self._scope != "conversation":
            text = tr_n("{count} conflict", "{count} conflicts", conflicts)
            parts.append(Content.styled(text, "bold $warning"))
        undo_hint = tr("can be redone") if self._proposal.can_be_redone else tr("can be undone")
        parts.append(Content.styled(undo_hint, "$text-muted"))
        if plan.turns and self._scope in ("both", "conversation"):
            text = tr_n("{count} message kept on a branch", "{count} messages kept on a branch", plan.turns)
            parts.append(Content(text))
        if plan.commands:
            text = tr_n("{count} shell command since", "{count} shell commands since", len(plan.commands))
            parts.append(Content.styled(text, "$warning"))
        if tasks := sum(task.status == "running" for task in self._host.state.tasks):
            text = tr_n(
                "{count} background task keeps running", "{count} background tasks keep running", tasks
            )
            parts.append(Content.styled(text, "$warning"))
        if _SCOPE_NOTES[self._scope] and not plan.commands:
            parts.append(Content.styled(tr(_SCOPE_NOTES[self._scope]), "$text-muted"))
        self.show_summary(Content(" · ").join(parts))
        self._refresh_hints()

    # hunks

    def build_detail_view(self) -> LineView:
        """Return a view of the highlighted file's hunks."""
        return HunkView()

    def show_detail(self, row: FileListRow | None) -> None:
        """Show the hunks of a file, or the details of another row."""
        if isinstance(row, FileRow):
            self._show_hunks(row)
            plan = self._shown_plan
            file = next((it for it in plan.files if it.path == row.path), None) if plan is not None else None
            if file is not None and self._contents is not None:
                self._contents.request(file)
        else:
            self._hunk_view.show_only(FileDetail(row))
        self.show_hints()

    def _show_hunks(self, row: FileRow, *, keeps_position: bool = False) -> None:
        hunks, choice = self._selection.hunks_of(row.path), self._selection.choice_of(row.path)
        if self._shown_plan is None or (choice is None and len(hunks) < 2):  # the file's check box is enough
            self._hunk_view.show_only(FileDetail(row))
            return
        file = FileHunks(
            header=FileHeader(row),
            hunks=hunks,
            included=self._selection.included(row.path),
            choices=choice_lines(self._shown_plan, row.path, choice, self.key_labels),
        )
        self._hunk_view.show_file(file, keeps_position=keeps_position)

    @on(HunkView.HunksToggled)
    def _handle_hunks_toggled(self, event: HunkView.HunksToggled) -> None:
        event.stop()
        path = self.files.highlighted_path
        if path is not None and path in self.files.selectable_paths and not self.files.is_dimmed:
            self._selection.toggle_hunks(path, event.ids)
            self._show_selection(path)
            self._show_plan_summary()

    @on(HunkView.Chosen)
    def _handle_chosen(self, event: HunkView.Chosen) -> None:
        event.stop()
        self.action_choose(event.choice)

    @on(HunkView.LineAsked)
    def _handle_line_asked(self, event: HunkView.LineAsked) -> None:
        event.stop()
        if (path := self.files.highlighted_path) is not None:
            self._queries.ask(ExplainLine(path, event.line))

    @on(HunkView.Left)
    def _handle_hunks_left(self, event: HunkView.Left) -> None:
        event.stop()
        self.files.focus()

    def on_descendant_focus(self) -> None:
        """Enlarge the hunks while they have the focus."""
        self.set_class(self._hunk_view.has_focus, "-in-hunks")
        self.show_hints()

    def action_open_hunks(self) -> None:
        """Move to the hunks of the highlighted file."""
        if self._hunk_view.can_be_entered:
            self._hunk_view.focus()

    async def action_hunk(self, name: str, *arguments: int) -> None:
        """Run an action of the hunk view, for the key hints."""
        await self.app.run_action(f"{name}({', '.join(map(str, arguments))})", self._hunk_view)

    def action_choose(self, choice: ConflictChoice) -> None:
        """Choose what happens to the highlighted file, if the user changed it too."""
        path = self.files.highlighted_path
        if path is None or self._selection.choice_of(path) is None or self.files.is_dimmed:
            return
        self._selection.choose(path, choice)
        self._show_selection(path)
        self._show_plan_summary()

    def action_close(self) -> None:
        """Return from the hunks to the files, or close the dialog without changes."""
        if self._hunk_view.has_focus:
            self.files.focus()
        else:
            super().action_close()

    # key hints and actions

    def hints(self) -> list[KeyHint]:
        """Return the key hints."""
        if self._hunk_view.has_focus:
            return _hunk_hints(self.key_labels, self._proposal.action_label)
        hints = [KeyHint(self.key_labels.first_key("files.close"), tr("cancel"), "close")]
        if self._shown_plan is not None:
            hints.insert(
                0, KeyHint(self.key_labels.first_key("plan.go"), self._proposal.action_label, "go", "bold")
            )
        if self._shown_plan is not None and self.files.selectable_paths and self._scope != "conversation":
            hints += [
                KeyHint(self.key_labels.first_key("plan.tick"), tr("select"), "toggle_file"),
                KeyHint(
                    self.key_labels.first_key("plan.tick_all"), tr("select all or none"), "toggle_all_files"
                ),
            ]
        if self._hunk_view.can_be_entered and self._scope != "conversation":
            hints.append(KeyHint(self.key_labels.first_key("plan.hunks"), tr("hunks"), "open_hunks"))
        if self._proposal.can_add_note:
            hints.append(KeyHint(self.key_labels.first_key("plan.note"), tr("note"), "write_note"))
        return [*hints, *self.list_hints()]

    def _refresh_hints(self) -> None:
        if len(self._proposal.scopes) > 1:
            self.query_one("#plan-scopes", KeyHints).show(
                _scope_hints(self.key_labels, self._proposal, self._scope)
            )
        self.show_hints()

    def action_use(self, scope: RevertScope) -> None:
        """Select what to revert."""
        if scope in self._proposal.scopes:
            self._scope = scope
            self._refresh_hints()
            self._show_current_plan()

    def action_toggle_file(self) -> None:
        """Select or deselect the highlighted file."""
        self.files.toggle()

    def action_toggle_all_files(self) -> None:
        """Select all files, or none."""
        self.files.toggle_all()

    def action_write_note(self) -> None:
        """Show or hide the note field."""
        if not self._proposal.can_add_note:
            return
        field = self.query_one("#plan-note", Input)
        field.display = not field.display
        (field if field.display else self.files).focus()

    @on(Input.Submitted)
    def _handle_note_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.action_go()

    def action_go(self) -> None:
        """Confirm the plan."""
        plan = self._shown_plan
        if plan is None or self._contents is None or not self._contents.is_complete:
            return
        selected_paths = self.files.selected_paths
        if self._scope in ("files", "turn") and not selected_paths:
            self.show_problem(tr("No files selected."))
            return
        paths = None if selected_paths == _suggested_paths(plan) else tuple(sorted(selected_paths))
        field = self.query_one("#plan-note", Input)
        note = field.value.strip() if field.display else ""
        self.dismiss(
            self._proposal.build_command(
                self._scope,
                None if self._scope == "conversation" else paths,
                note,
                () if self._scope == "conversation" else self._selection.decisions(),
            )
        )


def _hunk_hints(key_labels: KeyLabels, action_label: str) -> list[KeyHint]:
    """Return the key hints while the hunks have the focus."""
    first_key = key_labels.first_key
    keys = f"{first_key('hunks.up')} {first_key('hunks.down')}"
    return [
        KeyHint(first_key("plan.go"), action_label, "go", "bold"),
        KeyHint(first_key("hunks.leave"), tr("files"), "close"),
        KeyHint(keys, tr("choose"), "hunk('move_hunk', 1)"),
        KeyHint(first_key("hunks.tick"), tr("select"), "hunk('toggle_hunk')"),
        KeyHint(first_key("hunks.tick_all"), tr("select all or none"), "hunk('toggle_all_hunks')"),
        KeyHint(first_key("hunks.why"), tr("why"), "hunk('explain_hunk')"),
    ]


def _is_unrelated(file: PlannedFile) -> bool:
    """Return whether the agent didn't change a file. A user's checkout can change hundreds of such files."""
    return file.action in ("keep", "not covered")


def _suggested_paths(plan: RevertPlan) -> set[str]:
    """Return the paths of the files that are selected by default."""
    return {file.path for file in plan.files if file.ticked and file.action != "not covered"}


def _initial_selection(proposal: RevertProposal, plan: RevertPlan) -> set[str]:
    """Return the paths of the initially selected files."""
    if proposal.decisions:
        return {it.path for it in proposal.decisions} & {file.path for file in plan.files}
    if proposal.only_path is None:
        return _suggested_paths(plan)
    return {
        file.path for file in plan.files if file.path == proposal.only_path and file.action != "not covered"
    }


def _scope_hints(key_labels: KeyLabels, proposal: RevertProposal, selected: RevertScope) -> list[KeyHint]:
    """Return the hints that select the scope of the revert."""
    return [
        KeyHint(
            f"{'●' if scope == selected else '○'} {key_labels.first_key(f'plan.{scope}')}",
            tr(_SCOPE_LABELS[scope]),
            f"use('{scope}')",
            "bold" if scope == selected else "",
        )
        for scope in proposal.scopes
    ]
