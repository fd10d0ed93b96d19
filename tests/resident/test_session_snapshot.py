"""The snapshot of a session: a new client gets what lasts, and no more than it needs."""

from kimi_tui.base.content_parts import TextPart, ThinkPart
from kimi_tui.base.message import FunctionCall, ToolCall
from kimi_tui.resident.session_snapshot import SessionSnapshot
from kimi_tui.wire.background import BackgroundTask, TasksUpdate
from kimi_tui.wire.channel import Outgoing
from kimi_tui.wire.events import (
    ApprovalResponse,
    CostUpdate,
    MCPLoadingBegin,
    MCPLoadingEnd,
    ReplayBegin,
    ReplayEnd,
    RequestClosed,
    Reverted,
    SessionList,
    StatusUpdate,
    StepBegin,
    ToolOutput,
    ToolResult,
    ToolReturn,
    TurnBegin,
    TurnEnd,
)
from kimi_tui.wire.requests import ApprovalRequest
from kimi_tui.wire.timeline import Timeline
from kimi_tui.wire.user_shell import ShellCommandBegin, ShellCommandEnd
from tests.resident.conftest import session_info

CALL = ToolCall("c-1", FunctionCall("Bash", '{"command": "ls"}'))
REQUEST = ApprovalRequest("r-1", "c-1", "Bash", "run command", "ls")


def snapshot_after(*messages: Outgoing) -> SessionSnapshot:
    snapshot = SessionSnapshot()
    for message in (session_info(), *messages):
        snapshot.add(message)
    return snapshot


def conversation(*messages: Outgoing) -> list[Outgoing]:
    """Return the messages for a new client, without the information about the session."""
    return snapshot_after(*messages).messages()[1:]


def test_before_the_session_is_open_there_is_nothing_to_send() -> None:
    assert SessionSnapshot().messages() == []


def test_turns_that_have_ended_are_replayed_without_live_output_and_requests() -> None:
    result = ToolResult("c-1", ToolReturn(output="a.py"))
    assert conversation(
        TurnBegin("hi"),
        CALL,
        REQUEST,
        ApprovalResponse("r-1", "approve"),
        ToolOutput("c-1", "a"),
        result,
        TurnEnd(),
    ) == [ReplayBegin(anew=True), TurnBegin("hi"), CALL, result, TurnEnd(), ReplayEnd()]


def test_fragments_are_merged() -> None:
    messages = conversation(TurnBegin("hi"), ThinkPart("a"), ThinkPart("b"), TextPart("c"), TextPart("d"))
    assert messages[-2:] == [ThinkPart("ab"), TextPart("cd")]


def test_the_running_turn_follows_the_replay_with_its_open_request() -> None:
    assert conversation(TurnBegin("hi"), CALL, REQUEST) == [
        ReplayBegin(anew=True), ReplayEnd(), TurnBegin("hi"), CALL, REQUEST,
    ]  # fmt: skip


def test_a_closed_request_is_left_out() -> None:
    assert REQUEST not in conversation(TurnBegin("hi"), CALL, REQUEST, RequestClosed("r-1"))


def test_a_request_of_a_background_agent_outlives_the_turn() -> None:
    request = ApprovalRequest("r-2", "c-2", "Bash", "run command", "ls", source_kind="background_agent")
    assert conversation(TurnBegin("hi"), request, TurnEnd())[-1] == request
    assert REQUEST not in conversation(TurnBegin("hi"), REQUEST, TurnEnd())


def test_a_replay_that_replaces_the_conversation_replaces_it_for_later_clients() -> None:
    reverted = Reverted(0, 1, "user")
    messages = conversation(
        TurnBegin("old"),
        TurnEnd(),
        ReplayBegin(anew=True),
        TurnBegin("new"),
        TurnEnd(),
        ReplayEnd(),
        reverted,
    )
    assert messages == [ReplayBegin(anew=True), TurnBegin("new"), TurnEnd(), reverted, ReplayEnd()]


def test_only_the_latest_state_is_sent() -> None:
    messages = conversation(
        StatusUpdate(context_usage=0.1, message_id="m"),
        StatusUpdate(plan_mode=True),
        CostUpdate(0.1),
        CostUpdate(0.2),
        MCPLoadingBegin(),
        MCPLoadingEnd(),
    )
    assert messages[2:] == [StatusUpdate(context_usage=0.1, plan_mode=True), CostUpdate(0.2)]


def test_replies_to_commands_are_left_out() -> None:
    assert conversation(SessionList(()), Timeline())[2:] == []


def test_a_session_is_working_while_anything_runs() -> None:
    running = BackgroundTask("t", "bash", "sleep")
    assert not snapshot_after().is_working
    assert snapshot_after(TurnBegin("hi")).is_working
    assert not snapshot_after(TurnBegin("hi"), TurnEnd()).is_working
    assert snapshot_after(TasksUpdate((running,))).is_working
    assert snapshot_after(ShellCommandBegin("s", "ls", "/work", False)).is_working
    assert not snapshot_after(
        ShellCommandBegin("s", "ls", "/work", False), ShellCommandEnd("s", 0, "", "/work", False)
    ).is_working


def test_a_long_response_takes_no_more_room_than_its_text() -> None:
    snapshot = snapshot_after(TurnBegin("hi"), StepBegin(1), *(TextPart("x") for _ in range(20_000)))
    assert len(snapshot._turn) < 11_000
    assert snapshot.messages()[-1] == TextPart("x" * 20_000)


def test_the_last_line_is_that_of_the_response_or_the_prompt() -> None:
    assert snapshot_after(TurnBegin("fix\nit")).last_line == "it"
    assert snapshot_after(TurnBegin("hi"), TextPart("one\nt"), TextPart("wo\n"), TurnEnd()).last_line == "two"
    assert snapshot_after().last_line == ""
