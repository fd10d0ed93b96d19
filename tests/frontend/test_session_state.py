"""Session state, reduced from events."""

import json
from dataclasses import replace

import pytest

from kimi_tui.base.content_parts import TextPart, ThinkPart
from kimi_tui.base.message import FunctionCall, ToolCall, ToolCallPart
from kimi_tui.base.token_usage import TokenUsage
from kimi_tui.frontend.message_batch import SessionMessage
from kimi_tui.frontend.session_state import SessionViewState, reduce, without_request
from kimi_tui.frontend.tool_runs import MAX_RUNS
from kimi_tui.wire.display_blocks import TodoItem
from kimi_tui.wire.events import (
    ApprovalResponse,
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


def reduce_messages(
    *messages: SessionMessage, state: SessionViewState | None = None, now: float = 100.0
) -> SessionViewState:
    state = state or SessionViewState()
    for message in messages:
        state = reduce(state, message, now=now)
    return state


def call(call_id: str = "c1", name: str = "Bash", arguments: str | None = None) -> ToolCall:
    return ToolCall(call_id, FunctionCall(name, arguments))


def request(request_id: str = "r1", call_id: str = "c1") -> ApprovalRequest:
    return ApprovalRequest(
        id=request_id, tool_call_id=call_id, sender="Bash", action="run command", description="ls"
    )


def test_the_state_is_busy_while_a_turn_runs() -> None:
    running = reduce_messages(TurnBegin("hello"))
    assert running.is_busy
    assert not reduce_messages(TurnEnd(), state=running).is_busy


def test_a_sent_prompt_makes_the_state_busy_until_its_turn_begins() -> None:
    sent = SessionViewState(sent_count=1)
    assert sent.is_busy
    assert reduce_messages(TurnBegin("hello"), state=sent).sent_count == 0


@pytest.mark.parametrize(
    ("message", "activity"),
    [
        (ThinkPart("hm"), "thinking"),
        (TextPart("well"), "responding"),
        (call(name="Bash"), "calling Bash"),
        (StepBegin(2), "waiting for the model"),
        (StepRetry(1, 2, 3, 0.3, "APITimeoutError"), "retrying (2 of 3)"),
        (CompactionBegin(), "compacting the conversation"),
        (HookTriggered("PreToolUse", "Bash", 1), "running a hook (PreToolUse)"),
        (HookTriggered("Notification", "notice", 1), "waiting for the model"),
    ],
)
def test_the_activity_describes_what_the_agent_is_doing(message: SessionMessage, activity: str) -> None:
    turn = reduce_messages(TurnBegin("hello"), StepBegin(1), message).turn
    assert turn is not None
    assert turn.activity == activity


def test_control_characters_in_a_tool_name_are_removed() -> None:
    turn = reduce_messages(TurnBegin("x"), call(name="Ba\x1b]0;evil\x07sh")).turn
    assert turn is not None
    assert turn.activity == "calling Bash"


def test_a_tool_run_has_arguments_status_and_duration() -> None:
    state = reduce_messages(
        TurnBegin("x"), call(arguments='{"comm'), ToolCallPart('and": "ls"}', "c1"), now=10.0
    )
    state = reduce_messages(ToolResult("c1", ToolReturn()), state=state, now=12.5)
    (run,) = state.tool_runs.calls
    assert (run.arguments, run.status, run.duration_s) == ('{"command": "ls"}', "done", 2.5)


def test_a_failed_call_is_marked_as_failed() -> None:
    state = reduce_messages(TurnBegin("x"), call(), ToolResult("c1", ToolReturn(is_error=True)))
    assert state.tool_runs.calls[0].status == "failed"


def test_a_call_that_ended_before_it_began_is_not_marked_as_failed() -> None:
    result = ToolReturn(is_error=True, extras={"not_run": True})
    state = reduce_messages(TurnBegin("x"), call(), ToolResult("c1", result))
    assert state.tool_runs.calls[0].status == "stopped"


def test_a_call_has_the_command_that_the_user_edited() -> None:
    edited = ApprovalResponse("r1", "approve", edited="ls -la")
    state = reduce_messages(TurnBegin("x"), call(arguments='{"command": "ls"}'), request(), edited)
    assert json.loads(state.tool_runs.calls[0].arguments)["command"] == "ls -la"


def test_time_spent_awaiting_approval_does_not_count_as_duration() -> None:
    state = reduce_messages(TurnBegin("x"), call(), request(), now=10.0)
    state = without_request(state, ApprovalResponse("r1", "approve"), now=60.0)
    state = reduce_messages(ToolResult("c1", ToolReturn()), state=state, now=61.0)
    assert state.tool_runs.calls[0].duration_s == 1.0


def test_a_retry_drops_the_calls_that_the_failed_attempt_streamed() -> None:
    state = reduce_messages(
        TurnBegin("x"), call("old"), ToolResult("old", ToolReturn()), StepBegin(2), call("new")
    )
    assert [run.id for run in reduce_messages(StepRetry(2, 2, 3, 0.1, "x"), state=state).tool_runs.calls] == [
        "old"
    ]


def test_unfinished_calls_are_stopped_with_the_turn() -> None:
    state = reduce_messages(TurnBegin("x"), call(), TurnEnd("cancelled"))
    assert state.tool_runs.calls[0].status == "stopped"
    assert state.last_outcome == "cancelled"


def test_only_the_latest_calls_are_kept() -> None:
    state = reduce_messages(*(call(f"c{number}") for number in range(MAX_RUNS + 5)))
    assert len(state.tool_runs.calls) == MAX_RUNS
    assert state.tool_runs.calls[-1].id == f"c{MAX_RUNS + 4}"


def test_requests_queue_up_until_they_are_closed() -> None:
    state = reduce_messages(TurnBegin("x"), request("r1"), request("r2", "c2"))
    assert [request.id for request in state.requests] == ["r1", "r2"]
    assert [request.id for request in reduce_messages(RequestClosed("r1"), state=state).requests] == ["r2"]


def test_simultaneous_requests_are_sorted_by_call() -> None:
    calls = reduce_messages(TurnBegin("x"), call("c1"), call("c2"), call("c3"))
    state = reduce_messages(request("r3", "c3"), request("r1", "c1"), request("r2", "c2"), state=calls)
    assert [request.id for request in state.requests] == ["r1", "r2", "r3"]


def test_the_first_request_stays_first_when_an_earlier_call_asks_late() -> None:
    calls = reduce_messages(TurnBegin("x"), call("c1"), call("c2"), call("c3"), now=0.0)
    state = reduce_messages(request("r2", "c2"), request("r3", "c3"), state=calls, now=1.0)
    state = reduce_messages(request("r1", "c1"), state=state, now=1.1)
    assert [request.id for request in state.requests] == ["r2", "r1", "r3"]


def test_a_replayed_request_is_not_opened() -> None:
    state = reduce_messages(SESSION, ReplayBegin(), TurnBegin("x"), request(), ReplayEnd())
    assert state.requests == ()
    assert not state.is_busy


def test_status_updates_keep_omitted_fields() -> None:
    state = reduce_messages(
        StatusUpdate(context_tokens=50, max_context_tokens=200, session_usage=TokenUsage(1, 2))
    )
    state = reduce_messages(StatusUpdate(context_tokens=100), state=state)
    assert state.context_share == 0.5
    assert state.usage == TokenUsage(1, 2)


def test_context_tokens_are_computed_from_the_usage_share() -> None:
    state = reduce_messages(StatusUpdate(context_usage=0.25, max_context_tokens=1000))
    assert state.context_tokens == 250


def test_todo_cost_and_compaction_are_tracked() -> None:
    item = TodoItem("write", "in_progress")
    state = reduce_messages(TodoUpdate((item,)), CostUpdate(0.2), CompactionBegin())
    assert (state.todo, state.cost_usd, state.is_compacting) == ((item,), 0.2, True)
    assert not reduce_messages(CompactionEnd(), state=state).is_compacting


def test_scan_progress_is_cleared_when_it_completes() -> None:
    assert reduce_messages(SnapshotProgress(5, 10)).snapshot_progress == SnapshotProgress(5, 10)
    assert reduce_messages(SnapshotProgress(5, 10), SnapshotProgress(10, 10)).snapshot_progress is None


def test_another_session_starts_with_an_empty_state() -> None:
    state = reduce_messages(SESSION, TodoUpdate((TodoItem("old"),)), CostUpdate(3.0))
    fresh = reduce_messages(replace(SESSION, session_id="s2"), state=state)
    assert (fresh.todo, fresh.cost_usd) == ((), None)
