"""A turn as it is told: its steps, its tools, its plan and its todos."""

from typing import Any, Literal

from kimi_tui.base.content import ContentPart, UserInput
from kimi_tui.base.value import value
from kimi_tui.wire.display import DisplayBlock, TodoItem

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
    files: tuple[str, ...] = ()
    """The files that tools changed since the turn before ended, as far as the files' states are kept."""


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
class CompactionBegin:
    """The context is being compacted."""


@value
class CompactionEnd:
    """The compaction ended, well or not. The counts are ours."""

    tokens_before: int | None = None
    tokens_after: int | None = None


@value
class PlanDisplay:
    """The plan to look at before it is carried out."""

    content: str
    file_path: str


@value
class TodoUpdate:
    """Ours: the todo list as it now stands."""

    items: tuple[TodoItem, ...]
