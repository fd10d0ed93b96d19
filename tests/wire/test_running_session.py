"""Facts about running sessions."""

from kimi_tui.base.message_text import MessageText, msg
from kimi_tui.wire.requests import ApprovalRequest
from kimi_tui.wire.running_session import RunningSession, cost_on, encode_request


def test_the_cost_of_today_is_that_of_the_last_day_only_on_that_day() -> None:
    assert cost_on("2026-01-02", day="2026-01-02", day_cost_usd=0.5, cost_usd=3.0) == 0.5
    assert cost_on("2026-01-03", day="2026-01-02", day_cost_usd=0.5, cost_usd=3.0) == 0.0
    assert cost_on("2026-01-03", day="", day_cost_usd=0.0, cost_usd=None) is None


def test_requests_keep_their_translatable_texts_and_unknown_ones_are_left_out() -> None:
    request = ApprovalRequest("r", "c", "Bash", msg("run {what}", what="x"), "run x")
    session = RunningSession(
        id="s", title="", work_dir="", state="idle", requests=(encode_request(request), {"type": "Later"})
    )
    (restored,) = session.open_requests
    assert restored == request
    assert isinstance(restored, ApprovalRequest)
    assert isinstance(restored.action, MessageText)
