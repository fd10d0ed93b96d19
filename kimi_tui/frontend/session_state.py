"""State of the session as the screen shows it: an immutable value, reduced from the wire's messages."""

from dataclasses import field, replace
from typing import assert_never

from kimi_tui.base.content_parts import (
    AudioURLPart,
    ImageURLPart,
    TextPart,
    ThinkPart,
    UserInput,
    VideoURLPart,
)
from kimi_tui.base.frozen import frozen
from kimi_tui.base.message import ToolCall, ToolCallPart
from kimi_tui.base.message_text import msg
from kimi_tui.base.terminal_text import sanitize_line
from kimi_tui.base.token_usage import TokenUsage
from kimi_tui.frontend.engine_replies import EngineReplies
from kimi_tui.frontend.message_batch import SessionMessage
from kimi_tui.frontend.tool_runs import ToolRuns
from kimi_tui.wire.attempts import Attempt, AttemptChanges, AttemptList
from kimi_tui.wire.background import BackgroundTask, TasksUpdate
from kimi_tui.wire.bisect import BisectResult
from kimi_tui.wire.display_blocks import TodoItem
from kimi_tui.wire.events import (
    ApprovalResponse,
    CompactionBegin,
    CompactionEnd,
    CostUpdate,
    HookResolved,
    HookTriggered,
    MCPLoadingBegin,
    MCPLoadingEnd,
    ReplayBegin,
    ReplayEnd,
    Reply,
    RequestClosed,
    SessionInfo,
    SnapshotProgress,
    StatusUpdate,
    SteerInput,
    StepBegin,
    StepRetry,
    TodoUpdate,
    ToolResult,
    TurnBegin,
    TurnEnd,
    TurnOutcome,
)
from kimi_tui.wire.mcp_status import McpStatus
from kimi_tui.wire.requests import ApprovalRequest, QuestionRequest, QuestionResponse, UserRequest
from kimi_tui.wire.session import CacheMiss
from kimi_tui.wire.user_shell import ShellCommandBegin, ShellCommandEnd

RESPONDING = "responding"
"""Value of `RunningTurn.activity` while the response streams."""

_MAX_CACHE_MISSES = 10


@frozen(kw_only=True)
class RunningTurn:
    """The running turn."""

    started_at: float
    step: int = 0
    activity: str = "starting"
    retry_at: float = 0.0
    """Time of the next retry of a failed model call. In the past, or 0, if no retry is pending."""
    is_interrupted: bool = False
    """Whether the user interrupted the turn."""
    user_input: UserInput = ""
    """The prompt that started the turn."""


@frozen(kw_only=True)
class SessionViewState:
    """Everything that the panes draw, except the transcript."""

    session: SessionInfo | None = None
    turn: RunningTurn | None = None
    last_outcome: TurnOutcome = "finished"
    last_step: int = 0
    sent_count: int = 0
    """Number of sent prompts that haven't started a turn yet."""
    has_failed: bool = False
    """Whether the session could not be opened, or failed."""
    is_closing: bool = False
    """Whether the engine was told to shut down and no longer receives commands."""
    queue: tuple[str, ...] = ()
    """Prompts that wait for the turn to end."""
    unacknowledged: tuple[str, ...] = ()
    """Prompts sent to the engine that it may not have recorded yet."""
    unacknowledged_steers: tuple[str, ...] = ()
    """Steering messages that the engine may not have recorded yet."""
    is_replaying: bool = False
    is_compacting: bool = False
    previous_model: str = ""
    """The model before the last switch. Empty before the first switch."""
    requests: tuple[UserRequest, ...] = ()
    first_request_at: float = 0.0
    """Time at which `requests[0]` became the first request. It is drawn after its batch has been applied."""
    tool_runs: ToolRuns = field(default_factory=ToolRuns)
    bisect_result: BisectResult | None = None
    """Result of the last /bisect. None before the first one."""
    attempts: tuple[Attempt, ...] = ()
    """The attempts, by number."""
    attempt_result: AttemptChanges | None = None
    """Changes of the attempt that was read last."""
    replies: EngineReplies = field(default_factory=EngineReplies)
    todo: tuple[TodoItem, ...] = ()
    tasks: tuple[BackgroundTask, ...] = ()
    """Background tasks, oldest first."""
    shell_ids: tuple[str, ...] = ()
    """Ids of the user's running shell commands."""
    shell_dir: str = ""
    """Current directory of the user's shell. Empty for the working directory."""
    usage: TokenUsage = field(default_factory=TokenUsage)
    cache_misses: tuple[CacheMiss, ...] = ()
    """The latest cache misses, in order."""
    context_tokens: int = 0
    max_context_tokens: int = 0
    cost_usd: float | None = None
    mcp: McpStatus | None = None
    """The MCP servers. None if the session has none."""
    mcp_loading: bool = False
    snapshot_progress: SnapshotProgress | None = None

    @property
    def is_busy(self) -> bool:
        """Whether a new prompt has to wait."""
        return self.turn is not None or self.sent_count > 0 or self.is_closing

    @property
    def running_tasks(self) -> tuple[BackgroundTask, ...]:
        """Background tasks that are running."""
        return tuple(task for task in self.tasks if task.status == "running")

    @property
    def unsaved_prompts(self) -> tuple[str, ...]:
        """Prompts that would be lost in a crash, because the engine may not have recorded them."""
        return (*self.unacknowledged, *self.unacknowledged_steers, *self.queue)

    @property
    def context_share(self) -> float:
        """Used share of the context window, 0 to 1."""
        return min(1.0, self.context_tokens / self.max_context_tokens) if self.max_context_tokens else 0.0

    @property
    def read_only(self) -> bool:
        """Whether the session is read-only."""
        return self.session is not None and self.session.read_only

    @property
    def last_model(self) -> str:
        """The model used before the current one, or the other of two models. Empty if neither exists."""
        models = self.session.models if self.session is not None else ()
        others = [name for name in models if self.session is not None and name != self.session.model]
        if self.previous_model in others:
            return self.previous_model
        return others[0] if len(others) == 1 else ""

    @property
    def is_demo(self) -> bool:
        """Whether the demo responds instead of a model."""
        return self.session is not None and self.session.model_kind == "demo"


_BLOCKING_HOOKS = frozenset(
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
"""Events with hooks that block the turn. Other hooks run in parallel."""


def reduce(state: SessionViewState, message: SessionMessage, *, now: float) -> SessionViewState:
    """Return `state` after `message`, which arrived at `now`."""
    match message:
        case TurnBegin(user_input=user_input):
            sent_count = state.sent_count if state.is_replaying else max(0, state.sent_count - 1)
            return replace(
                state,
                turn=RunningTurn(started_at=now, user_input=user_input),
                sent_count=sent_count,
                last_step=0,
            )
        case TurnEnd(outcome=outcome):
            state = (
                state if state.is_replaying else replace(_acknowledge_prompt(state), unacknowledged_steers=())
            )
            runs = state.tool_runs.stop_running()
            requests = tuple(it for it in state.requests if outlives_turn(it))
            return replace(
                state,
                turn=None,
                last_outcome=outcome,
                tool_runs=runs,
                requests=requests,
                snapshot_progress=None,
            )
        case StepBegin(n=n):
            return replace(
                _set_activity(_acknowledge_prompt(state), "waiting for the model", step=n), last_step=n
            )
        case StepRetry():
            return _set_retry(replace(state, tool_runs=state.tool_runs.drop_running()), message, now=now)
        case ThinkPart():
            return _set_activity(state, "thinking")
        case TextPart() | ImageURLPart() | AudioURLPart() | VideoURLPart():
            return _set_activity(state, RESPONDING)
        case ToolCall():
            runs = state.tool_runs.begin_call(message, now=None if state.is_replaying else now)
            return _set_activity(
                replace(state, tool_runs=runs),
                msg("calling {tool}", tool=sanitize_line(message.function.name)),
            )
        case ToolCallPart():
            return replace(state, tool_runs=state.tool_runs.append_arguments(message))
        case ToolResult():
            state = replace(state, tool_runs=state.tool_runs.end_call(message, now=now))
            return state if state.tool_runs.running_ids else _set_activity(state, "waiting for the model")
        case ApprovalRequest() | QuestionRequest():
            if state.is_replaying:
                return state
            return _set_activity(_add_request(state, message, now=now), "awaiting your answer")
        case ApprovalResponse() | RequestClosed():
            return without_request(state, message, now=now)
        case CompactionBegin():
            return _set_activity(replace(state, is_compacting=True), "compacting the conversation")
        case CompactionEnd():
            return _set_activity(replace(state, is_compacting=False), "waiting for the model")
        case HookTriggered(event=event) if event in _BLOCKING_HOOKS:
            return _set_activity(state, msg("running a hook ({event})", event=event))
        case HookResolved(event=event) if event in _BLOCKING_HOOKS:
            return _set_activity(state, "working")
        case HookTriggered() | HookResolved():
            return state
        case MCPLoadingBegin():
            return replace(state, mcp_loading=True)
        case MCPLoadingEnd():
            return replace(state, mcp_loading=False)
        case StatusUpdate():
            return _apply_status(state, message)
        case TodoUpdate(items=items):
            return replace(state, todo=items)
        case TasksUpdate(tasks=tasks):
            return replace(state, tasks=tasks)
        case ShellCommandBegin(id=shell_id):
            return replace(state, shell_ids=(*state.shell_ids, shell_id))
        case ShellCommandEnd(id=shell_id, work_dir=work_dir):
            shell_ids = tuple(it for it in state.shell_ids if it != shell_id)
            shell_dir = state.shell_dir if state.is_replaying else work_dir
            return replace(state, shell_ids=shell_ids, shell_dir=shell_dir)
        case CostUpdate(cost_usd=cost):
            return replace(state, cost_usd=cost)
        case SessionInfo():
            return _apply_session(state, message)
        case ReplayBegin(anew=anew):
            return replace(state, is_replaying=True, tool_runs=ToolRuns() if anew else state.tool_runs)
        case ReplayEnd():
            return replace(state, is_replaying=False, turn=None, tool_runs=state.tool_runs.stop_running())
        case SnapshotProgress(done=done, total=total):
            return replace(state, snapshot_progress=None if total is not None and done >= total else message)
        case BisectResult():
            return replace(state, bisect_result=message)
        case AttemptList():
            return replace(state, attempts=message.attempts)
        case AttemptChanges():
            return replace(state, attempt_result=message)
        case SteerInput():
            return (
                state
                if state.is_replaying
                else replace(state, unacknowledged_steers=state.unacknowledged_steers[1:])
            )
        case _:
            if isinstance(message, Reply):
                return replace(state, replies=state.replies.with_reply(message))
            assert_never(message)


def _acknowledge_prompt(state: SessionViewState) -> SessionViewState:
    """Mark the prompt of the running turn as recorded."""
    turn = state.turn
    if turn is None or state.is_replaying or not state.unacknowledged:
        return state
    if isinstance(turn.user_input, str) and turn.user_input != state.unacknowledged[0]:
        return state  # the turn was started by something else, such as a command
    return replace(state, turn=replace(turn, user_input=""), unacknowledged=state.unacknowledged[1:])


def outlives_turn(request: UserRequest) -> bool:
    """Return whether a background task made the request. Such a request stays open when a turn ends."""
    return isinstance(request, ApprovalRequest) and request.source_kind == "background_agent"


def _add_request(state: SessionViewState, request: UserRequest, *, now: float) -> SessionViewState:
    # Sort by call, however long each took to prepare. A request that is on the screen stays first.
    is_first_fixed = bool(state.requests) and now > state.first_request_at
    first, rest = state.requests[:is_first_fixed], (*state.requests[is_first_fixed:], request)
    requests = (*first, *sorted(rest, key=lambda it: state.tool_runs.position_of(it.tool_call_id)))
    if state.requests[:1] == requests[:1]:
        return replace(state, requests=requests)
    return replace(state, requests=requests, first_request_at=now)


def without_request(
    state: SessionViewState, end: ApprovalResponse | QuestionResponse | RequestClosed, *, now: float
) -> SessionViewState:
    """Return `state` without a request that was answered or withdrawn."""
    closed = next((request for request in state.requests if request.id == end.request_id), None)
    if closed is None:
        return state
    requests = tuple(request for request in state.requests if request is not closed)
    runs = state.tool_runs.restart_clock(closed.tool_call_id, now=now)
    if isinstance(end, ApprovalResponse) and end.edited is not None:
        runs = runs.replace_command(closed.tool_call_id, end.edited)
    first_request_at = state.first_request_at if requests[:1] == state.requests[:1] else now
    state = replace(state, requests=requests, tool_runs=runs, first_request_at=first_request_at)
    return _set_activity(state, "awaiting your answer" if requests else "working")


def _set_activity(state: SessionViewState, activity: str, *, step: int | None = None) -> SessionViewState:
    turn = state.turn
    if turn is None or (turn.activity == activity and step is None):
        return state
    step = turn.step if step is None else step
    return replace(state, turn=replace(turn, activity=activity, retry_at=0.0, step=step))


def _set_retry(state: SessionViewState, retry: StepRetry, *, now: float) -> SessionViewState:
    state = _set_activity(
        state,
        msg(
            "retrying ({attempt} of {max_attempts})",
            attempt=retry.next_attempt,
            max_attempts=retry.max_attempts,
        ),
    )
    if state.turn is None or state.is_replaying:
        return state
    return replace(state, turn=replace(state.turn, retry_at=now + retry.wait_s))


def _apply_status(state: SessionViewState, status: StatusUpdate) -> SessionViewState:
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
        cache_misses=(
            state.cache_misses
            if status.cache_miss is None
            else (*state.cache_misses, status.cache_miss)[-_MAX_CACHE_MISSES:]
        ),
        mcp=state.mcp if status.mcp_status is None else status.mcp_status,
    )


def _apply_session(state: SessionViewState, session: SessionInfo) -> SessionViewState:
    if state.session is not None and session.model != state.session.model:
        state = replace(state, previous_model=state.session.model)
    if state.session is None or state.session.session_id == session.session_id:
        return replace(state, session=session)
    return SessionViewState(
        session=session,
        queue=state.queue,
        unacknowledged=state.unacknowledged,
        unacknowledged_steers=state.unacknowledged_steers,
        sent_count=state.sent_count,
        is_replaying=state.is_replaying,
        previous_model=state.previous_model,
    )
