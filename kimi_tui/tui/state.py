"""What the screen knows of the session: one value, folded from what arrives over the wire."""

from dataclasses import dataclass, field, replace
from typing import Literal, assert_never

from kimi_tui.base.content import AudioURLPart, ImageURLPart, TextPart, ThinkPart, VideoURLPart
from kimi_tui.base.message import ToolCall, ToolCallPart
from kimi_tui.base.terminal import plain_line
from kimi_tui.base.usage import TokenUsage
from kimi_tui.wire.channel import Outgoing
from kimi_tui.wire.display import TodoItem
from kimi_tui.wire.events import (
    ApprovalResponse,
    BtwBegin,
    BtwEnd,
    CheckpointCreated,
    CompactionBegin,
    CompactionEnd,
    CostUpdate,
    HookResolved,
    HookTriggered,
    MCPLoadingBegin,
    MCPLoadingEnd,
    Notification,
    PlanDisplay,
    ReplayBegin,
    ReplayEnd,
    RequestClosed,
    Reverted,
    RevertPlan,
    SessionInfo,
    SnapshotProgress,
    StatusUpdate,
    SteerInput,
    StepBegin,
    StepInterrupted,
    StepRetry,
    SubagentEvent,
    TodoUpdate,
    ToolOutput,
    ToolResult,
    TurnBegin,
    TurnEnd,
    TurnOutcome,
)
from kimi_tui.wire.requests import ApprovalRequest, HookRequest, QuestionRequest, ToolCallRequest

RunStatus = Literal["running", "done", "failed", "stopped"]
OpenRequest = ApprovalRequest | QuestionRequest

RUNS_KEPT = 500
"""How many tool calls the tool pane remembers; the transcript has them all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolRun:
    """One tool call, as the tool pane lists it."""

    id: str
    name: str
    arguments: str = ""
    """JSON text; incomplete while it streams."""
    status: RunStatus = "running"
    started: float | None = None
    """When it began, or was allowed to begin; None in a replay."""
    seconds: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """The turn that runs."""

    started: float
    step: int = 0
    activity: str = "starting"
    interrupted: bool = False
    """Whether the user asked to stop it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScreenState:
    """Everything outside the transcript that the panes draw."""

    session: SessionInfo | None = None
    turn: Turn | None = None
    last_outcome: TurnOutcome = "finished"
    last_step: int = 0
    sent: int = 0
    """Prompts given to the engine whose turn has not begun."""
    queue: tuple[str, ...] = ()
    """Prompts that wait here for the turn to end."""
    replaying: bool = False
    compacting: bool = False
    requests: tuple[OpenRequest, ...] = ()
    runs: tuple[ToolRun, ...] = ()
    todo: tuple[TodoItem, ...] = ()
    usage: TokenUsage = field(default_factory=TokenUsage)
    context_tokens: int = 0
    max_context_tokens: int = 0
    cost_usd: float | None = None
    mcp: tuple[tuple[str, str], ...] = ()
    """Servers and their states."""
    mcp_loading: bool = False
    scan: SnapshotProgress | None = None

    @property
    def busy(self) -> bool:
        """Whether a new prompt has to wait."""
        return self.turn is not None or self.sent > 0

    @property
    def context_share(self) -> float:
        """Share of the model's window in use, 0 to 1."""
        return min(1.0, self.context_tokens / self.max_context_tokens) if self.max_context_tokens else 0.0

    @property
    def is_demo(self) -> bool:
        """Whether the demo answers instead of a model."""
        return self.session is not None and self.session.model_kind == "demo"


def apply(state: ScreenState, message: Outgoing, *, now: float) -> ScreenState:
    """`state` after `message`, which arrived at `now`."""
    match message:
        case TurnBegin():
            sent = state.sent if state.replaying else max(0, state.sent - 1)
            return replace(state, turn=Turn(started=now), sent=sent, last_step=0)
        case TurnEnd(outcome=outcome):
            runs = tuple(_stopped(run) for run in state.runs)
            return replace(state, turn=None, last_outcome=outcome, runs=runs, requests=(), scan=None)
        case StepBegin(n=n):
            return replace(_doing(state, "waiting for the model", step=n), last_step=n)
        case StepRetry():
            again = f"trying again ({message.next_attempt} of {message.max_attempts})"
            return _doing(replace(state, runs=_without_unfinished(state.runs)), again)
        case ThinkPart():
            return _doing(state, "thinking")
        case TextPart() | ImageURLPart() | AudioURLPart() | VideoURLPart():
            return _doing(state, "answering")
        case ToolCall():
            return _doing(_with_run(state, message, now), f"calling {plain_line(message.function.name)}")
        case ToolCallPart():
            return replace(state, runs=_with_arguments(state.runs, message))
        case ToolResult():
            return _finished(state, message, now)
        case ApprovalRequest() | QuestionRequest():
            if state.replaying:
                return state
            return _doing(replace(state, requests=(*state.requests, message)), "waiting for you")
        case ApprovalResponse(request_id=request_id) | RequestClosed(request_id=request_id):
            return closed(state, request_id, now=now)
        case CompactionBegin():
            return _doing(replace(state, compacting=True), "compacting the conversation")
        case CompactionEnd():
            return _doing(replace(state, compacting=False), "waiting for the model")
        case MCPLoadingBegin():
            return replace(state, mcp_loading=True)
        case MCPLoadingEnd():
            return replace(state, mcp_loading=False)
        case StatusUpdate():
            return _with_status(state, message)
        case TodoUpdate(items=items):
            return replace(state, todo=items)
        case CostUpdate(cost_usd=cost):
            return replace(state, cost_usd=cost)
        case SessionInfo():
            return _with_session(state, message)
        case ReplayBegin():
            return replace(state, replaying=True)
        case ReplayEnd():
            runs = tuple(_stopped(run) for run in state.runs)
            return replace(state, replaying=False, turn=None, runs=runs)
        case SnapshotProgress(done=done, total=total):
            return replace(state, scan=None if total is not None and done >= total else message)
        case (
            SteerInput()
            | StepInterrupted()
            | ToolOutput()
            | SubagentEvent()
            | PlanDisplay()
            | HookTriggered()
            | HookResolved()
            | Notification()
            | BtwBegin()
            | BtwEnd()
            | CheckpointCreated()
            | Reverted()
            | RevertPlan()
            | ToolCallRequest()
            | HookRequest()
        ):
            return state
        case _:
            assert_never(message)


def closed(state: ScreenState, request_id: str, *, now: float) -> ScreenState:
    """`state` without that request: it was answered, or needs no answer any more."""
    gone = next((request for request in state.requests if request.id == request_id), None)
    if gone is None:
        return state
    requests = tuple(request for request in state.requests if request is not gone)
    runs = tuple(replace(run, started=now) if run.id == gone.tool_call_id else run for run in state.runs)
    return _doing(replace(state, requests=requests, runs=runs), "waiting for you" if requests else "working")


def _doing(state: ScreenState, activity: str, *, step: int | None = None) -> ScreenState:
    turn = state.turn
    if turn is None or (turn.activity == activity and step is None):
        return state
    return replace(state, turn=replace(turn, activity=activity, step=turn.step if step is None else step))


def _with_run(state: ScreenState, call: ToolCall, now: float) -> ScreenState:
    run = ToolRun(
        id=call.id,
        name=call.function.name,
        arguments=call.function.arguments or "",
        started=None if state.replaying else now,
    )
    return replace(state, runs=(*state.runs[-RUNS_KEPT + 1 :], run))


def _with_arguments(runs: tuple[ToolRun, ...], part: ToolCallPart) -> tuple[ToolRun, ...]:
    for index in range(len(runs) - 1, -1, -1):
        run = runs[index]
        if part.tool_call_id is None or run.id == part.tool_call_id:
            longer = replace(run, arguments=run.arguments + (part.arguments_part or ""))
            return (*runs[:index], longer, *runs[index + 1 :])
    return runs


def _finished(state: ScreenState, result: ToolResult, now: float) -> ScreenState:
    status: RunStatus = "failed" if result.return_value.is_error else "done"
    runs = tuple(_ended(run, status, now) if run.id == result.tool_call_id else run for run in state.runs)
    left = any(run.status == "running" for run in runs)
    state = replace(state, runs=runs)
    return state if left else _doing(state, "waiting for the model")


def _ended(run: ToolRun, status: RunStatus, now: float) -> ToolRun:
    seconds = None if run.started is None else now - run.started
    return replace(run, status=status, seconds=seconds)


def _stopped(run: ToolRun) -> ToolRun:
    return replace(run, status="stopped") if run.status == "running" else run


def _without_unfinished(runs: tuple[ToolRun, ...]) -> tuple[ToolRun, ...]:
    return tuple(run for run in runs if run.status != "running")


def _with_status(state: ScreenState, status: StatusUpdate) -> ScreenState:
    session = state.session
    if session is not None and status.plan_mode is not None:
        session = replace(session, plan_mode=status.plan_mode)
    limit = state.max_context_tokens if status.max_context_tokens is None else status.max_context_tokens
    tokens = status.context_tokens
    if tokens is None:
        tokens = state.context_tokens if status.context_usage is None else round(status.context_usage * limit)
    return replace(
        state,
        session=session,
        context_tokens=tokens,
        max_context_tokens=limit,
        usage=status.token_usage or state.usage,
        mcp=state.mcp if status.mcp_status is None else tuple(sorted(status.mcp_status.items())),
    )


def _with_session(state: ScreenState, session: SessionInfo) -> ScreenState:
    if state.session is None or state.session.session_id == session.session_id:
        return replace(state, session=session)
    return ScreenState(session=session, queue=state.queue, sent=state.sent, replaying=state.replaying)
