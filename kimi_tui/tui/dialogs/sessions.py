"""Sessions dialog: find sessions by title, and resume, fork, rename or delete them."""

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal, Unpack

from textual import getters, on
from textual.app import ComposeResult
from textual.containers import Container, Vertical
from textual.widgets import Input, Static

from kimi_tui.base.terminal_text import sanitize
from kimi_tui.frontend.session_state import SessionViewState
from kimi_tui.i18n.translate import tr
from kimi_tui.tui.chosen_message import MessageSearchText
from kimi_tui.tui.dialogs.filter_dialog import filter_choices
from kimi_tui.tui.dialogs.pager import Pager
from kimi_tui.tui.dialogs.session_preview import SessionPreviewView
from kimi_tui.tui.dialogs.state_dialog import StateBoundDialog, StateSource
from kimi_tui.tui.keys.keymap import bindings
from kimi_tui.tui.keys.tables import SESSIONS_KEYS
from kimi_tui.tui.session_request import SessionRequest
from kimi_tui.tui.widgets.choice_list import Choice, ChoiceList
from kimi_tui.tui.widgets.key_hints import KeyHint, KeyHints
from kimi_tui.wire.commands import DeleteSession, ListSessions, RenameSession
from kimi_tui.wire.session import SessionInfo
from kimi_tui.wire.session_list import SessionList, SessionListItem

_InputMode = Literal["", "rename", "delete"]
_WIDE_CELLS = 100
"""Width of the screen from which the preview is next to the list instead of below it."""


class SessionsDialog(StateBoundDialog[SessionRequest | MessageSearchText | None]):
    """Returns a request for the session to open, the text to search in all messages, or None to stay in the
    current one.
    """

    BINDINGS = bindings(SESSIONS_KEYS)
    AUTO_FOCUS = "Input"

    choices = getters.query_one(ChoiceList)
    field = getters.query_one("#sessions-query", Input)
    title_line = getters.query_one("#sessions-title", Static)
    preview = getters.query_one(SessionPreviewView)
    hints = getters.query_one(KeyHints)

    def __init__(
        self,
        *,
        wall_clock: Callable[[], float] = time.time,
        at_start: bool = False,
        **source: Unpack[StateSource],
    ) -> None:
        """`at_start`: the open session is new and was opened only to choose another session."""
        super().__init__(**source)
        self._wall_clock = wall_clock
        self._at_start = at_start
        self._session_list: SessionList | None = None
        self._input_mode: _InputMode = ""
        self._subject: SessionListItem | None = None
        self._shows_all: bool | None = None
        """Whether sessions of all directories are listed. None: only if this directory has no sessions."""
        self._preselected = ""
        """ID of the session that was highlighted before the user moved the highlight."""
        self._opens_when_listed = False
        """Whether the user pressed enter before the sessions arrived."""

    def compose(self) -> ComposeResult:
        """Yield the title, the input field, the list, the preview and the key hints."""
        with Vertical(id="sessions", classes="dialog"):
            yield Static(tr("Sessions"), id="sessions-title", classes="dialog-title", markup=False)
            field = Input(placeholder=tr("type to filter"), id="sessions-query")
            field.cursor_blink = False
            yield field
            with Container(id="sessions-body"):
                yield ChoiceList()
                yield SessionPreviewView(self._host.command, stale=self._host.state.replies.session_preview)
            yield KeyHints(max_lines=3)

    def on_mount(self) -> None:
        """Request the sessions and watch for the engine's replies."""
        state = self._host.state
        if state.replies.sessions is not None:
            self._session_list = state.replies.sessions
            self._show_sessions()
        self.watch(self._owner, "state", self._update_from_state, init=False)
        self.watch(self.choices, "highlighted", self._show_preview, init=False)
        self._host.command(ListSessions())
        self._show_hints()

    def _update_from_state(self, state: SessionViewState) -> None:
        if state.replies.sessions is not self._session_list:
            self._session_list = state.replies.sessions
            self._show_sessions()
            if self._opens_when_listed:
                self.action_resume()
        self.preview.add(state.replies.session_preview)

    # the list

    @property
    def _lists_all(self) -> bool:
        """Whether sessions of all directories are listed: by choice, or because this directory has none."""
        if self._session_list is None:
            return True
        if self._shows_all is not None:
            return self._shows_all
        return not any(map(self._is_here, self._session_list.sessions))

    def _is_here(self, session: SessionListItem) -> bool:
        current = self._host.state.session
        return current is not None and session.work_dir == current.work_dir

    def _show_sessions(self) -> None:
        session_list = self._session_list
        if session_list is None:
            return
        sessions = [it for it in session_list.sessions if self._lists_all or self._is_here(it)]
        title = tr("Sessions in all directories") if self._lists_all else tr("Sessions in this directory")
        self.title_line.update(f"{title} · {len(sessions)}")
        choices = [self._session_choice(session) for session in sessions]
        query = "" if self._input_mode else self.field.value
        highlighted = self.choices.choice.value if self.choices.choice is not None else ""
        self.choices.show(filter_choices(choices, query))
        values = [choice.value for choice in self.choices.choices]
        if highlighted not in values or highlighted == self._preselected:
            current = self._host.state.session
            highlighted = self._preselected = _first_other_than(current, values)
        self.choices.highlighted = values.index(highlighted) if highlighted else 0
        self._show_hints()
        self._show_preview()

    def _session_choice(self, session: SessionListItem) -> Choice:
        current = self._host.state.session
        note = (
            tr("current")
            if current is not None and current.session_id == session.id
            else _format_age(self._wall_clock() - session.updated)
        )
        directory = Path(session.work_dir).name if session.work_dir else "?"
        return Choice(
            value=session.id,
            label=session.title or session.id[:8],
            detail=directory if self._lists_all else "",
            note=note,
        )

    @property
    def _highlighted_session(self) -> SessionListItem | None:
        choice = self.choices.choice
        sessions = self._session_list.sessions if self._session_list is not None else ()
        return next((it for it in sessions if choice is not None and it.id == choice.value), None)

    # the preview

    def _show_preview(self) -> None:
        self.preview.show_session(
            self._highlighted_session,
            empty_text=_empty_text(
                self._session_list, self.field.value, self._key_labels.first_key("sessions.search")
            ),
        )

    def _show_hints(self) -> None:
        if self._input_mode:
            return
        first = self._key_labels.first_key
        scope = tr("this directory") if self._lists_all else tr("all directories")
        self.hints.show(
            [
                KeyHint("enter", tr("resume"), "resume", "bold"),
                KeyHint(
                    first("sessions.close"), tr("new session") if self._at_start else tr("close"), "close"
                ),
                KeyHint(first("sessions.scope"), scope, "scope"),
                KeyHint(first("sessions.search"), tr("search messages"), "search"),
                KeyHint(first("sessions.rename"), tr("rename"), "rename"),
                KeyHint(first("sessions.delete"), tr("delete"), "delete"),
                KeyHint(first("sessions.fork"), tr("fork"), "fork"),
                KeyHint(first("sessions.preview"), tr("full preview"), "preview"),
            ]
        )

    # the input field

    @on(Input.Changed)
    def _filter(self) -> None:
        if not self._input_mode:
            self._show_sessions()

    @on(Input.Submitted)
    def _handle_submit(self, event: Input.Submitted) -> None:
        self._apply_input(event.value.strip())

    def _apply_input(self, value: str) -> None:
        subject, mode = self._subject, self._input_mode
        if mode and subject is not None:
            if mode == "rename" and value:
                self._host.command(RenameSession(subject.id, value))
            elif mode == "delete" and value.lower() in ("y", "yes"):
                self._host.command(DeleteSession(subject.id))
            self._set_input_mode("", None, "")
        else:
            self.action_resume()

    @on(ChoiceList.Chosen)
    def _handle_click(self, event: ChoiceList.Chosen) -> None:
        if event.was_highlighted and not self._input_mode:
            self.action_resume()

    def _set_input_mode(self, mode: _InputMode, subject: SessionListItem | None, text: str) -> None:
        self._input_mode, self._subject = mode, subject
        self.field.value = text
        self.field.placeholder = tr("type to filter")
        if subject is not None:
            title = sanitize(subject.title or subject.id[:8])
            self.field.placeholder = (
                tr("new title") if mode == "rename" else tr("type y to delete permanently")
            )
            cancel = KeyHint(self._key_labels.first_key("sessions.close"), tr("cancel"), "close")
            self.hints.show(
                [KeyHint("enter", tr("rename “{title}”", title=title), "confirm"), cancel]
                if mode == "rename"
                else [KeyHint("y enter", tr("permanently delete “{title}”", title=title), "confirm"), cancel]
            )
        else:
            self._show_hints()
            self._show_sessions()

    def _open(self, session: SessionListItem, *, fork: bool) -> None:
        current = self._host.state.session
        if current is not None and current.session_id == session.id and not fork:
            self.dismiss(None)
            return
        work_dir = Path(session.work_dir) if session.work_dir else None
        self.dismiss(SessionRequest(session_id=session.id, fork=fork, work_dir=work_dir))

    # keys

    def on_resize(self) -> None:
        """Put the preview next to the list if there is room, otherwise below it."""
        is_wide = self.size.width >= _WIDE_CELLS
        self.set_class(is_wide, "-wide")
        self.choices.set_max_height(self.size.height if is_wide else self.size.height * 3 // 10)

    def action_move(self, lines: int) -> None:
        """Move the highlight."""
        self.choices.move(lines)

    def action_resume(self) -> None:
        """Resume the highlighted session."""
        self._opens_when_listed = self._session_list is None
        if (session := self._highlighted_session) is not None:
            self._open(session, fork=False)

    def action_confirm(self) -> None:
        """Confirm the pending rename or delete; runs when its hint is clicked."""
        self._apply_input("y" if self._input_mode == "delete" else self.field.value.strip())

    def action_fork(self) -> None:
        """Fork the highlighted session."""
        if (session := self._highlighted_session) is not None and not self._input_mode:
            self._open(session, fork=True)

    def action_rename(self) -> None:
        """Start renaming the highlighted session."""
        if (session := self._highlighted_session) is not None:
            self._set_input_mode("rename", session, session.title)

    def action_delete(self) -> None:
        """Ask the user to confirm deleting the highlighted session."""
        if (session := self._highlighted_session) is not None:
            self._set_input_mode("delete", session, "")

    @on(SessionPreviewView.Opened)
    def _open_pager(self, event: SessionPreviewView.Opened) -> None:
        self.app.push_screen(
            Pager(title=event.title, text=event.text, copier=self._host, key_labels=self._key_labels)
        )

    def action_preview(self) -> None:
        """Open the preview of the highlighted session in the pager."""
        if not self._input_mode:
            self.preview.open()

    def action_scroll(self, lines: int) -> None:
        """Scroll the preview."""
        self.preview.scroll_relative(y=lines, animate=False)

    def action_scope(self) -> None:
        """Switch between the sessions of this directory and of all directories."""
        if self._input_mode or self._session_list is None:
            return
        self._shows_all = not self._lists_all
        self._show_sessions()

    def action_search(self) -> None:
        """Search the messages of all sessions for the typed text."""
        if not self._input_mode:
            self.dismiss(MessageSearchText(self.field.value.strip()))

    def action_close(self) -> None:
        """Cancel the pending rename or delete, or else close the dialog."""
        if self._input_mode:
            self._set_input_mode("", None, "")
        else:
            self.dismiss(None)


def _first_other_than(session: SessionInfo | None, session_ids: Sequence[str]) -> str:
    """Return the first ID that isn't the ID of `session`, otherwise the first ID. Empty without IDs."""
    others = (it for it in session_ids if session is None or it != session.session_id)
    return next(others, next(iter(session_ids), ""))


def _format_age(seconds: float) -> str:
    age = max(0.0, seconds)
    if age >= 86_400:
        return tr("{days} d ago", days=int(age // 86_400))
    if age >= 3_600:
        return tr("{hours} h ago", hours=int(age // 3_600))
    if age >= 60:
        return tr("{minutes} min ago", minutes=int(age // 60))
    return tr("just now")


def _empty_text(session_list: SessionList | None, query: str, search_key: str) -> str:
    """Return the text for an empty list."""
    if session_list is None:
        return ""
    if query:
        return tr("No titles match. Press {key} to search all messages.", key=search_key)
    return tr("No sessions yet.")
