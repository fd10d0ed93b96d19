"""Statistics of a run, collected from the events."""

from dataclasses import dataclass, field

from kimi_tui.base.content_parts import TextPart
from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.exit_codes import ExitCode, exit_code_of
from kimi_tui.base.frozen import frozen
from kimi_tui.base.message import ToolCall
from kimi_tui.base.output_schema import StructuredOutput
from kimi_tui.base.token_usage import TokenUsage
from kimi_tui.wire.channel import Outgoing
from kimi_tui.wire.codec import UnknownWireMessage, unwrap
from kimi_tui.wire.display_blocks import DiffBlock
from kimi_tui.wire.events import (
    CheckpointCreated,
    CostUpdate,
    PlanDisplay,
    SessionInfo,
    StatusUpdate,
    StepBegin,
    StepRetry,
    SubagentEvent,
    ToolResult,
    TurnBegin,
    TurnEnd,
    TurnFailure,
)
from kimi_tui.wire.mcp_status import McpStatus
from kimi_tui.wire.requests import ApprovalRequest


@frozen
class DeniedCall:
    """A tool call that was denied."""

    tool_call_id: str
    tool: str = ""
    action: str = ""
    description: str = ""


@dataclass(slots=True)
class RunStats:
    """Collects statistics from events."""

    session_id: str = ""
    turns: int = 0
    steps: int = 0
    usage: TokenUsage = field(default_factory=TokenUsage)
    cost_usd: float | None = None
    denials: dict[str, DeniedCall] = field(default_factory=dict)
    files_changed: dict[str, None] = field(default_factory=dict)
    checkpoints: list[int] = field(default_factory=list)
    plan: PlanDisplay | None = None
    """The latest plan that was shown."""
    outcome: str = "finished"
    """Outcome of the last turn, or `failed` once the run can't continue."""
    error: TurnFailure | None = None
    """The error that ended the run early. Signals aren't errors."""
    exit_code: ExitCode = ExitCode.DONE
    mcp: McpStatus | None = None
    """Status of the MCP servers. None if there are none."""
    structured: StructuredOutput | None = None
    """The response, once it matches the output schema."""
    _text_parts: list[str] = field(default_factory=list)
    _tools: dict[str, str] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """Text of the last step's response."""
        return "".join(self._text_parts)

    def start_next(self) -> "RunStats":
        """Return new statistics for the next prompt of the same session. Usage, cost and servers carry
        over.
        """
        return RunStats(session_id=self.session_id, usage=self.usage, cost_usd=self.cost_usd, mcp=self.mcp)

    def record(self, event: Outgoing) -> None:
        """Update the statistics with `event`."""
        match event:
            case SessionInfo(session_id=session_id):
                self.session_id = session_id
            case TurnBegin():
                self.turns += 1
            case StepBegin():
                self.steps += 1
                self._text_parts.clear()
            case StepRetry():
                self._text_parts.clear()
            case TextPart(text=text):
                self._text_parts.append(text)
            case TurnEnd():
                self._end_turn(event)
            case StatusUpdate(mcp_status=McpStatus() as mcp):
                self.mcp = mcp
            case StatusUpdate(session_usage=TokenUsage() as usage):
                self.usage = usage
            case CostUpdate(cost_usd=cost):
                self.cost_usd = cost
            case CheckpointCreated(id=checkpoint):
                self.checkpoints.append(checkpoint)
            case ToolCall(id=call_id, function=function):
                self._tools[call_id] = function.name
            case ToolResult():
                self._end_call(event)
            case PlanDisplay():
                self.plan = event
            case SubagentEvent():
                self._record_nested(event)

    def deny(self, request: ApprovalRequest) -> None:
        """Record a tool call that was denied because no one can approve it."""
        self.denials[request.tool_call_id] = DeniedCall(
            request.tool_call_id, request.sender, request.action, request.description
        )

    def fail(self, error: KimiTuiError) -> None:
        """Record an error after which the run can't continue."""
        self.error = to_turn_failure(error)
        self.outcome = "failed"
        self.exit_code = exit_code_of(error)

    @property
    def can_continue(self) -> bool:
        """Whether another turn can run."""
        return self.exit_code is ExitCode.DONE

    def _end_turn(self, turn: TurnEnd) -> None:
        self.files_changed |= dict.fromkeys(turn.files)
        self.outcome = turn.outcome
        self.error = turn.failure
        match turn.outcome:
            case "max_steps" | "limit":
                self.exit_code = ExitCode.LIMIT
            case "failed":
                transient = turn.failure is not None and turn.failure.retryable
                self.exit_code = ExitCode.TRANSIENT if transient else ExitCode.FAILED
            case "cancelled":
                self.exit_code = ExitCode.INTERRUPTED
            case "finished" | "rejected":
                pass

    def _end_call(self, result: ToolResult) -> None:
        value = result.return_value
        if value.was_rejected:
            tool = self._tools.get(result.tool_call_id, "")
            self.denials.setdefault(result.tool_call_id, DeniedCall(result.tool_call_id, tool))
        if not value.is_error:
            self.files_changed |= {
                block.path: None for block in value.display if isinstance(block, DiffBlock)
            }

    def _record_nested(self, event: SubagentEvent) -> None:
        try:
            nested = unwrap(event.event)
        except UnknownWireMessage:
            return
        if isinstance(nested, ToolCall | ToolResult | SubagentEvent):
            self.record(nested)


def to_turn_failure(error: KimiTuiError) -> TurnFailure:
    """Return `error` in the form of a result."""
    return TurnFailure(
        error.what,
        error.hint,
        type(error).__name__,
        getattr(error, "status_code", None),
        exit_code_of(error) is ExitCode.TRANSIENT,
    )
