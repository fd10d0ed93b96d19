"""Terminal notifications for users who are away."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from kimi_tui.config.startup_settings import NotifyMode
from kimi_tui.frontend.message_batch import MessageBatch
from kimi_tui.frontend.replay_state import apply_batch
from kimi_tui.frontend.session_state import RunningTurn, SessionViewState
from kimi_tui.frontend.terminal_notifier import (
    NotifyMethod,
    TerminalNotifier,
    build_notification,
    detect_method,
)
from kimi_tui.wire.channel import Outgoing
from kimi_tui.wire.events import Notification, TurnBegin, TurnEnd, TurnFailure
from kimi_tui.wire.requests import ApprovalRequest, Question, QuestionRequest
from tests.tui.conftest import SESSION, FakeClock

APPROVAL = ApprovalRequest("r1", "c1", "Bash", "run command", "rm -rf build")
ANOTHER = ApprovalRequest("r2", "c2", "EditFile", "edit file", "a.py")


class FakeTerminal:
    """Records the sequences it gets."""

    def __init__(self) -> None:
        self.sent: list[str] = []

    def send(self, sequence: str) -> None:
        self.sent.append(sequence)


class NotifierHarness:
    """A notifier with a session, which records the sequences it sends."""

    def __init__(self, method: NotifyMethod = "osc9") -> None:
        self.clock = FakeClock()
        self.terminal = FakeTerminal()
        self.state = SessionViewState(session=SESSION)
        self.notifier = TerminalNotifier(
            method=method, terminal=self.terminal, clock=self.clock, in_tmux=False
        )

    def send(self, *messages: Outgoing) -> list[str]:
        """Process `messages` and return the sequences sent for them."""
        before = len(self.terminal.sent)
        batch = MessageBatch(messages)
        self.state = apply_batch(self.state, batch.session, now=0)
        self.notifier.observe(self.state, batch)
        return self.terminal.sent[before:]


@pytest.fixture
def away() -> NotifierHarness:
    harness = NotifierHarness()
    harness.notifier.set_focus(False)
    return harness


def test_the_end_of_a_turn_notifies_a_user_who_is_away(away: NotifierHarness):
    assert away.send(TurnBegin("x")) == []
    assert away.send(TurnEnd()) == ["\x1b]9;kimi-tui, fix login, shop: Turn finished.\x1b\\"]


def test_a_focused_terminal_gets_no_notification(away: NotifierHarness):
    away.notifier.set_focus(True)
    assert away.send(TurnBegin("x"), TurnEnd(), APPROVAL) == []


def test_a_key_press_counts_as_focus(away: NotifierHarness):
    away.notifier.record_key()
    assert away.send(TurnEnd()) == []


def test_a_permission_request_and_a_question_notify_once_each(away: NotifierHarness):
    [notification] = away.send(TurnBegin("x"), APPROVAL)
    assert "Allow Bash to run a command? rm -rf build" in notification
    assert away.send() == []
    [notification] = away.send(QuestionRequest("q", "c", (Question("Which one?", "one", ()),)))
    assert "Which one?" in notification


def test_simultaneous_requests_are_one_notification(away: NotifierHarness):
    [notification] = away.send(TurnBegin("x"), APPROVAL, ANOTHER)
    assert "Bash" in notification
    assert "1 more" in notification


def test_a_turn_followed_by_a_queued_prompt_does_not_notify(away: NotifierHarness):
    away.state = replace(away.state, queue=("next",), turn=RunningTurn(started_at=0))
    assert away.send(TurnEnd()) == []


def test_an_interrupted_turn_does_not_notify(away: NotifierHarness):
    assert away.send(TurnEnd("cancelled")) == []


def test_a_failed_turn_reports_the_error(away: NotifierHarness):
    [notification] = away.send(TurnEnd("failed", failure=TurnFailure("The key is refused.")))
    assert "The key is refused." in notification


def test_a_finished_background_task_notifies(away: NotifierHarness):
    def build_notice(category: str) -> Notification:
        return Notification("n", category, "ended", "task", "t", "The server ended", "", "info")

    assert len(away.send(build_notice("task"))) == 1
    assert away.send(build_notice("session")) == []


def test_a_replay_does_not_notify(away: NotifierHarness):
    away.state = replace(away.state, is_replaying=True)
    assert away.send(TurnBegin("x"), TurnEnd()) == []


def test_a_terminal_without_focus_reports_rings_after_a_minute_without_a_key():
    harness = NotifierHarness("bell")
    harness.clock.now += 59
    assert harness.send(TurnEnd()) == []
    harness.clock.now += 1
    assert harness.send(TurnEnd()) == ["\a"]
    assert NotifierHarness("osc9").send(TurnEnd()) == []


@pytest.mark.parametrize("method", ["osc9", "osc777", "osc99"])
def test_a_notification_is_sanitized_and_short(method: NotifyMethod):
    sent = build_notification(
        method, "a\x1b]0;evil\x07;b\n", "\x1b[2Jc\x9b1m\u202e" + "x" * 1_000, in_tmux=False
    )
    ends = sent.count("\x1b\\")
    assert sent.count("\x1b") == 2 * ends
    assert not {"\n", "\x07", "\x9b", "\u202e"} & set(sent)
    assert len(sent) < 300


def test_a_semicolon_does_not_end_the_title():
    assert build_notification("osc777", "a;b", "c;d", in_tmux=False) == "\x1b]777;notify;a,b;c;d\x1b\\"


def test_sequences_are_wrapped_for_tmux():
    assert build_notification("osc9", "a", "b", in_tmux=True) == "\x1bPtmux;\x1b\x1b]9;a: b\x1b\x1b\\\x1b\\"
    assert build_notification("bell", "a", "b", in_tmux=True) == "\a"
    assert build_notification("off", "a", "b", in_tmux=True) == ""


@pytest.mark.parametrize(
    ("setting", "environment", "method"),
    [
        ("auto", {"TERM_PROGRAM": "iTerm.app", "TERM": "xterm-256color"}, "osc9"),
        ("auto", {"TERM_PROGRAM": "WezTerm"}, "osc9"),
        ("auto", {"TERM": "xterm-kitty"}, "osc99"),
        ("auto", {"TERM": "xterm-ghostty", "TERM_PROGRAM": "ghostty"}, "osc777"),
        ("auto", {"TERM": "foot"}, "osc777"),
        ("auto", {"TERM": "rxvt-unicode-256color"}, "osc777"),
        ("auto", {"TERM": "xterm-256color", "TERM_PROGRAM": "Apple_Terminal"}, "bell"),
        ("auto", {"TERM": "tmux-256color", "TERM_PROGRAM": "tmux", "TMUX": "/tmp/x"}, "bell"),
        ("auto", {"TERM": "xterm-kitty", "TMUX": "/tmp/x"}, "bell"),
        ("auto", {}, "bell"),
        ("osc99", {"TERM": "linux"}, "osc99"),
        ("off", {"TERM": "xterm-kitty"}, "off"),
    ],
)
def test_the_method_depends_on_the_terminal_unless_configured(
    setting: NotifyMode, environment: Mapping[str, str], method: NotifyMethod
):
    assert detect_method(setting, environment) == method
