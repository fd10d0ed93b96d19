"""Events from the engine to the front ends.

Guarantees: each TurnBegin has exactly one TurnEnd, even after an error or cancellation. Steps of a turn are
numbered from 1. A step's ContentParts, ToolCalls and ToolCallParts precede its ToolResults. Each ToolCall
gets exactly one ToolResult before the next step begins, unless a StepRetry or StepInterrupted discards it.
Each request is answered or closed before its turn ends, except those of background tasks
(`source_kind="background_agent"`). Each CompactionBegin is followed by a CompactionEnd. The events of a sub-
agent that a tool call waits for are sent as SubagentEvents, in order, between the ToolCall and its
ToolResult.
"""

from dataclasses import field
from typing import Any, Literal

from kimi_tui.base.content_parts import (
    AudioURLPart,
    ImageURLPart,
    TextPart,
    ThinkPart,
    VideoURLPart,
)
from kimi_tui.base.frozen import frozen
from kimi_tui.base.message import ToolCall, ToolCallPart
from kimi_tui.wire.agent_list import AgentList
from kimi_tui.wire.argument_completion import ArgumentChoices
from kimi_tui.wire.attempts import AttemptChanges, AttemptList
from kimi_tui.wire.background import TasksUpdate, TaskText
from kimi_tui.wire.bisect import BisectProgress, BisectResult
from kimi_tui.wire.checks import CheckResult
from kimi_tui.wire.context_usage import WindowFilling
from kimi_tui.wire.message_search import MessageMatches
from kimi_tui.wire.model_setup import ModelConnected, ModelSources
from kimi_tui.wire.permissions import PermissionChanged, PermissionList
from kimi_tui.wire.review import ChangeReview, CommentList, PlannedFileContent
from kimi_tui.wire.session import CostUpdate as CostUpdate
from kimi_tui.wire.session import MCPLoadingBegin as MCPLoadingBegin
from kimi_tui.wire.session import MCPLoadingEnd as MCPLoadingEnd
from kimi_tui.wire.session import ReplayBegin as ReplayBegin
from kimi_tui.wire.session import ReplayEnd as ReplayEnd
from kimi_tui.wire.session import SessionInfo as SessionInfo
from kimi_tui.wire.session import SlashCommandInfo as SlashCommandInfo
from kimi_tui.wire.session import SnapshotProgress as SnapshotProgress
from kimi_tui.wire.session import StatusUpdate as StatusUpdate
from kimi_tui.wire.session_list import SessionList, SessionPreview
from kimi_tui.wire.settings import SettingChanged, SettingsList
from kimi_tui.wire.timeline import (
    BranchContent,
    Comparison,
    PatchWritten,
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
from kimi_tui.wire.turn import CompactionBegin as CompactionBegin
from kimi_tui.wire.turn import CompactionEnd as CompactionEnd
from kimi_tui.wire.turn import PlanDisplay as PlanDisplay
from kimi_tui.wire.turn import SteerInput as SteerInput
from kimi_tui.wire.turn import StepBegin as StepBegin
from kimi_tui.wire.turn import StepInterrupted as StepInterrupted
from kimi_tui.wire.turn import StepRetry as StepRetry
from kimi_tui.wire.turn import TodoUpdate as TodoUpdate
from kimi_tui.wire.turn import ToolOutput as ToolOutput
from kimi_tui.wire.turn import ToolResult as ToolResult
from kimi_tui.wire.turn import ToolReturn as ToolReturn
from kimi_tui.wire.turn import TurnBegin as TurnBegin
from kimi_tui.wire.turn import TurnEnd as TurnEnd
from kimi_tui.wire.turn import TurnFailure as TurnFailure
from kimi_tui.wire.turn import TurnOutcome as TurnOutcome
from kimi_tui.wire.usage import UsageReport
from kimi_tui.wire.user_shell import ShellCommandBegin, ShellCommandEnd
from kimi_tui.wire.why import LineReason

ApprovalAnswer = Literal["approve", "approve_for_session", "approve_always", "run_directly", "reject"]
"""`approve_always` and `run_directly` aren't in kimi-cli. Only a front end that offers them sends them.

If a request has effects, `run_directly` discards them and runs the command again without a workspace.
"""


@frozen
class ApprovalResponse:
    """Answer to an ApprovalRequest. If the request's turn ended, a rejection with feedback."""

    request_id: str
    response: ApprovalAnswer
    feedback: str = ""
    edited: str | None = None
    """With `approve`: the full text to execute instead of the request's proposal. Not in kimi-cli."""
    rule: str | None = None
    """With `approve_for_session` and `approve_always`: the rule to add instead of the request's rule. Not in
    kimi-cli.
    """


@frozen
class RequestClosed:
    """A request no longer needs an answer, because its turn was interrupted. Not in kimi-cli."""

    request_id: str


@frozen
class SubagentEvent:
    """An event of a sub-agent, wrapped once per nesting level."""

    event: WireEnvelope
    parent_tool_call_id: str | None = None
    agent_id: str | None = None
    subagent_type: str | None = None


@frozen
class HookTriggered:
    """The hooks of an event have started."""

    event: str
    target: str
    hook_count: int


@frozen
class HookResolved:
    """All hooks of an event have finished."""

    event: str
    target: str
    action: Literal["allow", "block"]
    reason: str
    duration_ms: int


@frozen
class Notification:
    """A notification for the user that isn't part of a message."""

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


@frozen
class BtwBegin:
    """The answer to a side question has started."""

    id: str
    question: str


@frozen
class BtwEnd:
    """A side question was answered, or failed."""

    id: str
    response: str | None = None
    error: str | None = None


ContentEvent = TextPart | ThinkPart | ImageURLPart | AudioURLPart | VideoURLPart
"""Parts of a response. Text and thoughts arrive in fragments."""
CallEvent = ToolCall | ToolCallPart | ToolOutput | ToolResult
"""Tool calls, from their arguments to their results."""
TurnEvent = TurnBegin | SteerInput | TurnEnd | StepBegin | StepInterrupted | StepRetry
"""Begin and end of turns and steps, and the user's messages."""
ShellEvent = ShellCommandBegin | ShellCommandEnd
"""The user's own commands. Their output arrives as ToolOutput."""
RequestEnd = ApprovalResponse | RequestClosed
"""Ends of requests."""
CompactionEvent = CompactionBegin | CompactionEnd
"""Compaction of the context."""
BisectEvent = BisectProgress | BisectResult
"""Progress and result of a search for the step that changed the result of a command."""
AttemptEvent = AttemptList | AttemptChanges
"""State of all attempts, and the changes of one attempt."""
Report = (
    RevertPlan
    | Comparison
    | PatchWritten
    | SessionForked
    | BisectEvent
    | CheckResult
    | LineReason
    | CommentList
    | ChangeReview
    | PlannedFileContent
    | AttemptEvent
)
"""Replies to commands, and results of checks. Shown in the conversation, unless a dialog requested them."""
Reply = (
    AgentList
    | SessionList
    | SessionPreview
    | MessageMatches
    | ModelSources
    | ModelConnected
    | SettingsList
    | SettingChanged
    | PermissionList
    | PermissionChanged
    | ArgumentChoices
    | TaskText
    | WindowFilling
    | UsageReport
)
"""Replies to commands that don't change the conversation or the files."""
ReplayBoundary = ReplayBegin | ReplayEnd
"""Begin and end of a replay."""

ConversationEvent = (
    ContentEvent
    | CallEvent
    | TurnEvent
    | SubagentEvent
    | ShellEvent
    | RequestEnd
    | CompactionEvent
    | Report
    | Notification
    | PlanDisplay
    | HookResolved
    | StatusUpdate
    | CheckpointCreated
    | Reverted
)
"""Events for views of the conversation."""
SessionEvent = (
    ContentEvent
    | BisectResult
    | AttemptEvent
    | ToolCall
    | ToolCallPart
    | ToolResult
    | TurnBegin
    | SteerInput
    | TurnEnd
    | StepBegin
    | StepRetry
    | ShellEvent
    | RequestEnd
    | CompactionEvent
    | Reply
    | ReplayBoundary
    | HookTriggered
    | HookResolved
    | MCPLoadingBegin
    | MCPLoadingEnd
    | StatusUpdate
    | CostUpdate
    | TodoUpdate
    | TasksUpdate
    | SessionInfo
    | SnapshotProgress
)
"""Events for code that tracks the state of the session."""
TimelineEvent = (
    Timeline
    | TimelineUpdate
    | BranchContent
    | RevertPlan
    | Comparison
    | PatchWritten
    | LineReason
    | CommentList
    | ChangeReview
    | PlannedFileContent
    | AttemptEvent
    | Reverted
    | Notification
    | SessionInfo
    | TurnBegin
    | TurnEnd
)
"""Events for the timeline and its dialogs."""
SideQuestionEvent = BtwBegin | BtwEnd
"""Side questions and their answers."""
Event = ConversationEvent | SessionEvent | TimelineEvent | SideQuestionEvent
"""All messages from the engine except requests. Add a new event to one of the unions above, so that the type
checker reports missing handlers.
"""
