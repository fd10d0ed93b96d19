"""Hook events and their payloads. Names and fields are those of kimi-cli."""

from dataclasses import field, fields
from typing import Any, Literal, cast

from kimi_tui.base.frozen import frozen
from kimi_tui.base.hook_events import HookEventName

_NOT_SERIALIZED = "not_serialized"


def _aliases_field() -> Any:
    return field(default=(), metadata={_NOT_SERIALIZED: True})


@frozen(kw_only=True)
class PreToolUse:
    """A tool is about to be called. A block prevents the call."""

    tool_name: str
    """The name the model uses."""
    tool_input: dict[str, Any]
    tool_call_id: str
    tool_aliases: tuple[str, ...] = _aliases_field()
    """Other names of the tool, which matchers may use."""


@frozen(kw_only=True)
class PostToolUse:
    """A tool call succeeded. The reason of a block is added to the result for the model."""

    tool_name: str
    tool_input: dict[str, Any]
    tool_output: str
    tool_call_id: str
    tool_aliases: tuple[str, ...] = _aliases_field()


@frozen(kw_only=True)
class PostToolUseFailure:
    """A tool call failed. The reason of a block is added to the error for the model."""

    tool_name: str
    tool_input: dict[str, Any]
    error: str
    tool_call_id: str
    tool_aliases: tuple[str, ...] = _aliases_field()


@frozen(kw_only=True)
class UserPromptSubmit:
    """The user sent a prompt. A block keeps it from the model."""

    prompt: str


@frozen(kw_only=True)
class Stop:
    """The model has ended its turn. A block makes it continue, once."""

    stop_hook_active: bool
    """Whether the turn was already continued because of a hook."""


@frozen(kw_only=True)
class StopFailure:
    """A turn ended with an error or at a limit."""

    error_type: str
    error_message: str


@frozen(kw_only=True)
class SessionStart:
    """A session was opened."""

    source: Literal["startup", "resume"]


@frozen(kw_only=True)
class SessionEnd:
    """A session is being closed."""

    reason: Literal["exit"] = "exit"


@frozen(kw_only=True)
class SubagentStart:
    """A sub-agent is about to start. A block prevents it."""

    agent_name: str
    prompt: str


@frozen(kw_only=True)
class SubagentStop:
    """A sub-agent has ended."""

    agent_name: str
    response: str


@frozen(kw_only=True)
class PreCompact:
    """The conversation is about to be compacted. A block prevents that unless the context window is full."""

    trigger: Literal["auto", "manual"]
    token_count: int


@frozen(kw_only=True)
class PostCompact:
    """The conversation was compacted."""

    trigger: Literal["auto", "manual"]
    estimated_token_count: int


@frozen(kw_only=True)
class UserNotification:
    """A notification for the user. `permission_prompt` and `question_prompt` wait for an answer."""

    sink: str
    notification_type: str
    title: str
    body: str
    severity: Literal["info", "warning", "error"]


HookEvent = (
    PreToolUse
    | PostToolUse
    | PostToolUseFailure
    | UserPromptSubmit
    | Stop
    | StopFailure
    | SessionStart
    | SessionEnd
    | SubagentStart
    | SubagentStop
    | PreCompact
    | PostCompact
    | UserNotification
)


def name_of(event: HookEvent) -> HookEventName:
    """Return the name of `event` in the config."""
    if isinstance(event, UserNotification):
        return "Notification"
    return cast("HookEventName", type(event).__name__)


def hook_payload(event: HookEvent) -> dict[str, Any]:
    """Return the fields that hooks receive for `event`, as JSON values."""
    return {
        each.name: getattr(event, each.name) for each in fields(event) if _NOT_SERIALIZED not in each.metadata
    }


def matcher_targets(event: HookEvent) -> tuple[str, ...] | None:
    """Return the texts that a matcher is applied to, the displayed one first; None without a target."""
    match event:
        case PreToolUse() | PostToolUse() | PostToolUseFailure():
            return (event.tool_name, *event.tool_aliases)
        case UserPromptSubmit(prompt=prompt):
            return (prompt,)
        case StopFailure(error_type=error_type):
            return (error_type,)
        case SessionStart(source=source):
            return (source,)
        case SessionEnd(reason=reason):
            return (reason,)
        case SubagentStart(agent_name=agent_name) | SubagentStop(agent_name=agent_name):
            return (agent_name,)
        case PreCompact(trigger=trigger) | PostCompact(trigger=trigger):
            return (trigger,)
        case UserNotification(sink=sink, notification_type=notification_type):
            return (notification_type, sink)
        case Stop():
            return None


def display_target(event: HookEvent) -> str:
    """Return the target of `event` to display; may be empty."""
    if isinstance(event, UserPromptSubmit):
        return ""  # the conversation shows it
    return (matcher_targets(event) or ("",))[0]


def can_be_blocked(event: HookEvent) -> bool:
    """Return whether a hook can block `event`. Other events only notify hooks."""
    return isinstance(
        event,
        PreToolUse | PostToolUse | PostToolUseFailure | UserPromptSubmit | Stop | SubagentStart | PreCompact,
    )


def accepts_plain_text(event: HookEvent) -> bool:
    """Return whether output of a hook that isn't JSON is context for the model."""
    return isinstance(event, UserPromptSubmit | SessionStart)
