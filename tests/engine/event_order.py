"""Checks of the order of engine events, as documented in `wire/events.py`."""

from collections.abc import Iterable
from typing import Any

from kimi_tui.base.content_parts import TextPart, ThinkPart
from kimi_tui.base.message import ToolCall, ToolCallPart
from kimi_tui.wire.events import (
    ApprovalResponse,
    ReplayBegin,
    ReplayEnd,
    RequestClosed,
    StepBegin,
    StepInterrupted,
    StepRetry,
    ToolOutput,
    ToolResult,
    TurnBegin,
    TurnEnd,
)
from kimi_tui.wire.requests import ApprovalRequest
from kimi_tui.wire.user_shell import ShellCommandBegin, ShellCommandEnd


class EventOrderChecker:
    """Checks events one by one and fails if one is out of order."""

    def __init__(self) -> None:
        self.in_turn = False
        self.step = 0
        self.open_calls: set[str] = set()
        self.ended_calls: set[str] = set()
        self.is_streaming = False
        self.requests: set[str] = set()
        self.background: set[str] = set()
        """Requests from background tasks, which may outlast a turn."""
        self.shells: set[str] = set()

    def check(self, event: Any) -> None:
        match event:
            case TurnBegin():
                assert not self.in_turn, "a turn began within a turn"
                self.in_turn, self.step = True, 0
            case TurnEnd():
                assert self.in_turn, "a turn ended twice"
                assert not self.open_calls, f"calls without a result: {self.open_calls}"
                assert not self.requests, "a request is open after its turn"
                self.in_turn = False
            case StepBegin(n=n):
                assert self.in_turn
                assert n == self.step + 1, f"step {n} came after step {self.step}"
                assert not self.open_calls, f"calls without a result: {self.open_calls}"
                self.step, self.is_streaming = n, True
                self.ended_calls = set()
            case TextPart() | ThinkPart() | ToolCallPart():
                assert self.is_streaming, "model output outside of a step"
            case ToolCall(id=call_id):
                assert self.is_streaming
                assert call_id not in self.open_calls | self.ended_calls
                self.open_calls.add(call_id)
            case StepRetry() | StepInterrupted():
                self.open_calls = set()
                self.is_streaming = isinstance(event, StepRetry)
            case ToolResult(tool_call_id=call_id):
                assert call_id in self.open_calls, f"result without an open call: {call_id}"
                self.open_calls.remove(call_id)
                self.ended_calls.add(call_id)
                self.is_streaming = False
            case ShellCommandBegin(id=shell_id):
                self.shells.add(shell_id)
            case ShellCommandEnd(id=shell_id):
                assert shell_id in self.shells, "end of a shell command without its begin"
                self.shells.remove(shell_id)
            case ToolOutput(tool_call_id=call_id):
                assert call_id in self.open_calls | self.shells
            case ApprovalRequest(id=request_id, source_kind=source_kind):
                requests = self.background if source_kind == "background_agent" else self.requests
                requests.add(request_id)
            case ApprovalResponse(request_id=request_id) | RequestClosed(request_id=request_id):
                (self.requests if request_id in self.requests else self.background).remove(request_id)


def assert_event_order(events: Iterable[Any]) -> None:
    """Fail unless `events`, all those of an engine, are in the documented order."""
    order = EventOrderChecker()
    replaying = False
    for event in events:
        match event:
            case ReplayBegin():
                assert not replaying
                replaying = True
            case ReplayEnd():
                assert replaying
                assert not order.in_turn
                replaying = False
        order.check(event)
    assert not order.in_turn, "a turn never ended"
    assert not order.background, "a request from a background task is still open"
    assert not replaying
