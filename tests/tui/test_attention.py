"""Calling the user back when they look elsewhere."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from kimi_tui.config.appearance import Notify
from kimi_tui.tui.attention import Attention, Way, call, way_for
from kimi_tui.tui.state import ScreenState, Turn, apply
from kimi_tui.wire.channel import Outgoing
from kimi_tui.wire.events import Notification, TurnBegin, TurnEnd, TurnFailure
from kimi_tui.wire.requests import ApprovalRequest, Question, QuestionRequest
from tests.tui.conftest import SESSION, FakeClock

APPROVAL = ApprovalRequest("r1", "c1", "Bash", "run command", "rm -rf build")
ANOTHER = ApprovalRequest("r2", "c2", "EditFile", "edit file", "a.py")


class Ears:
    """What the terminal was sent, and a session that things happen in."""

    def __init__(self, way: Way = "osc9") -> None:
        self.clock = FakeClock()
        self.heard: list[str] = []
        self.state = ScreenState(session=SESSION)
        self.attention = Attention(way=way, send=self.heard.append, clock=self.clock, in_tmux=False)

    def happens(self, *messages: Outgoing) -> list[str]:
        """What is sent for it."""
        before = len(self.heard)
        for message in messages:
            self.state = apply(self.state, message, now=0)
        self.attention.follow(self.state, messages)
        return self.heard[before:]


@pytest.fixture
def away() -> Ears:
    ears = Ears()
    ears.attention.focused(False)
    return ears


def test_the_end_of_a_turn_calls_who_looks_elsewhere(away: Ears):
    assert away.happens(TurnBegin("x")) == []
    assert away.happens(TurnEnd()) == ["\x1b]9;kimi-tui, fix login: The turn is done.\x1b\\"]


def test_who_looks_is_not_called(away: Ears):
    away.attention.focused(True)
    assert away.happens(TurnBegin("x"), TurnEnd(), APPROVAL) == []


def test_who_types_looks(away: Ears):
    away.attention.typed()
    assert away.happens(TurnEnd()) == []


def test_an_approval_and_a_question_call_once_each(away: Ears):
    [word] = away.happens(TurnBegin("x"), APPROVAL)
    assert "May Bash run command? rm -rf build" in word
    assert away.happens() == []
    [word] = away.happens(QuestionRequest("q", "c", (Question("Which one?", "one", ()),)))
    assert "Which one?" in word


def test_several_approvals_at_once_are_one_call(away: Ears):
    [word] = away.happens(TurnBegin("x"), APPROVAL, ANOTHER)
    assert "Bash" in word
    assert "1 more" in word


def test_an_end_that_is_followed_by_the_next_prompt_does_not_call(away: Ears):
    away.state = replace(away.state, queue=("next",), turn=Turn(started=0))
    assert away.happens(TurnEnd()) == []


def test_what_the_user_has_stopped_does_not_call(away: Ears):
    assert away.happens(TurnEnd("cancelled")) == []


def test_a_failure_says_what_failed(away: Ears):
    [word] = away.happens(TurnEnd("failed", failure=TurnFailure("The key is refused.")))
    assert "The key is refused." in word


def test_a_background_task_that_has_ended_calls(away: Ears):
    def said(category: str) -> Notification:
        return Notification("n", category, "ended", "task", "t", "The server ended", "", "info")

    assert len(away.happens(said("task"))) == 1
    assert away.happens(said("session")) == []


def test_history_does_not_call(away: Ears):
    away.state = replace(away.state, replaying=True)
    assert away.happens(TurnBegin("x"), TurnEnd()) == []


def test_a_terminal_that_never_says_whether_it_is_looked_at_rings_after_a_minute_without_a_key():
    ears = Ears("bell")
    ears.clock.now += 59
    assert ears.happens(TurnEnd()) == []
    ears.clock.now += 1
    assert ears.happens(TurnEnd()) == ["\a"]
    assert Ears("osc9").happens(TurnEnd()) == []


@pytest.mark.parametrize("way", ["osc9", "osc777", "osc99"])
def test_a_call_carries_no_escape_of_others_and_is_short(way: Way):
    sent = call(way, "a\x1b]0;evil\x07;b\n", "\x1b[2Jc\x9b1m\u202e" + "x" * 1_000, in_tmux=False)
    ends = sent.count("\x1b\\")
    assert sent.count("\x1b") == 2 * ends
    assert not {"\n", "\x07", "\x9b", "\u202e"} & set(sent)
    assert len(sent) < 300


def test_a_title_does_not_end_early():
    assert call("osc777", "a;b", "c;d", in_tmux=False) == "\x1b]777;notify;a,b;c;d\x1b\\"


def test_tmux_is_asked_to_pass_it_on():
    assert call("osc9", "a", "b", in_tmux=True) == "\x1bPtmux;\x1b\x1b]9;a: b\x1b\x1b\\\x1b\\"
    assert call("bell", "a", "b", in_tmux=True) == "\a"
    assert call("off", "a", "b", in_tmux=True) == ""


@pytest.mark.parametrize(
    ("wish", "environment", "way"),
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
def test_the_way_is_that_of_the_terminal_unless_one_is_wished(
    wish: Notify, environment: Mapping[str, str], way: Way
):
    assert way_for(wish, environment) == way
