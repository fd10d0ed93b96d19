"""What a run has done so far, counted from the events."""

from dataclasses import dataclass, field

from kimi_tui.base.content import TextPart
from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.exit_codes import ExitCode, exit_code_of
from kimi_tui.base.message import ToolCall
from kimi_tui.base.output_schema import Structured
from kimi_tui.base.usage import TokenUsage
from kimi_tui.base.value import value
from kimi_tui.wire.channel import Outgoing
from kimi_tui.wire.codec import UnknownWireMessage, unwrap
from kimi_tui.wire.display import DiffBlock
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
from kimi_tui.wire.mcp import McpStatus
from kimi_tui.wire.requests import ApprovalRequest


@value
class Denial:
    """A tool call that nobody allowed."""

    tool_call_id: str
    tool: str = ""
    action: str = ""
    description: str = ""


@dataclass(slots=True)
class Tally:
    """Counts what the events say."""

    session_id: str = ""
    turns: int = 0
    steps: int = 0
    usage: TokenUsage = field(default_factory=TokenUsage)
    cost_usd: float | None = None
    denials: dict[str, Denial] = field(default_factory=dict)
    files_changed: dict[str, None] = field(default_factory=dict)
    checkpoints: list[int] = field(default_factory=list)
    plan: PlanDisplay | None = None
    """The plan as it was shown last."""
    outcome: str = "finished"
    """Of the last turn; `failed` once the run can't go on."""
    error: TurnFailure | None = None
    """What ended the run early, beside a signal."""
    exit_code: ExitCode = ExitCode.DONE
    mcp: McpStatus | None = None
    """How the MCP servers are; None when there are none."""
    structured: Structured | None = None
    """The answer, once it fits the output schema."""
    _words: list[str] = field(default_factory=list)
    _tools: dict[str, str] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """What the model said in its last step."""
        return "".join(self._words)

    def next(self) -> "Tally":
        """A tally of what comes next in the same session, of which usage, costs and servers are."""
        return Tally(session_id=self.session_id, usage=self.usage, cost_usd=self.cost_usd, mcp=self.mcp)

    def count(self, event: Outgoing) -> None:
        """Take `event` into account."""
        match event:
            case SessionInfo(session_id=session_id):
                self.session_id = session_id
            case TurnBegin():
                self.turns += 1
            case StepBegin():
                self.steps += 1
                self._words.clear()
            case StepRetry():
                self._words.clear()
            case TextPart(text=text):
                self._words.append(text)
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
                self._count_nested(event)

    def deny(self, request: ApprovalRequest) -> None:
        """A tool was denied, since nobody is there to allow it."""
        self.denials[request.tool_call_id] = Denial(
            request.tool_call_id, request.sender, request.action, request.description
        )

    def fail(self, error: KimiTuiError) -> None:
        """The run can't go on."""
        self.error = failure_of(error)
        self.outcome = "failed"
        self.exit_code = exit_code_of(error)

    @property
    def may_go_on(self) -> bool:
        """Whether another turn makes sense."""
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
        if value.extras and value.extras.get("rejected"):
            tool = self._tools.get(result.tool_call_id, "")
            self.denials.setdefault(result.tool_call_id, Denial(result.tool_call_id, tool))
        if not value.is_error:
            self.files_changed |= {
                block.path: None for block in value.display if isinstance(block, DiffBlock)
            }

    def _count_nested(self, event: SubagentEvent) -> None:
        try:
            nested = unwrap(event.event)
        except UnknownWireMessage:
            return
        if isinstance(nested, ToolCall | ToolResult | SubagentEvent):
            self.count(nested)


def failure_of(error: KimiTuiError) -> TurnFailure:
    """`error` as a result tells it."""
    return TurnFailure(
        error.what,
        error.hint,
        type(error).__name__,
        getattr(error, "status_code", None),
        exit_code_of(error) is ExitCode.TRANSIENT,
    )
