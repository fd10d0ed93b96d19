"""Terminal notifications when a turn has ended or a request is open while the user is away."""

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Literal, Protocol, assert_never

from kimi_tui.base.terminal_text import sanitize_line
from kimi_tui.config.startup_settings import NotifyMode
from kimi_tui.frontend.message_batch import MessageBatch
from kimi_tui.frontend.session_state import SessionViewState
from kimi_tui.frontend.text.request_summary import question_of
from kimi_tui.i18n.translate import tr, translate_message
from kimi_tui.wire.events import Notification, TurnEnd
from kimi_tui.wire.requests import ApprovalRequest, QuestionRequest, UserRequest

NotifyMethod = Literal["off", "bell", "osc9", "osc777", "osc99"]

_MAX_CHARS = 100
"""Maximum length of a notification's title and body."""
_AWAY_AFTER_S = 60.0
"""Seconds since the last key press after which the user is away. For terminals that don't report focus."""
_METHOD_BY_PROGRAM: Mapping[str, NotifyMethod] = {"iTerm.app": "osc9", "WezTerm": "osc9", "ghostty": "osc777"}
_METHOD_BY_TERM: tuple[tuple[str, NotifyMethod], ...] = (
    ("xterm-kitty", "osc99"),
    ("xterm-ghostty", "osc777"),
    ("foot", "osc777"),
    ("rxvt", "osc777"),
)


def detect_method(setting: NotifyMode, environment: Mapping[str, str] = os.environ) -> NotifyMethod:
    """Return how to notify through this terminal, detected from the environment if `setting` is `auto`.

    In tmux and screen, `auto` rings the bell. Both mark the window and pass the bell on. They drop other
    sequences by default.
    """
    if setting != "auto":
        return setting
    term = environment.get("TERM", "")
    if "TMUX" in environment or term.startswith(("screen", "tmux")):
        return "bell"
    by_term: NotifyMethod = next((it for name, it in _METHOD_BY_TERM if term.startswith(name)), "bell")
    return _METHOD_BY_PROGRAM.get(environment.get("TERM_PROGRAM", ""), by_term)


def build_notification(method: NotifyMethod, title: str, body: str, *, in_tmux: bool) -> str:
    """Return the sequence that shows a notification. Title and body are sanitized and truncated.

    OSC 9 is for iTerm2, OSC 777 for urxvt, OSC 99 for kitty. Kitty shows it only in an unfocused window.
    """
    title, body = _shorten(title), _shorten(body)
    match method:
        case "off":
            return ""
        case "bell":
            return "\a"
        case "osc9":
            sequence = f"\x1b]9;{title}: {body}\x1b\\"
        case "osc777":
            sequence = f"\x1b]777;notify;{title.replace(';', ',')};{body}\x1b\\"
        case "osc99":
            sequence = (
                f"\x1b]99;i=kimi-tui:d=0:o=unfocused;{title}\x1b\\\x1b]99;i=kimi-tui:p=body;{body}\x1b\\"
            )
        case _:
            assert_never(method)
    return wrap_for_tmux(sequence) if in_tmux else sequence


def wrap_for_tmux(sequence: str) -> str:
    """Wrap `sequence` so that tmux passes it to its terminal. Requires tmux's option `allow-passthrough`."""
    return "\x1bPtmux;" + sequence.replace("\x1b", "\x1b\x1b") + "\x1b\\"


class SequenceTarget(Protocol):
    """A terminal that escape sequences can be sent to."""

    def send(self, sequence: str) -> None:
        """Write an escape sequence without disturbing what the terminal shows."""


class TerminalNotifier:
    """Notifies the user of events while they are away."""

    def __init__(
        self,
        *,
        method: NotifyMethod,
        terminal: SequenceTarget,
        clock: Callable[[], float],
        in_tmux: bool,
        reports_focus: bool = True,
    ) -> None:
        """If `reports_focus` is false, the terminal never reports its focus. Then only key presses show that
        the user is present.
        """
        self._reports_focus = reports_focus
        self._method = method
        self._terminal = terminal
        self._clock = clock
        self._in_tmux = in_tmux
        self._has_focus: bool | None = None
        """None until the terminal has reported its focus."""
        self._typed_at = clock()
        self._notified_ids: set[str] = set()

    def set_focus(self, has_focus: bool) -> None:
        """Record whether the terminal has the focus."""
        self._has_focus = has_focus

    def record_key(self) -> None:
        """Record a key press: the user is present."""
        self._typed_at = self._clock()
        if self._has_focus is False:
            self._has_focus = True

    def observe(self, state: SessionViewState, batch: MessageBatch) -> None:
        """Notify the user of events in `batch` if they are away. `state` is the state after the batch."""
        new_requests = [request for request in state.requests if request.id not in self._notified_ids]
        self._notified_ids = {request.id for request in state.requests}
        if state.is_replaying or not self._is_away:
            return
        if new_requests:
            self._notify(state, _request_text(new_requests))
        elif state.requests or state.is_busy or state.queue:
            return
        elif turn_ends := batch.of_type(TurnEnd):
            if text := _turn_end_text(turn_ends[-1]):
                self._notify(state, text)
        elif notifications := list(filter(_is_noteworthy, batch.of_type(Notification))):
            self._notify(state, translate_message(notifications[-1].title))

    def report(self, text: str) -> None:
        """Notify the user of something outside of this session, if they are away."""
        if self._is_away:
            self._terminal.send(
                build_notification(self._method, "kimi-tui", _shorten(text), in_tmux=self._in_tmux)
            )

    @property
    def _is_away(self) -> bool:
        if self._has_focus is None:
            # Many terminals, and tmux by default, never report focus. A bell does no harm then.
            may_guess = self._method == "bell" or not self._reports_focus
            return may_guess and self._clock() - self._typed_at >= _AWAY_AFTER_S
        return not self._has_focus

    def _notify(self, state: SessionViewState, body: str) -> None:
        session = state.session
        names = () if session is None else (session.title, Path(session.work_dir).name)
        title = ", ".join(("kimi-tui", *filter(None, map(sanitize_line, names))))
        self._terminal.send(build_notification(self._method, title, body, in_tmux=self._in_tmux))


def _request_text(pending: Sequence[UserRequest]) -> str:
    match pending[0]:
        case ApprovalRequest(description=description) as request:
            text = f"{question_of(request)} {description}"
        case QuestionRequest(questions=questions):
            text = questions[0].question if questions else tr("The agent has a question.")
        case _:
            assert_never(pending[0])
    if len(pending) == 1:
        return text
    return _shorten(text, _MAX_CHARS - 20) + tr(" and {count} more", count=len(pending) - 1)


def _turn_end_text(end: TurnEnd) -> str:
    match end.outcome:
        case "finished":
            return tr("Turn finished.")
        case "cancelled":
            return ""
        case "rejected" | "max_steps" | "limit" | "failed":
            reason = translate_message(end.failure.what) if end.failure is not None else ""
            return f"{tr('Turn stopped.')} {reason}"


def _is_noteworthy(notification: Notification) -> bool:
    return notification.severity == "error" or notification.category == "task"


def _shorten(text: str, max_chars: int = _MAX_CHARS) -> str:
    text = sanitize_line(text)
    return text if len(text) <= max_chars else f"{text[: max_chars - 1]}…"
