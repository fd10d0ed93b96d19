"""Session events: information, status and replay."""

from dataclasses import field
from typing import Literal

from kimi_tui.base.content_parts import UserInput
from kimi_tui.base.frozen import frozen
from kimi_tui.base.thinking_effort import ThinkingEffort
from kimi_tui.base.token_usage import TokenUsage
from kimi_tui.wire.mcp_status import McpStatus


@frozen
class MCPLoadingBegin:
    """MCP servers are connecting."""


@frozen
class MCPLoadingEnd:
    """All MCP servers are connected or have failed."""


CacheMissCause = Literal["model", "thinking", "tools", "conversation", "idle", "server"]
"""Cause of a cache miss: a change since the previous request, or another reason.

`tools`: the system prompt or the tools changed. `conversation`: a revert or a compaction changed the
conversation. `idle`: more than five minutes passed. `server`: nothing changed.
"""


@frozen
class CacheMiss:
    """A request whose beginning wasn't in the cache of the model's server. Not in kimi-cli."""

    tokens: int
    """Input tokens that were billed in full."""
    cause: CacheMissCause


@frozen
class StatusUpdate:
    """Changes of the status bar. None means unchanged."""

    context_usage: float | None = None
    """Used fraction of the context window, 0 to 1."""
    context_tokens: int | None = None
    max_context_tokens: int | None = None
    token_usage: TokenUsage | None = None
    """Usage of the step that just ended."""
    message_id: str | None = None
    """Id of the response of the step that just ended."""
    plan_mode: bool | None = None
    mcp_status: McpStatus | None = None
    session_usage: TokenUsage | None = None
    """Total usage of the session. Not in kimi-cli."""
    cache_miss: CacheMiss | None = None
    """Cache miss of the step that just ended, if any. Not in kimi-cli."""


@frozen
class CostUpdate:
    """Total cost of the session in US dollars; None if the model has no price. Not in kimi-cli."""

    cost_usd: float | None = None
    day: str = ""
    """Local date of the last model call with a price, in ISO format; empty if unknown."""
    day_cost_usd: float = 0.0
    """Cost of the session's model calls on `day`, in US dollars."""


@frozen
class SlashCommandInfo:
    """A slash command of the engine, run by RunSlash."""

    name: str
    description: str
    aliases: tuple[str, ...] = ()
    takes_turn: bool = False
    """Whether the command runs as a turn, with TurnBegin and TurnEnd."""
    argument: str = ""
    """Name of the argument, in brackets if optional; empty for a command without an argument."""
    completes: bool = False
    """Whether CompleteArgument supports the command."""


@frozen(kw_only=True)
class ModelDetails:
    """A configured model. Not in kimi-cli."""

    name: str
    """Name under `[models]`, for SetModel."""
    model: str
    """The model's name on its server."""
    provider: str
    """Name of the model's provider under `[providers]`."""
    max_context_size: int
    """Context window in tokens."""
    input_price: float | None = None
    """US dollars per million input tokens; None if unknown."""
    output_price: float | None = None
    """US dollars per million output tokens; None if unknown."""
    capabilities: tuple[str, ...] = ()
    thinking_levels: tuple[ThinkingEffort, ...] = ()
    """Supported thinking efforts; empty for a model that can't think."""
    display_name: str = ""
    """Name to show instead of `name`; empty to show `name`."""

    @property
    def label(self) -> str:
        """The name to show."""
        return self.display_name or self.name


@frozen
class SessionInfo:
    """Information about the session. Sent when it opens and when it changes. Not in kimi-cli."""

    session_id: str
    work_dir: str
    title: str
    model: str
    model_kind: str
    """Provider type: kimi, openai, anthropic, scripted or demo; empty if no model is set."""
    agent: str
    thinking: bool = False
    """Whether the model thinks before it responds."""
    yolo: bool = False
    plan_mode: bool = False
    accept_edits: bool = False
    """Whether safe edits in the working directory are approved automatically."""
    sandbox: bool = False
    """Whether the agent's commands run in a sandbox."""
    capabilities: tuple[str, ...] = ()
    slash_commands: tuple[SlashCommandInfo, ...] = ()
    models: tuple[str, ...] = ()
    model_details: tuple[ModelDetails, ...] = ()
    """Details of `models`, in the same order."""
    thinking_effort: ThinkingEffort = "off"
    """Thinking effort that the model uses."""
    thinking_levels: tuple[ThinkingEffort, ...] = ()
    """Thinking efforts that the model supports; empty for a model that can't think."""
    tools: tuple[str, ...] = ()
    """The agent's own tools, without a client's tools."""
    recording: str = ""
    """Path of the recording of Wire messages."""
    hooks: dict[str, int] = field(default_factory=dict)
    """Number of hooks by event, for events with hooks."""
    read_only: bool = False
    in_use: bool = False
    """Whether another process is writing to this read-only session."""
    resident: bool = False
    """Whether the session continues in the resident engine after all front ends detach."""

    @property
    def model_label(self) -> str:
        """The name of the model to show; empty if no model is set."""
        return next((it.label for it in self.model_details if it.name == self.model), self.model)

    def find_command(self, name: str) -> SlashCommandInfo | None:
        """Return the engine's command with this name or alias."""
        return next((it for it in self.slash_commands if name in (it.name, *it.aliases)), None)

    def parse_command(self, user_input: UserInput) -> SlashCommandInfo | None:
        """Return the engine's command in `user_input`; None for a message to the model."""
        if not isinstance(user_input, str) or not user_input.startswith("/"):
            return None
        parts = user_input[1:].split(maxsplit=1)
        return self.find_command(parts[0]) if parts else None


@frozen
class ReplayBegin:
    """Start of replayed events, up to ReplayEnd. Not in kimi-cli.

    The events are from an earlier run of the session, or from the branch that a revert restored.
    """

    anew: bool = False
    """Whether the replay replaces the conversation shown before."""


@frozen
class ReplayEnd:
    """End of the replay. The following events are live. Not in kimi-cli."""


@frozen
class SnapshotProgress:
    """Progress of a file scan, which is complete when `done` equals `total`. Not in kimi-cli."""

    done: int
    total: int | None = None
    """None while unknown."""
    delays: str = ""
    """Tool that is waiting for the scan; empty if none is waiting."""
