"""Events: what the engine tells the front ends.

Ordering promises: every TurnBegin has one TurnEnd, on error and cancel too; between them steps are
numbered from 1; a step's ContentParts, ToolCalls and ToolCallParts precede its ToolResults; each ToolCall
gets exactly one ToolResult before the step after it begins, unless a StepRetry or StepInterrupted says that
it was never run; each request is answered or closed before its turn ends, but for those of background tasks
(`source_kind="background_agent"`); a CompactionEnd follows every CompactionBegin. The events of a sub-agent
that a call waits for come as SubagentEvents, in order, between that ToolCall and its ToolResult.
"""

from dataclasses import field
from typing import Any, Literal

from kimi_tui.base.content import (
    AudioURLPart,
    ContentPart,
    ImageURLPart,
    TextPart,
    ThinkPart,
    UserInput,
    VideoURLPart,
)
from kimi_tui.base.message import ToolCall, ToolCallPart
from kimi_tui.base.usage import TokenUsage
from kimi_tui.base.value import value
from kimi_tui.wire.background import TasksUpdate, TaskText
from kimi_tui.wire.completion import ArgumentChoices
from kimi_tui.wire.display import DisplayBlock, TodoItem
from kimi_tui.wire.mcp import McpStatus
from kimi_tui.wire.sessions import SessionList, SessionPreview
from kimi_tui.wire.settings import SettingChanged, SettingsList
from kimi_tui.wire.setup import ModelConnected, ModelSources
from kimi_tui.wire.shell import ShellCommandBegin, ShellCommandEnd
from kimi_tui.wire.timeline import (
    BranchContent,
    Comparison,
    SessionForked,
    Timeline,
    TimelineUpdate,
)
from kimi_tui.wire.timeline import CheckpointCreated as CheckpointCreated
from kimi_tui.wire.timeline import CheckpointKind as CheckpointKind
from kimi_tui.wire.timeline import FileChanges as FileChanges
from kimi_tui.wire.timeline import PlannedAction as PlannedAction
from kimi_tui.wire.timeline import PlannedFile as PlannedFile
from kimi_tui.wire.timeline import Reverted as Reverted
from kimi_tui.wire.timeline import RevertPlan as RevertPlan
from kimi_tui.wire.timeline import RevertReason as RevertReason
from kimi_tui.wire.timeline import RevertScope as RevertScope
from kimi_tui.wire.timeline import WireEnvelope as WireEnvelope

ApprovalAnswer = Literal["approve", "approve_for_session", "approve_always", "reject"]
"""`approve_always` is ours: only a front end that offered it sends it."""
TurnOutcome = Literal["finished", "cancelled", "rejected", "max_steps", "limit", "failed"]


@value
class TurnBegin:
    """A turn starts with what the user said."""

    user_input: UserInput


@value
class SteerInput:
    """The user said something more while the turn runs; the next step sees it."""

    user_input: UserInput


@value
class TurnFailure:
    """Why a turn ended early: what happened and what to do, one sentence each."""

    what: str
    hint: str = ""
    kind: str = ""
    """The class of the error, as in `base.errors`."""
    status_code: int | None = None
    retryable: bool = False


@value
class TurnEnd:
    """The turn is over. The payload is ours; clients of Wire 1.10 ignore it."""

    outcome: TurnOutcome = "finished"
    steps: int = 0
    failure: TurnFailure | None = None


@value
class StepBegin:
    """A step starts: one model call and the tools it asks for."""

    n: int


@value
class StepInterrupted:
    """The step was cancelled or failed; what it said so far stands."""


@value
class StepRetry:
    """The step's model call failed and is tried again: drop what the failed attempt streamed."""

    n: int
    next_attempt: int
    max_attempts: int
    wait_s: float
    error_type: str
    status_code: int | None = None


@value
class ToolReturn:
    """What a tool gave back. `output` is for the model, `message` a note about it, `display` for the user."""

    is_error: bool = False
    output: str | tuple[ContentPart, ...] = ""
    message: str = ""
    display: tuple[DisplayBlock, ...] = ()
    extras: dict[str, Any] | None = None
    """Ours: `{"rejected": True}` when the call was not allowed."""


@value
class ToolResult:
    """A tool call ended."""

    tool_call_id: str
    return_value: ToolReturn


@value
class ToolOutput:
    """Ours: output of a running tool as it comes, for a live view only; the result repeats what matters."""

    tool_call_id: str
    text: str


@value
class ApprovalResponse:
    """An approval was answered, or closed by the end of its turn (a rejection with that feedback)."""

    request_id: str
    response: ApprovalAnswer
    feedback: str = ""
    edited: str | None = None
    """Ours: with `approve`, what takes the place of the request's proposal, whole. It is what is done."""


@value
class RequestClosed:
    """Ours: a request needs no answer any more, since its turn was interrupted."""

    request_id: str


@value
class CompactionBegin:
    """The context is being compacted."""


@value
class CompactionEnd:
    """The compaction ended, well or not. The counts are ours."""

    tokens_before: int | None = None
    tokens_after: int | None = None


@value
class MCPLoadingBegin:
    """MCP servers are being connected."""


@value
class MCPLoadingEnd:
    """Every MCP server has answered or failed."""


@value
class StatusUpdate:
    """What the status bar shows; None means unchanged."""

    context_usage: float | None = None
    """Share of the window in use, 0 to 1."""
    context_tokens: int | None = None
    max_context_tokens: int | None = None
    token_usage: TokenUsage | None = None
    """Usage of the session so far."""
    message_id: str | None = None
    plan_mode: bool | None = None
    mcp_status: McpStatus | None = None


@value
class SubagentEvent:
    """An event of a sub-agent, wrapped as often as it is nested."""

    event: WireEnvelope
    parent_tool_call_id: str | None = None
    agent_id: str | None = None
    subagent_type: str | None = None


@value
class PlanDisplay:
    """The plan to look at before it is carried out."""

    content: str
    file_path: str


@value
class HookTriggered:
    """A hook event fires."""

    event: str
    target: str
    hook_count: int


@value
class HookResolved:
    """Every hook of an event has answered."""

    event: str
    target: str
    action: Literal["allow", "block"]
    reason: str
    duration_ms: int


@value
class Notification:
    """Something the user should know that belongs to no message."""

    id: str
    category: str
    type: str
    source_kind: str
    source_id: str
    title: str
    body: str
    severity: Literal["info", "warning", "error"] = "info"
    created_at: float = 0.0
    payload: dict[str, Any] = field(default_factory=dict)


@value
class BtwBegin:
    """A side question is being answered."""

    id: str
    question: str


@value
class BtwEnd:
    """A side question was answered, or failed."""

    id: str
    response: str | None = None
    error: str | None = None


@value
class TodoUpdate:
    """Ours: the todo list as it now stands."""

    items: tuple[TodoItem, ...]


@value
class CostUpdate:
    """Ours: what the session has cost so far, in US dollars; None when the model has no price."""

    cost_usd: float | None = None


@value
class SlashCommandInfo:
    """A command that the engine understands in RunSlash."""

    name: str
    description: str
    aliases: tuple[str, ...] = ()
    takes_turn: bool = False
    """Whether a TurnBegin and a TurnEnd come for it."""
    argument: str = ""
    """What its argument is called, in brackets when it may be left out; empty when it needs none."""
    completes: bool = False
    """Whether CompleteArgument has answers for it."""


@value
class SessionInfo:
    """Ours: which session this is. Sent when a session opens and when any of it changes."""

    session_id: str
    work_dir: str
    title: str
    model: str
    model_kind: str
    """The provider's type: kimi, openai, anthropic, scripted or demo; empty when no model is set."""
    agent: str
    thinking: bool = False
    yolo: bool = False
    plan_mode: bool = False
    accept_edits: bool = False
    """Whether harmless edits in the work dir need no approval."""
    sandbox: bool = False
    """Whether the agent's commands run in a sandbox."""
    capabilities: tuple[str, ...] = ()
    slash_commands: tuple[SlashCommandInfo, ...] = ()
    models: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    """The agent's own; those of a client are not among them."""
    recording: str = ""
    """The file that records what goes over the Wire."""
    hooks: dict[str, int] = field(default_factory=dict)
    """How many hooks each event has that has any."""
    read_only: bool = False


@value
class ReplayBegin:
    """Ours: what follows, up to ReplayEnd, was said before: in an earlier run of this session, or on the line
    of the conversation that a jump led to.
    """

    anew: bool = False
    """Whether what was shown until now is not the conversation any more: what follows takes its place."""


@value
class ReplayEnd:
    """Ours: the replay is over; events are live from here."""


@value
class SnapshotProgress:
    """Ours: the files are being looked at. When `done` is `total` that has ended."""

    done: int
    total: int | None = None
    """None while it is not known."""
    delays: str = ""
    """The tool that waits for it."""


Event = (
    TurnBegin
    | SteerInput
    | TurnEnd
    | StepBegin
    | StepInterrupted
    | StepRetry
    | TextPart
    | ThinkPart
    | ImageURLPart
    | AudioURLPart
    | VideoURLPart
    | ToolCall
    | ToolCallPart
    | ToolResult
    | ToolOutput
    | ApprovalResponse
    | RequestClosed
    | CompactionBegin
    | CompactionEnd
    | MCPLoadingBegin
    | MCPLoadingEnd
    | StatusUpdate
    | SubagentEvent
    | PlanDisplay
    | HookTriggered
    | HookResolved
    | Notification
    | BtwBegin
    | BtwEnd
    | CheckpointCreated
    | Reverted
    | RevertPlan
    | Timeline
    | TimelineUpdate
    | BranchContent
    | Comparison
    | SessionForked
    | TodoUpdate
    | CostUpdate
    | SessionInfo
    | ReplayBegin
    | ReplayEnd
    | SnapshotProgress
    | ShellCommandBegin
    | ShellCommandEnd
    | SessionList
    | SessionPreview
    | TasksUpdate
    | TaskText
    | ModelSources
    | ModelConnected
    | SettingsList
    | SettingChanged
    | ArgumentChoices
)
