"""Sessions dialog: find sessions by title or content, and resume, fork, rename or delete them."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Literal, Unpack

from textual import getters, on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Input, Static

from kimi_tui.base.terminal_text import sanitize, sanitize_line
from kimi_tui.frontend.session_state import SessionViewState
from kimi_tui.i18n.translate import tr
from kimi_tui.tui.dialogs.pager import Pager
from kimi_tui.tui.dialogs.picker import filter_choices
from kimi_tui.tui.dialogs.state_dialog import StateBoundDialog, StateSource
from kimi_tui.tui.keys.keymap import bindings
from kimi_tui.tui.keys.tables import SESSIONS_KEYS
from kimi_tui.tui.session_request import SessionRequest
from kimi_tui.tui.widgets.choice_list import Choice, ChoiceList
from kimi_tui.tui.widgets.key_hints import KeyHint, KeyHints
from kimi_tui.wire.commands import DeleteSession, ListSessions, PreviewSession, RenameSession
from kimi_tui.wire.session_list import SessionList, SessionListItem, SessionPreview

_InputMode = Literal["", "rename", "delete"]


class SessionsDialog(StateBoundDialog[SessionRequest | None]):
    """Returns a request for the session to open, or None to stay in the current one."""

    BINDINGS = bindings(SESSIONS_KEYS)
    AUTO_FOCUS = "Input"

    choices = getters.query_one(ChoiceList)
    field = getters.query_one("#sessions-query", Input)
    title_line = getters.query_one("#sessions-title", Static)
    hints = getters.query_one(KeyHints)

    def __init__(
        self,
        *,
        wall_clock: Callable[[], float] = time.time,
        **source: Unpack[StateSource],
    ) -> None:
        super().__init__(**source)
        self._wall_clock = wall_clock
        self._session_list: SessionList | None = None
        self._input_mode: _InputMode = ""
        self._subject: SessionListItem | None = None
        self._shown_preview: SessionPreview | None = None

    def compose(self) -> ComposeResult:
        """Yield the title, the input field, the list and the key hints."""
        with Vertical(id="sessions", classes="dialog"):
            yield Static(tr("Sessions"), id="sessions-title", classes="dialog-title", markup=False)
            field = Input(placeholder=tr("type to filter"), id="sessions-query")
            field.cursor_blink = False
            yield field
            yield ChoiceList()
            yield KeyHints(max_lines=3)

    def on_mount(self) -> None:
        """Request the sessions and watch for the engine's replies."""
        state = self._host.state
        self._shown_preview = state.replies.session_preview
        if state.replies.sessions is not None and not state.replies.sessions.text:
            self._session_list = state.replies.sessions
            self._show_sessions()
        self.watch(self._owner, "state", self._update_from_state, init=False)
        self._host.command(ListSessions())
        self._show_hints()

    def _update_from_state(self, state: SessionViewState) -> None:
        if state.replies.sessions is not self._session_list:
            self._session_list = state.replies.sessions
            self._show_sessions()
        if (
            state.replies.session_preview is not self._shown_preview
            and state.replies.session_preview is not None
        ):
            self._shown_preview = state.replies.session_preview
            self.app.push_screen(
                Pager(
                    title=tr("Last messages"),
                    text=_preview_text(state.replies.session_preview),
                    copier=self._host,
                    key_labels=self._key_labels,
                )
            )

    def _show_sessions(self) -> None:
        session_list = self._session_list
        if session_list is None:
            return
        title = (
            tr("Sessions containing “{text}”", text=sanitize_line(session_list.text))
            if session_list.text
            else tr("Sessions")
        )
        self.title_line.update(f"{title} · {len(session_list.sessions)}")
        choices = [self._session_choice(session) for session in session_list.sessions]
        query = "" if self._input_mode or session_list.text else self.field.value
        highlighted = self.choices.choice.value if self.choices.choice is not None else ""
        self.choices.show(filter_choices(choices, query))
        values = [choice.value for choice in self.choices.choices]
        self.choices.highlighted = values.index(highlighted) if highlighted in values else 0

    def _session_choice(self, session: SessionListItem) -> Choice:
        current = self._host.state.session
        note = (
            tr("current")
            if current is not None and current.session_id == session.id
            else self._format_age(session.updated)
        )
        directory = Path(session.work_dir).name if session.work_dir else "?"
        return Choice(
            value=session.id,
            label=session.title or session.id[:8],
            detail=session.snippet or directory,
            note=note,
        )

    def _format_age(self, updated: float) -> str:
        age = max(0.0, self._wall_clock() - updated)
        if age >= 86_400:
            return tr("{days} d ago", days=int(age // 86_400))
        if age >= 3_600:
            return tr("{hours} h ago", hours=int(age // 3_600))
        if age >= 60:
            return tr("{minutes} min ago", minutes=int(age // 60))
        return tr("just now")

    @property
    def _highlighted_session(self) -> SessionListItem | None:
        choice = self.choices.choice
        sessions = self._session_list.sessions if self._session_list is not None else ()
        return next((it for it in sessions if choice is not None and it.id == choice.value), None)

    def _show_hints(self) -> None:
        first = self._key_labels.first_key
        self.hints.show(
            [
                KeyHint("enter", tr("resume"), "resume", "bold"),
                KeyHint(first("sessions.close"), tr("close"), "close"),
                KeyHint(first("sessions.preview"), tr("preview"), "preview"),
                KeyHint(first("sessions.fork"), tr("fork"), "fork"),
                KeyHint(first("sessions.rename"), tr("rename"), "rename"),
                KeyHint(first("sessions.delete"), tr("delete"), "delete"),
                KeyHint(first("sessions.search"), tr("search messages"), "search"),
            ]
        )

    # the input field

    @on(Input.Changed)
    def _filter(self) -> None:
        if self._input_mode:
            return
        if self._session_list is not None and self._session_list.text:
            self._host.command(ListSessions())
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
        elif (session := self._highlighted_session) is not None:
            self._open(session, fork=False)

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
        """Limit the height of the list so that the rest of the dialog fits."""
        self.choices.set_max_height(self.size.height * 45 // 100)

    def action_move(self, lines: int) -> None:
        """Move the highlight."""
        self.choices.move(lines)

    def action_resume(self) -> None:
        """Resume the highlighted session."""
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

    def action_preview(self) -> None:
        """Show the last messages of the highlighted session."""
        if (session := self._highlighted_session) is not None:
            self._host.command(PreviewSession(session.id))

    def action_search(self) -> None:
        """Search the messages of all sessions for the typed text."""
        if not self._input_mode and self.field.value.strip():
            self._host.command(ListSessions(self.field.value.strip()))

    def action_close(self) -> None:
        """Cancel the pending rename or delete. If there is none, close the dialog."""
        if self._input_mode:
            self._set_input_mode("", None, "")
        else:
            self.dismiss(None)


def _preview_text(preview: SessionPreview) -> str:
    names = {"user": tr("you"), "agent": tr("agent")}
    messages = [f"{names[excerpt.speaker]}:\n{excerpt.text}" for excerpt in preview.said]
    return "\n\n".join(messages) or tr("No messages yet.")
