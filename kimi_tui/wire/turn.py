"""Turn events: steps, tool calls, plans and todo lists."""

from typing import Any, Literal

from kimi_tui.base.content_parts import ContentPart, UserInput
from kimi_tui.base.frozen import frozen
from kimi_tui.wire.display_blocks import DisplayBlock, TodoItem

TurnOutcome = Literal["finished", "cancelled", "rejected", "max_steps", "limit", "failed"]


@frozen
class TurnBegin:
    """A turn starts with the user's message."""

    user_input: UserInput
    prompt_id: str | None = None
    """The `prompt_id` of the command that started the turn. Not in kimi-cli."""


@frozen
class SteerInput:
    """The user sent a message to the running turn. The next step sees it."""

    user_input: UserInput


@frozen
class TurnFailure:
    """Why a turn ended early: what happened and what to do, one sentence each."""

    what: str
    hint: str = ""
    kind: str = ""
    """Class name of the error, as in `base.errors`."""
    status_code: int | None = None
    retryable: bool = False


@frozen
class TurnEnd:
    """The turn has ended. The payload isn't in kimi-cli; clients of Wire 1.10 ignore it."""

    outcome: TurnOutcome = "finished"
    steps: int = 0
    failure: TurnFailure | None = None
    files: tuple[str, ...] = ()
    """Files that tools changed since the previous turn ended. Lists only files covered by snapshots."""


@frozen
class StepBegin:
    """A step starts: a model request and the tool calls in its response."""

    n: int


@frozen
class StepInterrupted:
    """The step was canceled or failed. Its text so far is kept."""


@frozen
class StepRetry:
    """The model request failed and is retried: discard everything streamed by the failed attempt."""

    n: int
    next_attempt: int
    max_attempts: int
    wait_s: float
    error_type: str
    status_code: int | None = None


@frozen
class ToolReturn:
    """Result of a tool: `output` for the model, `message` as a note on the output, `display` for the user."""

    is_error: bool = False
    output: str | tuple[ContentPart, ...] = ""
    message: str = ""
    display: tuple[DisplayBlock, ...] = ()
    extras: dict[str, Any] | None = None
    """`{"rejected": True}`: the call wasn't allowed. `{"not_run": True}`: the call never ran, because of an
    interrupt or another rejected call. Not in kimi-cli.
    """

    @property
    def was_rejected(self) -> bool:
        """Whether the call wasn't allowed."""
        return bool((self.extras or {}).get("rejected"))

    @property
    def was_not_run(self) -> bool:
        """Whether the call never ran, but wasn't rejected."""
        return bool((self.extras or {}).get("not_run"))


@frozen
class ToolResult:
    """A tool call ended."""

    tool_call_id: str
    return_value: ToolReturn


@frozen
class ToolOutput:
    """Live output of a running tool. The tool's result repeats all relevant output. Not in kimi-cli."""

    tool_call_id: str
    text: str


@frozen
class CompactionBegin:
    """The context is being compacted."""


@frozen
class CompactionEnd:
    """The compaction succeeded or failed. The counts aren't in kimi-cli."""

    tokens_before: int | None = None
    tokens_after: int | None = None


@frozen
class PlanDisplay:
    """A plan for the user to review before it is executed."""

    content: str
    file_path: str


@frozen
class TodoUpdate:
    """The current todo list. Not in kimi-cli."""

    items: tuple[TodoItem, ...]
