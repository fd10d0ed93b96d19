"""The moments at which hooks run, each with what its hooks are told (names and fields as in kimi-cli)."""

from dataclasses import field, fields
from typing import Any, Literal, cast

from kimi_tui.base.hook_events import HookEventName
from kimi_tui.base.value import value

_NOT_TOLD = "not told"


def _known_as() -> Any:
    return field(default=(), metadata={_NOT_TOLD: True})


@value(kw_only=True)
class PreToolUse:
    """A tool is about to be called. A block keeps it from running."""

    tool_name: str
    """As the model knows it."""
    tool_input: dict[str, Any]
    tool_call_id: str
    known_as: tuple[str, ...] = _known_as()
    """Its other names, which matchers may use."""


@value(kw_only=True)
class PostToolUse:
    """A tool did what it was called for. What a block says is told to the model with the result."""

    tool_name: str
    tool_input: dict[str, Any]
    tool_output: str
    tool_call_id: str
    known_as: tuple[str, ...] = _known_as()


@value(kw_only=True)
class PostToolUseFailure:
    """A tool was called and failed. What a block says is told to the model with the error."""

    tool_name: str
    tool_input: dict[str, Any]
    error: str
    tool_call_id: str
    known_as: tuple[str, ...] = _known_as()


@value(kw_only=True)
class UserPromptSubmit:
    """The user said something. A block keeps it from the model."""

    prompt: str


@value(kw_only=True)
class Stop:
    """The model has ended its turn. A block makes it go on, once."""

    stop_hook_active: bool
    """Whether it went on already since a hook wanted it to."""


@value(kw_only=True)
class StopFailure:
    """A turn was ended by an error or a limit."""

    error_type: str
    error_message: str


@value(kw_only=True)
class SessionStart:
    """A session was opened."""

    source: Literal["startup", "resume"]


@value(kw_only=True)
class SessionEnd:
    """A session is being closed."""

    reason: Literal["exit"] = "exit"


@value(kw_only=True)
class SubagentStart:
    """A sub-agent is about to be given a task. A block keeps it from starting."""

    agent_name: str
    prompt: str


@value(kw_only=True)
class SubagentStop:
    """A sub-agent has ended."""

    agent_name: str
    response: str


@value(kw_only=True)
class PreCompact:
    """The conversation is about to be compacted. A block keeps it as it is while there is room."""

    trigger: Literal["auto", "manual"]
    token_count: int


@value(kw_only=True)
class PostCompact:
    """The conversation was compacted."""

    trigger: Literal["auto", "manual"]
    estimated_token_count: int


@value(kw_only=True)
class Notification:
    """The user is told something, or asked: `permission_prompt` and `question_prompt` wait for an answer."""

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
    | Notification
)


def name_of(event: HookEvent) -> HookEventName:
    """How the config names `event`."""
    return cast("HookEventName", type(event).__name__)


def told(event: HookEvent) -> dict[str, Any]:
    """What hooks are told of `event`, as JSON values."""
    return {each.name: getattr(event, each.name) for each in fields(event) if _NOT_TOLD not in each.metadata}


def targets_of(event: HookEvent) -> tuple[str, ...] | None:
    """What a matcher looks at, the name that is shown first; None when it looks at nothing."""
    match event:
        case PreToolUse() | PostToolUse() | PostToolUseFailure():
            return (event.tool_name, *event.known_as)
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
        case Notification(sink=sink, notification_type=notification_type):
            return (notification_type, sink)
        case Stop():
            return None


def shown_target(event: HookEvent) -> str:
    """What front ends are told that `event` is about; empty where that says nothing."""
    if isinstance(event, UserPromptSubmit):
        return ""  # it stands in the conversation
    return (targets_of(event) or ("",))[0]


def can_be_blocked(event: HookEvent) -> bool:
    """Whether a hook's no means anything: the others are only told."""
    return isinstance(
        event,
        PreToolUse | PostToolUse | PostToolUseFailure | UserPromptSubmit | Stop | SubagentStart | PreCompact,
    )


def takes_plain_text(event: HookEvent) -> bool:
    """Whether what a hook prints is context for the model though it is no JSON."""
    return isinstance(event, UserPromptSubmit | SessionStart)
