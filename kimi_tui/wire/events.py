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
    ImageURLPart,
    TextPart,
    ThinkPart,
    VideoURLPart,
)
from kimi_tui.base.message import ToolCall, ToolCallPart
from kimi_tui.base.value import value
from kimi_tui.wire.agents import AgentList
from kimi_tui.wire.background import TasksUpdate, TaskText
from kimi_tui.wire.completion import ArgumentChoices
from kimi_tui.wire.session import CostUpdate as CostUpdate
from kimi_tui.wire.session import MCPLoadingBegin as MCPLoadingBegin
from kimi_tui.wire.session import MCPLoadingEnd as MCPLoadingEnd
from kimi_tui.wire.session import ReplayBegin as ReplayBegin
from kimi_tui.wire.session import ReplayEnd as ReplayEnd
from kimi_tui.wire.session import SessionInfo as SessionInfo
from kimi_tui.wire.session import SlashCommandInfo as SlashCommandInfo
from kimi_tui.wire.session import SnapshotProgress as SnapshotProgress
from kimi_tui.wire.session import StatusUpdate as StatusUpdate
from kimi_tui.wire.sessions import SessionList, SessionPreview
from kimi_tui.wire.settings import SettingChanged, SettingsList
from kimi_tui.wire.setup import ModelConnected, ModelSources
from kimi_tui.wire.shell import ShellCommandBegin, ShellCommandEnd
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
from kimi_tui.wire.window import WindowFilling

ApprovalAnswer = Literal["approve", "approve_for_session", "approve_always", "reject"]
"""`approve_always` is ours: only a front end that offered it sends it."""


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
class SubagentEvent:
    """An event of a sub-agent, wrapped as often as it is nested."""

    event: WireEnvelope
    parent_tool_call_id: str | None = None
    agent_id: str | None = None
    subagent_type: str | None = None


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


TravelEvent = (
    CheckpointCreated
    | Reverted
    | RevertPlan
    | Timeline
    | TimelineUpdate
    | BranchContent
    | Comparison
    | PatchWritten
    | SessionForked
)
"""What tells of the timeline and of jumps through it."""
Reply = (
    AgentList
    | SessionList
    | SessionPreview
    | ModelSources
    | ModelConnected
    | SettingsList
    | SettingChanged
    | ArgumentChoices
    | TaskText
)
"""What is told to who asked for it, and changes nothing of the session."""
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
    | TravelEvent
    | TodoUpdate
    | CostUpdate
    | SessionInfo
    | ReplayBegin
    | ReplayEnd
    | SnapshotProgress
    | ShellCommandBegin
    | ShellCommandEnd
    | TasksUpdate
    | WindowFilling
    | Reply
)
