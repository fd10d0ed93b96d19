"""Result of a turn."""

from dataclasses import dataclass, field, replace

from kimi_tui.base.content_parts import TextPart
from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.token_usage import TokenUsage
from kimi_tui.wire.channel import Outgoing
from kimi_tui.wire.display_blocks import DiffBlock
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
    """The outcome of a turn."""

    outcome: TurnOutcome = "finished"
    text: str = ""
    """The model's last text; its response if the turn finished."""
    error: TurnFailure | None = None
    """Why the turn failed or ended early."""
    steps: int = 0
    usage: TokenUsage = field(default_factory=TokenUsage)
    """Token usage of the session so far."""
    cost_usd: float | None = None
    """Cost of the session so far, in USD. None if the model has no price."""
    files_changed: tuple[str, ...] = ()
    """Files that tools changed: files written by file tools, in order, then the others."""
    denied: tuple[str, ...] = ()
    """Ids of tool calls that were rejected."""
    checkpoint: int | None = None
    """Checkpoint of the prompt. `revert` to it to undo the turn."""


class TurnError(KimiTuiError):
    """A turn didn't finish; `result` has the details."""

    def __init__(self, result: TurnResult) -> None:
        error = result.error or TurnFailure(f"The turn ended early: {result.outcome}.")
        super().__init__(error.what, hint=error.hint)
        self.result = result


@dataclass(slots=True)
class TurnRecorder:
    """Builds the result of a turn from its events."""

    result: TurnResult = field(default_factory=TurnResult)
    _text_parts: list[str] = field(default_factory=list)
    _files: dict[str, None] = field(default_factory=dict)

    def record(self, event: Outgoing) -> None:
        """Add `event` to the result."""
        match event:
            case StepBegin() | StepRetry():
                self._text_parts.clear()
            case TextPart(text=text):
                self._text_parts.append(text)
            case StatusUpdate(session_usage=TokenUsage() as usage):
                self.result = replace(self.result, usage=usage)
            case CostUpdate(cost_usd=cost):
                self.result = replace(self.result, cost_usd=cost)
            case CheckpointCreated(kind="user", id=number) if self.result.checkpoint is None:
                self.result = replace(self.result, checkpoint=number)
            case ToolResult(tool_call_id=call_id, return_value=value):
                if value.was_rejected:
                    self.result = replace(self.result, denied=(*self.result.denied, call_id))
                if not value.is_error:
                    self._files |= {it.path: None for it in value.display if isinstance(it, DiffBlock)}
            case TurnEnd(outcome=outcome, steps=steps, failure=failure, files=files):
                self.result = replace(
                    self.result,
                    outcome=outcome,
                    text="".join(self._text_parts),
                    error=failure,
                    steps=steps,
                    files_changed=tuple(self._files | dict.fromkeys(files)),
                )
