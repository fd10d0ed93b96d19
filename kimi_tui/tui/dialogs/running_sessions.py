"""Running sessions dialog: the open sessions of this user, to answer, stop or open."""

import time
from dataclasses import replace
from pathlib import Path
from typing import ClassVar, Unpack

from textual import getters, on, work
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Static

from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.terminal_text import sanitize, sanitize_line
from kimi_tui.frontend.running_session_service import RunningSessionService
from kimi_tui.frontend.text.cell_width import fit_cells, pad_left
from kimi_tui.frontend.text.request_summary import danger_of, question_of, source_of
from kimi_tui.frontend.text.running_sessions import (
    cost_today_label,
    duration_label,
    facts_of,
    no_engine_text,
    state_label,
    state_sign,
    title_of,
)
from kimi_tui.i18n.translate import tr, tr_lazy, translate_error
from kimi_tui.tui.approvals.request_body import RequestBody
from kimi_tui.tui.approvals.request_panel import GRACE_S
from kimi_tui.tui.dialogs.list_dialog import ListDialog
from kimi_tui.tui.dialogs.state_dialog import StateSource
from kimi_tui.tui.keys.keymap import bindings
from kimi_tui.tui.keys.tables import RUNNING_SESSIONS_KEYS
from kimi_tui.tui.markdown.styled_line import BLANK, StyledLine, text_style
from kimi_tui.tui.markdown.wrap import wrap
from kimi_tui.tui.session_request import SessionRequest
from kimi_tui.tui.widgets.choice_list import Choice, ChoiceList
from kimi_tui.tui.widgets.key_hints import KeyHint, KeyHints
from kimi_tui.tui.widgets.line_view import LineView
from kimi_tui.wire.events import ApprovalResponse
from kimi_tui.wire.requests import (
    ApprovalRequest,
    Question,
    QuestionRequest,
    QuestionResponse,
    UserRequest,
)
from kimi_tui.wire.running_session import RunningSession, RunningSessionList

_POLL_S = 1.0
_STATE_CELLS = 19
_TIME_CELLS = 7
_COST_CELLS = 12
_DIRECTORY_CELLS = 16


class RunningSessionsDialog(ListDialog[SessionRequest]):
    """Reads the open sessions once a second. Returns a request for the session to open."""

    BINDINGS = bindings(RUNNING_SESSIONS_KEYS)
    NAME = "running"
    HEADING: ClassVar[str] = tr_lazy("Running sessions")

    details = getters.query_one("#running-details", LineView)
    body = getters.query_one(RequestBody)
    hints = getters.query_one(KeyHints)

    def __init__(self, service: RunningSessionService, **source: Unpack[StateSource]) -> None:
        super().__init__(**source)
        self._service = service
        self._list: RunningSessionList | None = None
        self._problem = ""
        """Error of the last read. Empty if it succeeded."""
        self._request: UserRequest | None = None
        """The displayed request: the oldest request of the highlighted session."""
        self._request_shown_at = 0.0
        self._answers: dict[str, str] = {}
        """Answers to the first questions of the request."""
        self._selected: set[int] = set()
        """Numbers of the selected options, for a question with multiple selection."""
        self._stopping_id = ""
        """Session that the next press of the key stops."""

    def compose(self) -> ComposeResult:
        """Yield the title, the list, the details, the open request and the key hints."""
        with Vertical(id=self.NAME, classes="dialog"):
            yield Static(tr(self.HEADING), classes="dialog-title", markup=False)
            yield ChoiceList()
            details = LineView(self)
            details.id = "running-details"
            yield details
            yield RequestBody()
            yield KeyHints(self._hints(), max_lines=3)

    def on_mount(self) -> None:
        """Read the sessions, now and once a second."""
        self.body.display = False
        self.watch(self.choices, "highlighted", self._show_highlighted, init=False)
        self._read()
        self.set_interval(_POLL_S, self._read)

    # the list

    @work(group="running", exclusive=True)
    async def _read(self) -> None:
        try:
            sessions = await self._service.list()
        except KimiTuiError as error:
            self._problem = sanitize_line(translate_error(error))
            self.details.redraw()
            return
        self._problem = ""
        self._show_list(replace(sessions, sessions=tuple(map(self._with_own_state, sessions.sessions))))

    def _with_own_state(self, session: RunningSession) -> RunningSession:
        """Return `session`. If it runs in this process, set its current state."""
        state = self._host.state
        if session.is_resident or not self._is_current(session):
            return session
        return session.with_state(
            is_working=state.turn is not None,
            is_awaiting=bool(state.requests),
            last_outcome=state.last_outcome,
        )

    def _is_current(self, session: RunningSession) -> bool:
        current = self._host.state.session
        return current is not None and current.session_id == session.id

    def _show_list(self, listed: RunningSessionList) -> None:
        """Show the sessions. Keep the highlight on its session. The first highlight is on a session with a
        request.
        """
        highlighted, is_first = self._highlighted, self._list is None
        self._list = listed
        self.choices.replace([self._choice(session) for session in listed.sessions])
        ids = [session.id for session in listed.sessions]
        if highlighted is not None and highlighted.id in ids:
            self.choices.highlighted = ids.index(highlighted.id)
        elif is_first:
            open_ = (index for index, session in enumerate(listed.sessions) if session.requests)
            self.choices.highlighted = next(open_, 0)
        awaiting = sum(session.is_awaiting for session in listed.sessions)
        heading = f"{tr(self.HEADING)} · {len(ids)}"
        self.title_line.update(
            f"{heading} · {tr('{count} awaiting approval', count=awaiting)}" if awaiting else heading
        )
        self._show_highlighted()

    def _choice(self, session: RunningSession) -> Choice:
        cost = cost_today_label(session)
        columns = (
            fit_cells(f"{state_sign(session.state)} {state_label(session.state)}", _STATE_CELLS),
            pad_left(duration_label(session.since_s), _TIME_CELLS),
            *([pad_left(cost, _COST_CELLS)] if self.size.width >= 100 else []),
            fit_cells(sanitize_line(Path(session.work_dir).name), _DIRECTORY_CELLS),
            title_of(session),
        )
        current = [tr("current")] if self._is_current(session) else []
        return Choice(value=session.id, label=session.id, row="  ".join([*columns, *current]))

    @property
    def _highlighted(self) -> RunningSession | None:
        index = self.choices.highlighted
        sessions = self._list.sessions if self._list is not None else ()
        return sessions[index] if index < len(sessions) else None

    # the highlighted session

    def _show_highlighted(self) -> None:
        session = self._highlighted
        requests = session.open_requests if session is not None else ()
        request = requests[0] if requests else None
        if session is None or session.id != self._stopping_id:
            self._stopping_id = ""
        if request != self._request:
            self._show_request(request)
        self.details.redraw()
        self.hints.show(self._hints())

    def _show_request(self, request: UserRequest | None) -> None:
        self._request, self._answers, self._selected = request, {}, set()
        self._request_shown_at = time.monotonic()
        is_approval = isinstance(request, ApprovalRequest)
        self.body.display = is_approval
        self.details.set_class(is_approval, "-above-request")
        if isinstance(request, ApprovalRequest):
            self.body.show_request(request)

    @property
    def _question(self) -> Question | None:
        """The first question without an answer. None if the request has no questions."""
        if not isinstance(self._request, QuestionRequest):
            return None
        return next((it for it in self._request.questions if it.question not in self._answers), None)

    def build_lines(self, width: int) -> list[StyledLine]:
        """Return the facts and the request of the highlighted session."""
        if self._problem:
            return wrap([(self._problem, text_style("failed"))], width)
        session = self._highlighted
        if self._list is None:
            return []
        lines: list[StyledLine] = []
        if session is None:
            lines += wrap([(tr("No sessions are open."), text_style("dim"))], width)
        else:
            lines += [BLANK, *wrap([(title_of(session), text_style("strong"))], width)]
            lines += wrap([(facts_of(session), text_style("dim"))], width)
            if last_line := sanitize_line(session.last_line):
                lines += wrap([(last_line, text_style())], width)[:2]
            lines += self._request_lines(width)
        if not self._list.is_engine_running:
            lines += [BLANK, *wrap([(no_engine_text(), text_style("dim"))], width)]
        return lines

    def _request_lines(self, width: int) -> list[StyledLine]:
        request, question = self._request, self._question
        if isinstance(request, ApprovalRequest):
            source = tr("from {source}", source=sanitize_line(source_of(request)))
            text = sanitize_line(f"{question_of(request)} {source}")
            lines = [BLANK, *wrap([(text, text_style("strong"))], width)]
            if danger := danger_of(request):
                lines += wrap([(f"⚠ {danger}", text_style("failed"))], width)
            return lines
        if question is None:
            return []
        lines = [BLANK, *wrap([(sanitize_line(question.question), text_style("strong"))], width)]
        for number, option in enumerate(question.options, 1):
            description = f" · {option.description}" if option.description else ""
            box = ("☑ " if number in self._selected else "☐ ") if question.multi_select else ""
            text = sanitize_line(f"{number}  {box}{option.label}{description}")
            lines += wrap([(text, text_style())], width)
        return lines

    def _hints(self) -> list[KeyHint]:
        first = self._key_labels.first_key
        session = self._highlighted if self._list is not None else None
        hints = [KeyHint(first("running.close"), tr("close"), "close")]
        if session is None:
            return hints
        if session.is_resident and not self._is_current(session):
            label = tr("press again to stop") if self._stopping_id == session.id else tr("stop")
            hints.insert(0, KeyHint(first("running.stop"), label, "stop"))
        hints.insert(0, KeyHint(first("running.open"), tr("open the session"), "open", "bold"))
        return [*self._answer_hints(), *hints]

    def _answer_hints(self) -> list[KeyHint]:
        first, question = self._key_labels.first_key, self._question
        decline = KeyHint(first("running.decline"), tr("No"), "decline")
        if isinstance(self._request, ApprovalRequest):
            return [KeyHint(first("running.allow"), tr("Yes"), "allow", "bold"), decline]
        if question is None:
            return []
        return [
            *(
                KeyHint(first(f"running.option_{number}"), sanitize_line(option.label), f"choose({number})")
                for number, option in enumerate(question.options, 1)
            ),
            *([KeyHint(first("running.allow"), tr("Continue"), "allow", "bold")] if self._selected else []),
            KeyHint(first("running.decline"), tr("don't answer"), "decline"),
        ]

    def _activate_highlighted(self) -> None:
        self.action_open()

    # actions

    def action_open(self) -> None:
        """Open the highlighted session."""
        session = self._highlighted
        if session is None:
            return
        if self._is_current(session):
            self.dismiss(None)
        elif not session.is_resident:
            self.notify(
                tr("Another process has this session open. Close it there, or resume a fork of it here."),
                severity="warning",
                markup=False,
            )
        else:
            work_dir = Path(session.work_dir) if session.work_dir else None
            self.dismiss(SessionRequest(session_id=session.id, work_dir=work_dir))

    def action_scroll(self, lines: int) -> None:
        """Scroll the request."""
        self.body.scroll_relative(y=lines, animate=False)

    def action_allow(self) -> None:
        """Allow the call, if all of its command has been on the screen, or send the selected options."""
        question = self._question
        if question is not None and self._selected and self._accepts_answers:
            selected = (question.options[number - 1].label for number in sorted(self._selected))
            self._add_answer(question, ", ".join(selected))
            return
        if not isinstance(self._request, ApprovalRequest) or not self._accepts_answers:
            return
        if self.body.n_unseen_rows:
            self.notify(
                tr("Part of a command hasn't been on the screen yet. Page down first."),
                severity="warning",
                markup=False,
            )
            return
        self._send(ApprovalResponse(self._request.id, "approve"))

    def action_decline(self) -> None:
        """Decline the call, or leave the questions without an answer."""
        if not self._accepts_answers:
            return
        match self._request:
            case ApprovalRequest(id=request_id):
                self._send(ApprovalResponse(request_id, "reject"))
            case QuestionRequest(id=request_id):
                self._send(QuestionResponse(request_id, {}))
            case None:
                pass

    def action_choose(self, number: int) -> None:
        """Answer the question with an option, or select it if several can be. The last answer sends all."""
        question = self._question
        if question is None or not self._accepts_answers or number > len(question.options):
            return
        if question.multi_select:
            self._selected ^= {number}
            self.details.redraw()
            self.hints.show(self._hints())
        else:
            self._add_answer(question, question.options[number - 1].label)

    def _add_answer(self, question: Question, answer: str) -> None:
        self._answers[question.question], self._selected = answer, set()
        if self._question is not None:
            self._request_shown_at = time.monotonic()
            self.details.redraw()
            self.hints.show(self._hints())
        elif isinstance(self._request, QuestionRequest):
            self._send(QuestionResponse(self._request.id, dict(self._answers)))

    @property
    def _accepts_answers(self) -> bool:
        """Whether the request has been visible for long enough."""
        return time.monotonic() - self._request_shown_at >= GRACE_S

    @work(group="act")
    async def _send(self, answer: ApprovalResponse | QuestionResponse) -> None:
        session = self._highlighted
        if session is None:
            return
        self._request_shown_at = time.monotonic()  # one answer per request
        try:
            is_accepted = await self._service.answer(session.id, answer)
        except KimiTuiError as error:
            self._warn(error)
            return
        if not is_accepted:
            self.notify(tr("The request was already answered."), markup=False)
        self._read()

    def action_stop(self) -> None:
        """Stop the highlighted session when the key is pressed a second time."""
        session = self._highlighted
        if session is None or not session.is_resident or self._is_current(session):
            return
        if self._stopping_id != session.id:
            self._stopping_id = session.id
            self.hints.show(self._hints())
        else:
            self._stopping_id = ""
            self._stop(session)

    @work(group="act")
    async def _stop(self, session: RunningSession) -> None:
        try:
            await self._service.stop(session.id)
        except KimiTuiError as error:
            self._warn(error)
            return
        self.notify(tr("Stopped: {title}", title=title_of(session)), markup=False)
        self._read()

    def _warn(self, error: KimiTuiError) -> None:
        self.notify(sanitize(translate_error(error)), severity="warning", markup=False)

    @on(ChoiceList.Chosen)
    def _drop_pending_stop(self) -> None:
        self._stopping_id = ""
