"""Log of a session's events, with sizes and durations but without their contents."""

import logging
import time

from kimi_tui.base.content_parts import TextPart, UserInput, text_of
from kimi_tui.base.logging import log_event
from kimi_tui.base.message import ToolCall
from kimi_tui.wire.channel import Outgoing, Wire
from kimi_tui.wire.events import (
    ApprovalResponse,
    CompactionBegin,
    CompactionEnd,
    HookResolved,
    MCPLoadingBegin,
    MCPLoadingEnd,
    Notification,
    StepBegin,
    StepInterrupted,
    StepRetry,
    SubagentEvent,
    ToolResult,
    TurnBegin,
    TurnEnd,
)
from kimi_tui.wire.requests import ApprovalRequest, QuestionRequest
from kimi_tui.wire.timeline import CheckpointCreated, Reverted

logger = logging.getLogger(__name__)


class EventLog:
    """Logs the events of a session: turns and failures always, all others at the debug level."""

    def __init__(self, wire: Wire, session_id: str) -> None:
        self._subscription = wire.subscribe(live_only=True, fragments=False)
        self._session_id = session_id
        self._started: dict[str, float] = {}
        """Start times of turns, compactions, calls and requests, by id."""

    async def run(self) -> None:
        """Log events until the Wire closes."""
        while batch := await self._subscription.drain():
            for message in batch:
                self._log(message)

    def _log(self, message: Outgoing) -> None:
        match message:
            case TurnBegin(user_input=user_input):
                self._start("turn")
                self._info("turn_begin", session=self._session_id, prompt_chars=_count_chars(user_input))
            case TurnEnd():
                self._info("turn_end", session=self._session_id, seconds=self._stop("turn"))
            case StepBegin(n=n):
                self._debug("step_begin", n=n)
            case StepInterrupted():
                self._info("step_interrupted")
            case StepRetry(n=n, next_attempt=attempt, error_type=error, status_code=status, wait_s=wait):
                self._info("retry", step=n, attempt=attempt, error=error, status=status, wait_s=wait)
            case ToolCall(id=call_id, function=function):
                self._start(call_id)
                size = len(function.arguments or "")
                self._debug("tool_call", id=call_id, name=function.name, arguments_chars=size)
            case ToolResult(tool_call_id=call_id, return_value=value):
                output = value.output if isinstance(value.output, str) else text_of(value.output)
                self._debug(
                    "tool_result",
                    id=call_id,
                    seconds=self._stop(call_id),
                    is_error=value.is_error,
                    output_chars=len(output),
                )
            case ApprovalRequest(id=request_id, tool_call_id=call_id, sender=tool, action=action):
                self._start(request_id)
                self._debug("approval_request", id=request_id, call=call_id, tool=tool, action=action)
            case ApprovalResponse(request_id=request_id, response=response):
                seconds = self._stop(request_id)
                self._debug("approval_response", id=request_id, response=response, seconds=seconds)
            case QuestionRequest(id=request_id, questions=questions):
                self._debug("question", id=request_id, questions=len(questions))
            case CheckpointCreated(id=number, kind=kind, tokens=tokens):
                self._debug("checkpoint", id=number, kind=kind, tokens=tokens)
            case Reverted(to=to, from_=before, reason=reason, branch=branch, files=files):
                self._info("revert", to=to, before=before, reason=reason, rotated_to=branch, files=len(files))
            case CompactionBegin():
                self._start("compaction")
                self._info("compaction_begin")
            case CompactionEnd():
                self._info("compaction_end", seconds=self._stop("compaction"))
            case MCPLoadingBegin():
                self._start("mcp")
                self._debug("mcp_loading_begin")
            case MCPLoadingEnd():
                self._debug("mcp_loading_end", seconds=self._stop("mcp"))
            case HookResolved(event=trigger, action=action, duration_ms=duration):
                self._debug("hook", trigger=trigger, action=action, seconds=duration / 1000)
            case Notification(type=kind, severity=severity, title=title):
                self._debug("notification", type=kind, severity=severity, title=title)
            case SubagentEvent(event=envelope, agent_id=agent):
                if envelope.type in ("TurnBegin", "TurnEnd", "ToolCall", "StepRetry"):
                    self._debug("subagent", agent=agent, kind=envelope.type)
            case _:
                pass  # fragments of responses, and the state of the screen

    def _info(self, event: str, **fields: object) -> None:
        log_event(logger, logging.INFO, event, **fields)

    def _debug(self, event: str, **fields: object) -> None:
        log_event(logger, logging.DEBUG, event, **fields)

    def _start(self, name: str) -> None:
        self._started[name] = time.monotonic()

    def _stop(self, name: str) -> float | None:
        """Return the seconds since `_start`; None if the start is unknown."""
        started = self._started.pop(name, None)
        return None if started is None else time.monotonic() - started


def _count_chars(user_input: UserInput) -> int:
    if isinstance(user_input, str):
        return len(user_input)
    return sum(len(part.text) for part in user_input if isinstance(part, TextPart))
