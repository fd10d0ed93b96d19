"""What the screen knows, folded from events."""

from dataclasses import replace

import pytest

from kimi_tui.base.content import TextPart, ThinkPart
from kimi_tui.base.message import FunctionCall, ToolCall, ToolCallPart
from kimi_tui.base.usage import TokenUsage
from kimi_tui.tui.state import ScreenState, apply, closed
from kimi_tui.tui.tool_runs import KEPT
from kimi_tui.wire.channel import Outgoing
from kimi_tui.wire.display import TodoItem
from kimi_tui.wire.events import (
    CompactionBegin,
    CompactionEnd,
    CostUpdate,
    HookTriggered,
    ReplayBegin,
    ReplayEnd,
    RequestClosed,
    SnapshotProgress,
    StatusUpdate,
    StepBegin,
    StepRetry,
    TodoUpdate,
    ToolResult,
    ToolReturn,
    TurnBegin,
    TurnEnd,
)
from kimi_tui.wire.requests import ApprovalRequest
from tests.tui.conftest import SESSION


def after(*messages: Outgoing, state: ScreenState | None = None, now: float = 100.0) -> ScreenState:
    state = state or ScreenState()
    for message in messages:
        state = apply(state, message, now=now)
    return state


def call(call_id: str = "c1", name: str = "Bash", arguments: str | None = None) -> ToolCall:
    return ToolCall(call_id, FunctionCall(name, arguments))


def request(request_id: str = "r1", call_id: str = "c1") -> ApprovalRequest:
    return ApprovalRequest(
        id=request_id, tool_call_id=call_id, sender="Bash", action="run command", description="ls"
    )


def test_a_turn_is_busy_from_its_begin_to_its_end() -> None:
    running = after(TurnBegin("hello"))
    assert running.busy
    assert not after(TurnEnd(), state=running).busy


def test_a_sent_prompt_keeps_the_next_one_waiting_until_its_turn_begins() -> None:
    sent = ScreenState(sent=1)
    assert sent.busy
    assert after(TurnBegin("hello"), state=sent).sent == 0


@pytest.mark.parametrize(
    ("message", "activity"),
    [
        (ThinkPart("hm"), "thinking"),
        (TextPart("well"), "answering"),
        (call(name="Bash"), "calling Bash"),
        (StepBegin(2), "waiting for the model"),
        (StepRetry(1, 2, 3, 0.3, "APITimeoutError"), "trying again (2 of 3)"),
        (CompactionBegin(), "compacting the conversation"),
        (HookTriggered("PreToolUse", "Bash", 1), "running a hook (PreToolUse)"),
        (HookTriggered("Notification", "notice", 1), "waiting for the model"),
    ],
)
def test_the_activity_says_what_the_agent_does(message: Outgoing, activity: str) -> None:
    turn = after(TurnBegin("hello"), StepBegin(1), message).turn
    assert turn is not None
    assert turn.activity == activity


def test_the_name_of_a_tool_cannot_drive_the_terminal() -> None:
    turn = after(TurnBegin("x"), call(name="Ba\x1b]0;evil\x07sh")).turn
    assert turn is not None
    assert turn.activity == "calling Bash"


def test_a_call_has_its_arguments_status_and_duration() -> None:
    state = after(TurnBegin("x"), call(arguments='{"comm'), ToolCallPart('and": "ls"}', "c1"), now=10.0)
    state = after(ToolResult("c1", ToolReturn()), state=state, now=12.5)
    (run,) = state.runs.all
    assert (run.arguments, run.status, run.seconds) == ('{"command": "ls"}', "done", 2.5)


def test_a_failed_call_is_marked_so() -> None:
    state = after(TurnBegin("x"), call(), ToolResult("c1", ToolReturn(is_error=True)))
    assert state.runs.all[0].status == "failed"


def test_the_time_an_approval_waited_does_not_count_as_the_tools() -> None:
    state = after(TurnBegin("x"), call(), request(), now=10.0)
    state = closed(state, "r1", now=60.0)
    state = after(ToolResult("c1", ToolReturn()), state=state, now=61.0)
    assert state.runs.all[0].seconds == 1.0


def test_a_retry_drops_the_calls_that_the_failed_attempt_streamed() -> None:
    state = after(TurnBegin("x"), call("old"), ToolResult("old", ToolReturn()), StepBegin(2), call("new"))
    assert [run.id for run in after(StepRetry(2, 2, 3, 0.1, "x"), state=state).runs.all] == ["old"]


def test_calls_that_never_ended_are_stopped_with_the_turn() -> None:
    state = after(TurnBegin("x"), call(), TurnEnd("cancelled"))
    assert state.runs.all[0].status == "stopped"
    assert state.last_outcome == "cancelled"


def test_only_the_latest_calls_are_kept() -> None:
    state = after(*(call(f"c{number}") for number in range(KEPT + 5)))
    assert len(state.runs.all) == KEPT
    assert state.runs.all[-1].id == f"c{KEPT + 4}"


def test_requests_queue_up_and_leave_when_closed() -> None:
    state = after(TurnBegin("x"), request("r1"), request("r2", "c2"))
    assert [one.id for one in state.requests] == ["r1", "r2"]
    assert [one.id for one in after(RequestClosed("r1"), state=state).requests] == ["r2"]


def test_what_is_asked_together_is_asked_in_the_order_of_the_calls() -> None:
    calls = after(TurnBegin("x"), call("c1"), call("c2"), call("c3"))
    state = after(request("r3", "c3"), request("r1", "c1"), request("r2", "c2"), state=calls)
    assert [one.id for one in state.requests] == ["r1", "r2", "r3"]


def test_what_is_being_answered_stays_when_an_earlier_call_asks_late() -> None:
    calls = after(TurnBegin("x"), call("c1"), call("c2"), call("c3"), now=0.0)
    state = after(request("r2", "c2"), request("r3", "c3"), state=calls, now=1.0)
    state = after(request("r1", "c1"), state=state, now=9.0)
    assert [one.id for one in state.requests] == ["r2", "r1", "r3"]


def test_a_replayed_request_is_not_asked_again() -> None:
    state = after(SESSION, ReplayBegin(), TurnBegin("x"), request(), ReplayEnd())
    assert state.requests == ()
    assert not state.busy


def test_the_status_keeps_what_an_update_leaves_out() -> None:
    state = after(StatusUpdate(context_tokens=50, max_context_tokens=200, session_usage=TokenUsage(1, 2)))
    state = after(StatusUpdate(context_tokens=100), state=state)
    assert state.context_share == 0.5
    assert state.usage == TokenUsage(1, 2)


def test_a_share_of_the_context_alone_gives_its_tokens() -> None:
    state = after(StatusUpdate(context_usage=0.25, max_context_tokens=1000))
    assert state.context_tokens == 250


def test_todo_cost_and_compaction_are_followed() -> None:
    item = TodoItem("write", "in_progress")
    state = after(TodoUpdate((item,)), CostUpdate(0.2), CompactionBegin())
    assert (state.todo, state.cost_usd, state.compacting) == ((item,), 0.2, True)
    assert not after(CompactionEnd(), state=state).compacting


def test_a_scan_shows_until_it_is_done() -> None:
    assert after(SnapshotProgress(5, 10)).scan == SnapshotProgress(5, 10)
    assert after(SnapshotProgress(5, 10), SnapshotProgress(10, 10)).scan is None


def test_another_session_starts_from_nothing() -> None:
    state = after(SESSION, TodoUpdate((TodoItem("old"),)), CostUpdate(3.0))
    fresh = after(replace(SESSION, session_id="s2"), state=state)
    assert (fresh.todo, fresh.cost_usd) == ((), None)
