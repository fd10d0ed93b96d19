"""Tests that clients of Wire 1.10 get only its messages and fields."""

from dataclasses import fields
from typing import Any, get_args

import pytest

from kimi_tui.wire.events import Event
from kimi_tui.wire.requests import Request
from kimi_tui.wireserver.event_filter import filter_for_client

PARTS = {"TextPart", "ThinkPart", "ImageURLPart", "AudioURLPart", "VideoURLPart"}
WIRE_1_10 = {
    "TurnBegin": "user_input",
    "SteerInput": "user_input",
    "TurnEnd": "",
    "StepInterrupted": "",
    "CompactionBegin": "",
    "CompactionEnd": "",
    "MCPLoadingBegin": "",
    "MCPLoadingEnd": "",
    "StepBegin": "n",
    "StepRetry": "n next_attempt max_attempts wait_s error_type status_code",
    "ToolCall": "type id function extras",
    "ToolCallPart": "arguments_part",
    "ToolResult": "tool_call_id return_value",
    "ApprovalResponse": "request_id response feedback",
    "SubagentEvent": "parent_tool_call_id agent_id subagent_type event",
    "StatusUpdate": "context_usage context_tokens max_context_tokens token_usage message_id plan_mode"
    " mcp_status",
    "PlanDisplay": "content file_path",
    "HookTriggered": "event target hook_count",
    "HookResolved": "event target action reason duration_ms",
    "Notification": "id category type source_kind source_id title body severity created_at payload",
    "BtwBegin": "id question",
    "BtwEnd": "id response error",
    "ApprovalRequest": "id tool_call_id sender action description display source_kind source_id agent_id"
    " subagent_type source_description",
    "QuestionRequest": "id tool_call_id questions",
    "ToolCallRequest": "id name arguments",
    "HookRequest": "id subscription_id event target input_data",
}


@pytest.mark.parametrize("kind", [*get_args(Event), *get_args(Request)], ids=lambda kind: kind.__name__)
def test_a_wire_1_10_client_gets_only_known_messages_and_fields(kind: type[Any]) -> None:
    if kind.__name__ in PARTS:
        return
    filtered = filter_for_client(
        {"type": kind.__name__, "payload": {field.name: "x" for field in fields(kind)}}
    )
    if kind.__name__ not in WIRE_1_10:
        assert filtered is None
        return
    assert filtered is not None
    assert set(filtered["payload"]) == set(WIRE_1_10[kind.__name__].split())


def test_a_client_that_supports_effects_gets_them_and_nothing_else() -> None:
    payload = {"id": "r", "effects": {"exit_code": 0}, "reason": None, "rule": "Edit(a)", "proposal": {}}
    message = {"type": "ApprovalRequest", "payload": payload}
    plain, extended = filter_for_client(message), filter_for_client(message, keeps_effects=True)
    assert plain is not None
    assert extended is not None
    assert plain["payload"] == {"id": "r"}
    assert extended["payload"] == {key: value for key, value in payload.items() if key != "proposal"}
