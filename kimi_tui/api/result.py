"""What a turn came to."""

from dataclasses import dataclass, field, replace

from kimi_tui.base.content import TextPart
from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.usage import TokenUsage
from kimi_tui.wire.channel import Outgoing
from kimi_tui.wire.display import DiffBlock
from kimi_tui.wire.events import (
    CheckpointCreated,
    CostUpdate,
    StatusUpdate,
    StepBegin,
    StepRetry,
    ToolResult,
    TurnEnd,
    TurnFailure,
    TurnOutcome,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnResult:
    """The end of a turn, and what led to it."""

    outcome: TurnOutcome = "finished"
    text: str = ""
    """What the model said last: its answer, when the turn finished."""
    error: TurnFailure | None = None
    """Why the turn ended early."""
    steps: int = 0
    usage: TokenUsage = field(default_factory=TokenUsage)
    """Of the session so far."""
    cost_usd: float | None = None
    """Of the session so far; None when the model has no price."""
    files_changed: tuple[str, ...] = ()
    """What tools changed: first what file tools wrote, in order, then the rest."""
    denied: tuple[str, ...] = ()
    """The ids of tool calls that were not allowed."""
    checkpoint: int | None = None
    """Where the turn began: `revert` leads back to just before it."""


class TurnError(KimiTuiError):
    """A turn did not finish; `result` has what came of it."""

    def __init__(self, result: TurnResult) -> None:
        error = result.error or TurnFailure(f"The turn ended as {result.outcome}.")
        super().__init__(error.what, hint=error.hint)
        self.result = result


@dataclass(slots=True)
class Account:
    """Adds up the events of one turn."""

    result: TurnResult = field(default_factory=TurnResult)
    _words: list[str] = field(default_factory=list)
    _files: dict[str, None] = field(default_factory=dict)

    def count(self, event: Outgoing) -> None:
        """Take `event` into account."""
        match event:
            case StepBegin() | StepRetry():
                self._words.clear()
            case TextPart(text=text):
                self._words.append(text)
            case StatusUpdate(session_usage=TokenUsage() as usage):
                self.result = replace(self.result, usage=usage)
            case CostUpdate(cost_usd=cost):
                self.result = replace(self.result, cost_usd=cost)
            case CheckpointCreated(kind="user", id=number) if self.result.checkpoint is None:
                self.result = replace(self.result, checkpoint=number)
            case ToolResult(tool_call_id=call_id, return_value=value):
                if value.extras and value.extras.get("rejected"):
                    self.result = replace(self.result, denied=(*self.result.denied, call_id))
                if not value.is_error:
                    self._files |= {it.path: None for it in value.display if isinstance(it, DiffBlock)}
            case TurnEnd(outcome=outcome, steps=steps, failure=failure, files=files):
                self.result = replace(
                    self.result,
                    outcome=outcome,
                    text="".join(self._words),
                    error=failure,
                    steps=steps,
                    files_changed=tuple(self._files | dict.fromkeys(files)),
                )
