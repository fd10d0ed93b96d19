"""Which sessions are reported."""

from dataclasses import replace

from kimi_tui.frontend.session_alerts import SessionAlerts
from kimi_tui.wire.requests import ApprovalRequest
from kimi_tui.wire.running_session import RunningSession, encode_request

WORKING = RunningSession(id="a", title="", work_dir="/w", state="working")
REQUEST = ApprovalRequest("r1", "c1", "Bash", "run command", "ls")


def asking(request_id: str) -> RunningSession:
    request = encode_request(replace(REQUEST, id=request_id))
    return replace(WORKING, state="awaiting approval", requests=(request,))


def reported(*lists: RunningSession, current_id: str | None = None) -> list[str]:
    alerts = SessionAlerts()
    return [session.state for one in lists for session in alerts.update([one], current_id=current_id)]


def test_each_request_and_end_is_reported_once() -> None:
    done = replace(WORKING, state="done")
    assert reported(WORKING, asking("r1"), asking("r1"), asking("r2"), WORKING, done, done) == [
        "awaiting approval",
        "awaiting approval",
        "done",
    ]


def test_an_interrupted_turn_is_not_reported() -> None:
    assert reported(WORKING, replace(WORKING, state="interrupted")) == []


def test_what_is_known_at_first_or_on_a_screen_is_not_reported() -> None:
    assert reported(asking("r1"), asking("r1")) == []
    assert reported(WORKING, replace(asking("r1"), clients=1), asking("r1")) == []
    assert reported(WORKING, asking("r1"), current_id="a") == []


def test_a_new_session_is_reported_when_it_asks() -> None:
    alerts = SessionAlerts()
    assert alerts.update([], current_id=None) == []
    assert alerts.update([WORKING], current_id=None) == []
    assert alerts.update([asking("r1")], current_id=None) == [asking("r1")]
