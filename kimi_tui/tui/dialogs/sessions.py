"""The sessions on disk: found by title or by what was said in them, resumed, forked, renamed, deleted."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Literal, Unpack

from textual import getters, on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Input, Static

from kimi_tui.base.terminal import plain, plain_line
from kimi_tui.language.saying import say
from kimi_tui.tui.choices import Choice, Choices
from kimi_tui.tui.dialogs.following import Followed, FollowingDialog
from kimi_tui.tui.dialogs.pager import Pager
from kimi_tui.tui.dialogs.picker import filtered
from kimi_tui.tui.hints import Hint, Hints
from kimi_tui.tui.key_tables import SESSIONS_KEYS
from kimi_tui.tui.keys import bindings
from kimi_tui.tui.session_wish import SessionWish
from kimi_tui.tui.state import ScreenState
from kimi_tui.wire.commands import DeleteSession, ListSessions, PreviewSession, RenameSession
from kimi_tui.wire.sessions import ListedSession, SessionList, SessionPreview

_Asking = Literal["", "rename", "delete"]


class SessionsDialog(FollowingDialog[SessionWish | None]):
    """Answers with the session to open; None when the open one stays."""

    BINDINGS = bindings(SESSIONS_KEYS)
    AUTO_FOCUS = "Input"

    choices = getters.query_one(Choices)
    field = getters.query_one("#sessions-query", Input)
    title_line = getters.query_one("#sessions-title", Static)
    hints = getters.query_one(Hints)

    def __init__(
        self,
        *,
        copy: Callable[[str], None],
        wall_clock: Callable[[], float] = time.time,
        **followed: Unpack[Followed],
    ) -> None:
        super().__init__(**followed)
        self._copy = copy
        self._now = wall_clock
        self._listed: SessionList | None = None
        self._asking: _Asking = ""
        self._subject: ListedSession | None = None
        self._previewed: SessionPreview | None = None

    def compose(self) -> ComposeResult:
        """Title, what to look for, the list."""
        with Vertical(id="sessions", classes="dialog"):
            yield Static(say("Sessions"), id="sessions-title", classes="dialog-title", markup=False)
            field = Input(placeholder=say("type to filter"), id="sessions-query")
            field.cursor_blink = False
            yield field
            yield Choices()
            yield Hints(most_lines=3)

    def on_mount(self) -> None:
        """Ask for the list and follow what comes."""
        state = self._state()
        self._previewed = state.replies.session_preview
        if state.replies.sessions is not None and not state.replies.sessions.text:
            self._listed = state.replies.sessions
            self._show()
        self.watch(self._owner, "state", self._follow, init=False)
        self._command(ListSessions())
        self._say_keys()

    def _follow(self, state: ScreenState) -> None:
        if state.replies.sessions is not self._listed:
            self._listed = state.replies.sessions
            self._show()
        if state.replies.session_preview is not self._previewed and state.replies.session_preview is not None:
            self._previewed = state.replies.session_preview
            self.app.push_screen(
                Pager(
                    title=say("How it ended"),
                    text=_told(state.replies.session_preview),
                    copy=self._copy,
                    names=self._names,
                )
            )

    def _show(self) -> None:
        listed = self._listed
        if listed is None:
            return
        what = (
            say("Sessions in which “{text}” was said", text=plain_line(listed.text))
            if listed.text
            else say("Sessions")
        )
        self.title_line.update(f"{what} · {len(listed.sessions)}")
        lines = [self._line(session) for session in listed.sessions]
        query = "" if self._asking or listed.text else self.field.value
        marked = self.choices.choice.value if self.choices.choice is not None else ""
        self.choices.show(filtered(lines, query))
        places = [index for index, line in enumerate(self.choices.choices) if line.value == marked]
        self.choices.marked = places[0] if places else 0

    def _line(self, session: ListedSession) -> Choice:
        known = self._state().session
        note = (
            say("open now")
            if known is not None and known.session_id == session.id
            else self._ago(session.updated)
        )
        place = Path(session.work_dir).name if session.work_dir else "?"
        return Choice(
            value=session.id,
            label=session.title or session.id[:8],
            detail=session.snippet or place,
            note=note,
        )

    def _ago(self, updated: float) -> str:
        passed = max(0.0, self._now() - updated)
        if passed >= 86_400:
            return say("{days} d ago", days=int(passed // 86_400))
        if passed >= 3_600:
            return say("{hours} h ago", hours=int(passed // 3_600))
        if passed >= 60:
            return say("{minutes} min ago", minutes=int(passed // 60))
        return say("just now")

    @property
    def _marked(self) -> ListedSession | None:
        choice = self.choices.choice
        sessions = self._listed.sessions if self._listed is not None else ()
        return next((it for it in sessions if choice is not None and it.id == choice.value), None)

    def _say_keys(self) -> None:
        first = self._names.first
        self.hints.show(
            [
                Hint("enter", say("resume"), "resume", "bold"),
                Hint(first("sessions.close"), say("close"), "close"),
                Hint(first("sessions.preview"), say("how it ended"), "preview"),
                Hint(first("sessions.fork"), say("go on in a copy"), "fork"),
                Hint(first("sessions.rename"), say("rename"), "rename"),
                Hint(first("sessions.delete"), say("delete"), "delete"),
                Hint(first("sessions.search"), say("look for it in all that was said"), "search"),
            ]
        )

    # what is typed

    @on(Input.Changed)
    def _filter(self) -> None:
        if self._asking:
            return
        if self._listed is not None and self._listed.text:
            self._command(ListSessions())
        self._show()

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        self._take(event.value.strip())

    def _take(self, value: str) -> None:
        subject, asking = self._subject, self._asking
        if asking and subject is not None:
            if asking == "rename" and value:
                self._command(RenameSession(subject.id, value))
            elif asking == "delete" and value.lower() in ("y", "yes"):
                self._command(DeleteSession(subject.id))
            self._ask("", None, "")
        elif (session := self._marked) is not None:
            self._open(session, fork=False)

    @on(Choices.Chosen)
    def _clicked(self, event: Choices.Chosen) -> None:
        if event.was_marked and not self._asking:
            self.action_resume()

    def _ask(self, asking: _Asking, subject: ListedSession | None, text: str) -> None:
        self._asking, self._subject = asking, subject
        self.field.value = text
        self.field.placeholder = say("type to filter")
        if subject is not None:
            named = plain(subject.title or subject.id[:8])
            self.field.placeholder = (
                say("its new title") if asking == "rename" else say("y deletes it for good")
            )
            back = Hint(self._names.first("sessions.close"), say("go back"), "close")
            self.hints.show(
                [Hint("enter", say("rename “{title}”", title=named), "confirm"), back]
                if asking == "rename"
                else [Hint("y enter", say("delete “{title}” for good", title=named), "confirm"), back]
            )
        else:
            self._say_keys()
            self._show()

    def _open(self, session: ListedSession, *, fork: bool) -> None:
        known = self._state().session
        if known is not None and known.session_id == session.id and not fork:
            self.dismiss(None)
            return
        work_dir = Path(session.work_dir) if session.work_dir else None
        self.dismiss(SessionWish(session_id=session.id, fork=fork, work_dir=work_dir))

    # keys

    def on_resize(self) -> None:
        """Leave room for what stands around the list."""
        self.choices.take_most(self.size.height * 45 // 100)

    def action_move(self, lines: int) -> None:
        """Move the mark."""
        self.choices.move(lines)

    def action_resume(self) -> None:
        """Open the marked one."""
        if (session := self._marked) is not None:
            self._open(session, fork=False)

    def action_confirm(self) -> None:
        """Do what is being asked: what a click does in place of the keys."""
        self._take("y" if self._asking == "delete" else self.field.value.strip())

    def action_fork(self) -> None:
        """Go on in a copy of the marked one."""
        if (session := self._marked) is not None and not self._asking:
            self._open(session, fork=True)

    def action_rename(self) -> None:
        """Type a new title."""
        if (session := self._marked) is not None:
            self._ask("rename", session, session.title)

    def action_delete(self) -> None:
        """Delete the marked one, once the user has confirmed it."""
        if (session := self._marked) is not None:
            self._ask("delete", session, "")

    def action_preview(self) -> None:
        """Show how the marked one ended."""
        if (session := self._marked) is not None:
            self._command(PreviewSession(session.id))

    def action_search(self) -> None:
        """Look for the typed text in all that was said."""
        if not self._asking and self.field.value.strip():
            self._command(ListSessions(self.field.value.strip()))

    def action_close(self) -> None:
        """Leave what is being asked, else the dialog."""
        if self._asking:
            self._ask("", None, "")
        else:
            self.dismiss(None)


def _told(preview: SessionPreview) -> str:
    names = {"user": say("you"), "agent": say("agent")}
    said = [f"{names[words.speaker]}:\n{words.text}" for words in preview.said]
    return "\n\n".join(said) or say("Nothing was said in this session yet.")
