"""What the screen knows of the session: one value, folded from what arrives over the wire."""

from dataclasses import field, replace
from typing import assert_never

from kimi_tui.base.content import AudioURLPart, ImageURLPart, TextPart, ThinkPart, UserInput, VideoURLPart
from kimi_tui.base.message import ToolCall, ToolCallPart
from kimi_tui.base.terminal import plain_line
from kimi_tui.base.usage import TokenUsage
from kimi_tui.base.value import value
from kimi_tui.tui.replies import Replies
from kimi_tui.tui.tool_runs import ToolRuns
from kimi_tui.wire.background import BackgroundTask, TasksUpdate
from kimi_tui.wire.channel import Outgoing
from kimi_tui.wire.display import TodoItem
from kimi_tui.wire.events import (
    ApprovalResponse,
    BtwBegin,
    BtwEnd,
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
    Reply,
    RequestClosed,
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
    TravelEvent,
    TurnBegin,
    TurnEnd,
    TurnOutcome,
)
from kimi_tui.wire.mcp import McpStatus
from kimi_tui.wire.requests import ApprovalRequest, HookRequest, QuestionRequest, ToolCallRequest
from kimi_tui.wire.shell import ShellCommandBegin, ShellCommandEnd
from kimi_tui.wire.window import WindowFilling

OpenRequest = ApprovalRequest | QuestionRequest
ANSWERING = "answering"
"""What a turn does while its words appear."""


@value(kw_only=True)
class Turn:
    """The turn that runs."""

    started: float
    step: int = 0
    activity: str = "starting"
    again_at: float = 0.0
    """When a model call that failed is tried again; past, or 0, while nothing is waited for."""
    interrupted: bool = False
    """Whether the user asked to stop it."""
    asked: UserInput = ""
    """What began it."""


@value(kw_only=True)
class ScreenState:
    """Everything outside the transcript that the panes draw."""

    session: SessionInfo | None = None
    turn: Turn | None = None
    last_outcome: TurnOutcome = "finished"
    last_step: int = 0
    sent: int = 0
    """Prompts given to the engine whose turn has not begun."""
    failed: bool = False
    """Whether the session could not be opened, or broke."""
    closing: bool = False
    """Whether the engine was told to end: it hears nothing any more."""
    queue: tuple[str, ...] = ()
    """Prompts that wait here for the turn to end."""
    unheard: tuple[str, ...] = ()
    """Prompts given to the engine that it may not have written down yet."""
    steered: tuple[str, ...] = ()
    """The same of what was said to the running turn."""
    replaying: bool = False
    compacting: bool = False
    requests: tuple[OpenRequest, ...] = ()
    first_asked_at: float = 0.0
    """When the first of them came to stand there."""
    runs: ToolRuns = field(default_factory=ToolRuns)
    replies: Replies = field(default_factory=Replies)
    todo: tuple[TodoItem, ...] = ()
    tasks: tuple[BackgroundTask, ...] = ()
    """Those of the background, oldest first."""
    shells: tuple[str, ...] = ()
    """Ids of the user's own commands that run."""
    shell_dir: str = ""
    """Where the user's shell stands; empty while that is the work dir."""
    usage: TokenUsage = field(default_factory=TokenUsage)
    context_tokens: int = 0
    max_context_tokens: int = 0
    cost_usd: float | None = None
    mcp: McpStatus | None = None
    """The MCP servers; None when the session has none."""
    mcp_loading: bool = False
    scan: SnapshotProgress | None = None

    @property
    def busy(self) -> bool:
        """Whether a new prompt has to wait."""
        return self.turn is not None or self.sent > 0 or self.closing

    @property
    def at_stake(self) -> tuple[str, ...]:
        """What the user sent and a crash would cost: nobody but this screen is sure to have it."""
        return (*self.unheard, *self.steered, *self.queue)

    @property
    def context_share(self) -> float:
        """Share of the model's window in use, 0 to 1."""
        return min(1.0, self.context_tokens / self.max_context_tokens) if self.max_context_tokens else 0.0

    @property
    def read_only(self) -> bool:
        """Whether nothing can be said, for the session is only read."""
        return self.session is not None and self.session.read_only

    @property
    def is_demo(self) -> bool:
        """Whether the demo answers instead of a model."""
        return self.session is not None and self.session.model_kind == "demo"


_SETTLED_S = 0.4
"""For less than that what came first may have to wait for an earlier call: no key means it yet."""
_AWAITED_HOOKS = frozenset(
    {
        "PreToolUse",
        "PostToolUse",
        "PostToolUseFailure",
        "UserPromptSubmit",
        "Stop",
        "PreCompact",
        "SubagentStart",
    }
)
"""Events whose hooks the turn waits for; others run beside it."""


def apply(state: ScreenState, message: Outgoing, *, now: float) -> ScreenState:
    """`state` after `message`, which arrived at `now`."""
    match message:
        case TurnBegin(user_input=asked):
            sent = state.sent if state.replaying else max(0, state.sent - 1)
            return replace(state, turn=Turn(started=now, asked=asked), sent=sent, last_step=0)
        case TurnEnd(outcome=outcome):
            state = state if state.replaying else replace(_heard(state), steered=())
            runs = state.runs.stopped()
            requests = tuple(it for it in state.requests if outlives_turn(it))
            return replace(state, turn=None, last_outcome=outcome, runs=runs, requests=requests, scan=None)
        case StepBegin(n=n):
            return replace(_doing(_heard(state), "waiting for the model", step=n), last_step=n)
        case StepRetry():
            return _trying_again(replace(state, runs=state.runs.dropped()), message, now=now)
        case ThinkPart():
            return _doing(state, "thinking")
        case TextPart() | ImageURLPart() | AudioURLPart() | VideoURLPart():
            return _doing(state, ANSWERING)
        case ToolCall():
            runs = state.runs.begun(message, now=None if state.replaying else now)
            return _doing(replace(state, runs=runs), f"calling {plain_line(message.function.name)}")
        case ToolCallPart():
            return replace(state, runs=state.runs.fed(message))
        case ToolResult():
            state = replace(state, runs=state.runs.ended(message, now=now))
            return state if state.runs.running else _doing(state, "waiting for the model")
        case ApprovalRequest() | QuestionRequest():
            if state.replaying:
                return state
            return _doing(_asked(state, message, now=now), "waiting for you")
        case ApprovalResponse(request_id=request_id) | RequestClosed(request_id=request_id):
            return closed(state, request_id, now=now)
        case CompactionBegin():
            return _doing(replace(state, compacting=True), "compacting the conversation")
        case CompactionEnd():
            return _doing(replace(state, compacting=False), "waiting for the model")
        case HookTriggered(event=event) if event in _AWAITED_HOOKS:
            return _doing(state, f"running a hook ({event})")
        case HookResolved(event=event) if event in _AWAITED_HOOKS:
            return _doing(state, "working")
        case HookTriggered() | HookResolved():
            return state
        case MCPLoadingBegin():
            return replace(state, mcp_loading=True)
        case MCPLoadingEnd():
            return replace(state, mcp_loading=False)
        case StatusUpdate():
            return _with_status(state, message)
        case TodoUpdate(items=items):
            return replace(state, todo=items)
        case TasksUpdate(tasks=tasks):
            return replace(state, tasks=tasks)
        case ShellCommandBegin(id=shell_id):
            return replace(state, shells=(*state.shells, shell_id))
        case ShellCommandEnd(id=shell_id, work_dir=left_in):
            shells = tuple(it for it in state.shells if it != shell_id)
            return replace(state, shells=shells, shell_dir=state.shell_dir if state.replaying else left_in)
        case CostUpdate(cost_usd=cost):
            return replace(state, cost_usd=cost)
        case SessionInfo():
            return _with_session(state, message)
        case ReplayBegin(anew=anew):
            return replace(state, replaying=True, runs=ToolRuns() if anew else state.runs)
        case ReplayEnd():
            return replace(state, replaying=False, turn=None, runs=state.runs.stopped())
        case SnapshotProgress(done=done, total=total):
            return replace(state, scan=None if total is not None and done >= total else message)
        case SteerInput():
            return state if state.replaying else replace(state, steered=state.steered[1:])
        case (
            StepInterrupted()
            | ToolOutput()
            | SubagentEvent()
            | PlanDisplay()
            | Notification()
            | BtwBegin()
            | BtwEnd()
            | WindowFilling()
            | ToolCallRequest()
            | HookRequest()
        ):
            return state
        case _:
            if isinstance(message, Reply):
                return replace(state, replies=state.replies.after(message))
            if isinstance(message, TravelEvent):
                return state
            assert_never(message)


def _heard(state: ScreenState) -> ScreenState:
    """The engine has written down what the running turn began with."""
    turn = state.turn
    if turn is None or state.replaying or not state.unheard:
        return state
    if isinstance(turn.asked, str) and turn.asked != state.unheard[0]:
        return state  # it began with something else, such as a command
    return replace(state, turn=replace(turn, asked=""), unheard=state.unheard[1:])


def outlives_turn(request: OpenRequest) -> bool:
    """Whether a background task asks: its request stays open when a turn ends."""
    return isinstance(request, ApprovalRequest) and request.source_kind == "background_agent"


def _asked(state: ScreenState, request: OpenRequest, *, now: float) -> ScreenState:
    # In the order of the calls, however long each took to prepare; but what the user answers by now stays.
    settled = bool(state.requests) and now - state.first_asked_at >= _SETTLED_S
    first, rest = state.requests[:settled], (*state.requests[settled:], request)
    requests = (*first, *sorted(rest, key=lambda one: state.runs.order(one.tool_call_id)))
    if state.requests[:1] == requests[:1]:
        return replace(state, requests=requests)
    return replace(state, requests=requests, first_asked_at=now)


def closed(state: ScreenState, request_id: str, *, now: float) -> ScreenState:
    """`state` without that request: it was answered, or needs no answer any more."""
    gone = next((request for request in state.requests if request.id == request_id), None)
    if gone is None:
        return state
    requests = tuple(request for request in state.requests if request is not gone)
    runs = state.runs.allowed(gone.tool_call_id, now=now)
    since = state.first_asked_at if requests[:1] == state.requests[:1] else now
    state = replace(state, requests=requests, runs=runs, first_asked_at=since)
    return _doing(state, "waiting for you" if requests else "working")


def _doing(state: ScreenState, activity: str, *, step: int | None = None) -> ScreenState:
    turn = state.turn
    if turn is None or (turn.activity == activity and step is None):
        return state
    step = turn.step if step is None else step
    return replace(state, turn=replace(turn, activity=activity, again_at=0.0, step=step))


def _trying_again(state: ScreenState, retry: StepRetry, *, now: float) -> ScreenState:
    state = _doing(state, f"trying again ({retry.next_attempt} of {retry.max_attempts})")
    if state.turn is None or state.replaying:
        return state
    return replace(state, turn=replace(state.turn, again_at=now + retry.wait_s))


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
        usage=status.session_usage or state.usage,
        mcp=state.mcp if status.mcp_status is None else status.mcp_status,
    )


def _with_session(state: ScreenState, session: SessionInfo) -> ScreenState:
    if state.session is None or state.session.session_id == session.session_id:
        return replace(state, session=session)
    return ScreenState(
        session=session,
        queue=state.queue,
        unheard=state.unheard,
        steered=state.steered,
        sent=state.sent,
        replaying=state.replaying,
    )
