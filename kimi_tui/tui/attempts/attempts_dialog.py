"""Attempts dialog: compares attempts, and lets the user adopt files of them."""

import time
from collections.abc import Sequence
from dataclasses import replace

from textual import events, getters, on
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from kimi_tui.base.terminal_text import sanitize_line
from kimi_tui.frontend.text.attempts import attempt_name, detail_texts
from kimi_tui.frontend.text.cell_width import fit_cells
from kimi_tui.i18n.translate import tr, tr_n
from kimi_tui.tui.attempts.attempt_file_reader import AttemptFileReader
from kimi_tui.tui.attempts.attempt_row import attempt_header, attempt_row
from kimi_tui.tui.attempts.start_attempts_dialog import StartAttemptsDialog
from kimi_tui.tui.commands.command_host import CommandHost
from kimi_tui.tui.keys.keymap import KeyLabels, bindings
from kimi_tui.tui.keys.tables import ATTEMPTS_KEYS
from kimi_tui.tui.timeline.file_list import FileList, FileListRow, FileRow, NoteRow, comparison_row
from kimi_tui.tui.timeline.files_dialog import FilesDialog
from kimi_tui.tui.timeline.query_dialog import Reply, TimelineQueries
from kimi_tui.tui.timeline.revert_proposal import AttemptSelection, RevertPlanner, propose_adoption
from kimi_tui.tui.widgets.choice_list import Choice, ChoiceList
from kimi_tui.tui.widgets.key_hints import KeyHint
from kimi_tui.wire.attempts import (
    Attempt,
    AttemptChanges,
    AttemptFiles,
    AttemptList,
    DiscardAttempts,
    StartAttempts,
    StopAttempts,
)
from kimi_tui.wire.timeline import ComparedFile

_MAX_SHOWN_ATTEMPTS = 8
_REFRESH_S = 1.0
_MESSAGE_COLUMN_FROM = 140
"""Minimum number of columns of the screen to show the last messages in the table.

On a narrower screen, the last message of the highlighted attempt is below the table.
"""
_MAX_MESSAGE_LINES = 2
_MAX_UNUSED_CELLS = 16
"""Estimated number of cells in the message's lines that wrapping leaves blank."""


class AttemptsDialog(FilesDialog[None]):
    """Shows a row for each attempt, and the files, the messages and the check of the highlighted one."""

    BINDINGS = bindings(ATTEMPTS_KEYS)

    attempts = getters.query_one(ChoiceList)

    def __init__(
        self,
        *,
        is_starting: bool,
        planner: RevertPlanner,
        host: CommandHost,
        queries: TimelineQueries,
        key_labels: KeyLabels,
    ) -> None:
        """`is_starting`: attempts were just started and aren't listed yet."""
        super().__init__(title=tr("Attempts"), host=host, queries=queries, key_labels=key_labels)
        self._is_starting = is_starting
        self._planner = planner
        self._attempts = {each.number: each for each in host.state.attempts}
        self._reader = AttemptFileReader(queries)
        self._selected: dict[int, set[str]] = {}
        """The selected files by attempt."""
        self._shown: Attempt | None = None
        """The attempt whose files are shown."""
        self._discarded: int | None = None
        """The attempt that the next press of the key removes."""
        self._has_widgets = False
        """Whether the dialog is mounted. Attempts may change before it is mounted."""

    def header_widgets(self) -> Sequence[Widget]:
        """Return the table of the attempts."""
        return [
            Static("", id="attempts-header", markup=False),
            ChoiceList(),
            Static("", id="attempts-message", markup=False),
        ]

    def on_mount(self) -> None:
        """Show the attempts. If there are no attempts, let the user start some."""
        self.attempts.set_max_height(_MAX_SHOWN_ATTEMPTS)
        self.watch(self.attempts, "highlighted", self._show_highlighted, init=False)
        self.set_interval(_REFRESH_S, self._refresh_durations)
        self._has_widgets = True
        self._show_attempts()
        if not self._attempts and not self._is_starting:
            self.action_start()

    # the attempts

    @property
    def highlighted_attempt(self) -> Attempt | None:
        """The highlighted attempt, or None."""
        choice = self.attempts.choice
        return self._attempts.get(int(choice.value)) if choice is not None else None

    def show_attempts(self, attempts: AttemptList) -> bool:
        """Show the current attempts."""
        before, self._attempts = self._attempts, {each.number: each for each in attempts.attempts}
        for number, attempt in before.items():
            after = self._attempts.get(number)
            if after is None or after.is_active != attempt.is_active:
                self._reader.forget(number)
                self._selected.pop(number, None)
        if self._has_widgets:
            self._show_attempts()
        return True

    def _refresh_durations(self) -> None:
        if any(attempt.is_active for attempt in self._attempts.values()):
            self._show_rows()

    def _show_attempts(self) -> None:
        self._show_rows()
        has_attempts = bool(self._attempts)
        self.query_one("#attempts-header", Static).display = self.attempts.display = has_attempts
        self._show_highlighted()

    def _show_rows(self) -> None:
        attempts = list(self._attempts.values())
        has_message = self.app.size.width >= _MESSAGE_COLUMN_FROM
        header = attempt_header(attempts, has_message=has_message)
        self.query_one("#attempts-header", Static).update(header)
        now = time.time()
        self.attempts.replace(
            [
                Choice(
                    value=str(each.number),
                    label=attempt_name(each),
                    row=attempt_row(
                        each, attempts, selected=self._mark(each.number), now=now, has_message=has_message
                    ),
                )
                for each in attempts
            ]
        )

    def _show_message(self) -> None:
        attempt = self.highlighted_attempt
        message = self.query_one("#attempts-message", Static)
        text = sanitize_line(attempt.last_message) if attempt is not None else ""
        message.display = bool(text) and self.app.size.width < _MESSAGE_COLUMN_FROM
        cells = self.attempts.size.width * _MAX_MESSAGE_LINES - _MAX_UNUSED_CELLS
        if cells > 0:
            message.update(fit_cells(text, cells).rstrip())

    def on_resize(self, event: events.Resize) -> None:
        """Show the last messages in the table or below it, depending on the width."""
        super().on_resize(event)
        self._show_rows()
        self.call_after_refresh(self._show_message)

    def _mark(self, number: int) -> str:
        selected = self._selected.get(number, set())
        if not selected:
            return "[ ]"
        return "[✔]" if len(selected) == len(self._reader.files_of(number)) else "[–]"

    def _show_highlighted(self) -> None:
        attempt = self.highlighted_attempt
        if attempt is None or attempt.number != self._discarded:
            self._discarded = None
        if attempt is not None and attempt.files and not attempt.is_active:
            self._reader.request(attempt.number)
        if attempt != self._shown or attempt is None:
            keeps_place = attempt is not None and self._shown is not None
            path = self.files.highlighted_path if keeps_place else None
            self._shown = attempt
            self.show_rows(self._rows(), set(self._selected.get(attempt.number, ())) if attempt else set())
            if path is not None:
                self.files.highlight_path(path)
        self._show_message()
        self._show_summary()

    def show_reply(self, reply: Reply) -> None:
        """Show the changes of an attempt, or the diff of one of its files."""
        if not isinstance(reply, AttemptChanges):
            return
        self._reader.add(reply)
        number = reply.attempt.number
        if self._shown is None or self._shown.number != number:
            return
        if reply.path:
            for row in map(_to_row, reply.files):
                self.files.replace_row(row, is_selected=row.path in self.files.selected_paths)
            self.show_detail(self.files.highlighted_row)
        else:
            self.show_rows(self._rows(), set(self._selected.get(number, ())))
            self._show_summary()

    def show_detail(self, row: FileListRow | None) -> None:
        """Show the details of a row. Request its diff if the diff is missing."""
        super().show_detail(row)
        if self._shown is not None and isinstance(row, FileRow):
            self._reader.request_diff(self._shown.number, row.path)

    def _rows(self) -> list[FileListRow]:
        attempt = self._shown
        if attempt is None:
            return []
        files = map(_to_row, self._reader.files_of(attempt.number))
        details = detail_texts(attempt)
        return [*files, *(NoteRow(it.title, "$warning" if it.is_problem else "", it.text) for it in details)]

    def _show_summary(self) -> None:
        active = sum(attempt.is_active for attempt in self._attempts.values())
        selected = sum(map(len, self._selected.values()))
        attempts = sum(map(bool, self._selected.values()))
        if not self._attempts:
            self.show_summary(Content.styled(tr("No attempts."), "$text-muted"))
            return
        parts = [tr_n("{count} attempt", "{count} attempts", len(self._attempts))]
        if active:
            parts.append(tr_n("{count} is running", "{count} are running", active))
        if selected:
            parts.append(
                tr_n("{count} file selected", "{count} files selected", selected)
                + " "
                + tr_n("of {count} attempt", "of {count} attempts", attempts)
            )
        self.show_summary(Content(" · ".join(parts)))

    @on(ChoiceList.Chosen)
    def _handle_chosen(self, event: ChoiceList.Chosen) -> None:
        event.stop()
        if event.was_highlighted:
            self.action_select_attempt()

    @on(FileList.SelectionChanged)
    def _handle_selection_changed(self, event: FileList.SelectionChanged) -> None:
        event.stop()
        if self._shown is not None:
            self._selected[self._shown.number] = set(self.files.selected_paths)
            self._show_rows()
            self._show_summary()
            self.show_hints()

    # key hints and actions

    def hints(self) -> list[KeyHint]:
        """Return the key hints."""
        close = KeyHint(self.key_labels.first_key("files.close"), tr("close"), "close")
        start = self._hint("start", tr("start attempts"), "start")
        attempt = self.highlighted_attempt
        if attempt is None:
            return [start, close]
        first = self.key_labels.first_key
        keys = f"{first('attempts.previous')} {first('attempts.next')}"
        hints = [KeyHint(keys, tr("attempt"), "move_attempt(1)")]
        if self._can_adopt(attempt) or any(self._selected.values()):
            hints.insert(0, self._hint("adopt", tr("adopt, with a preview"), "adopt", "bold"))
            hints.append(self._hint("select", tr("select file"), "toggle_file"))
            hints.append(self._hint("select_all", tr("all of its files"), "select_attempt"))
        if attempt.is_active:
            hints.append(self._hint("stop", tr("stop"), "stop"))
        else:
            is_again = self._discarded == attempt.number
            label = tr("press again to discard") if is_again else tr("discard")
            hints.append(self._hint("discard", label, "discard", "bold" if is_again else ""))
        return [*hints, start, close, *self.list_hints()]

    def _hint(self, name: str, label: str, action: str, style: str = "") -> KeyHint:
        return KeyHint(self.key_labels.first_key(f"attempts.{name}"), label, action, style)

    def _can_adopt(self, attempt: Attempt) -> bool:
        return attempt.files > 0 and not attempt.is_active

    def action_move_attempt(self, attempts: int) -> None:
        """Show another attempt."""
        self.attempts.move(attempts)

    def action_toggle_file(self) -> None:
        """Select the highlighted file to be adopted, or don't."""
        self.files.toggle()

    def action_select_attempt(self) -> None:
        """Select all files of the highlighted attempt to be adopted, or none."""
        self.files.toggle_all()

    def action_adopt(self) -> None:
        """Show the plan that adopts the selected files; without any, all of the highlighted attempt."""
        files = tuple(
            AttemptFiles(number, tuple(sorted(paths)))
            for number, paths in sorted(self._selected.items())
            if paths
        )
        attempt = self.highlighted_attempt
        if files:
            numbers = tuple(each.number for each in files)
            self._planner.open_plan(propose_adoption(AttemptSelection(numbers, files)))
        elif attempt is not None and self._can_adopt(attempt):
            self._planner.open_plan(propose_adoption(AttemptSelection((attempt.number,))))
        else:
            self._host.notify(tr("This attempt has no changes to adopt."))

    def handle_revert(self) -> None:
        """Remove the selection, because its files were adopted or have changed."""
        self._selected = {}
        self._shown = None
        self._show_attempts()

    def action_start(self) -> None:
        """Let the user start attempts from the last prompt."""
        session = self._host.state.session
        if session is not None:
            self.app.push_screen(
                StartAttemptsDialog(None, session=session, key_labels=self.key_labels), self._start
            )

    def _start(self, command: StartAttempts | None) -> None:
        if command is not None:
            self._queries.ask(command)
        elif not self._attempts:
            self.dismiss(None)

    def action_stop(self) -> None:
        """Stop the highlighted attempt."""
        attempt = self.highlighted_attempt
        if attempt is not None and attempt.is_active:
            self._host.command(StopAttempts((attempt.number,)))

    def action_discard(self) -> None:
        """Remove the highlighted attempt and its changes, at the second press."""
        attempt = self.highlighted_attempt
        if attempt is None or attempt.is_active:
            return
        if self._discarded == attempt.number:
            self._host.command(DiscardAttempts((attempt.number,)))
        self._discarded = attempt.number if self._discarded != attempt.number else None
        self.show_hints()


def _to_row(file: ComparedFile) -> FileRow:
    return replace(comparison_row(file), is_selectable=file.change != "not covered")
