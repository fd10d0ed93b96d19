"""A session as it is told: what it is, where it stands, and what was said in it before."""

from dataclasses import field

from kimi_tui.base.content import UserInput
from kimi_tui.base.usage import TokenUsage
from kimi_tui.base.value import value
from kimi_tui.wire.mcp import McpStatus


@value
class MCPLoadingBegin:
    """MCP servers are being connected."""


@value
class MCPLoadingEnd:
    """Every MCP server has answered or failed."""


@value
class StatusUpdate:
    """What the status bar shows; None means unchanged."""

    context_usage: float | None = None
    """Share of the window in use, 0 to 1."""
    context_tokens: int | None = None
    max_context_tokens: int | None = None
    token_usage: TokenUsage | None = None
    """Usage of the step that has just ended."""
    message_id: str | None = None
    """Of that step's answer."""
    plan_mode: bool | None = None
    mcp_status: McpStatus | None = None
    session_usage: TokenUsage | None = None
    """Ours: usage of the session so far."""


@value
class CostUpdate:
    """Ours: what the session has cost so far, in US dollars; None when the model has no price."""

    cost_usd: float | None = None


@value
class SlashCommandInfo:
    """A command that the engine understands in RunSlash."""

    name: str
    description: str
    aliases: tuple[str, ...] = ()
    takes_turn: bool = False
    """Whether a TurnBegin and a TurnEnd come for it."""
    argument: str = ""
    """What its argument is called, in brackets when it may be left out; empty when it needs none."""
    completes: bool = False
    """Whether CompleteArgument has answers for it."""


@value
class SessionInfo:
    """Ours: which session this is. Sent when a session opens and when any of it changes."""

    session_id: str
    work_dir: str
    title: str
    model: str
    model_kind: str
    """The provider's type: kimi, openai, anthropic, scripted or demo; empty when no model is set."""
    agent: str
    thinking: bool = False
    yolo: bool = False
    plan_mode: bool = False
    accept_edits: bool = False
    """Whether harmless edits in the work dir need no approval."""
    sandbox: bool = False
    """Whether the agent's commands run in a sandbox."""
    capabilities: tuple[str, ...] = ()
    slash_commands: tuple[SlashCommandInfo, ...] = ()
    models: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    """The agent's own; those of a client are not among them."""
    recording: str = ""
    """The file that records what goes over the Wire."""
    hooks: dict[str, int] = field(default_factory=dict)
    """How many hooks each event has that has any."""
    read_only: bool = False
    in_use: bool = False
    """Of a session that is only read: whether another process writes it now."""

    def command(self, name: str) -> SlashCommandInfo | None:
        """The engine's command of that name or alias."""
        return next((it for it in self.slash_commands if name in (it.name, *it.aliases)), None)

    def command_in(self, user_input: UserInput) -> SlashCommandInfo | None:
        """The engine's command that this is; other text that begins with a slash is for the model."""
        if not isinstance(user_input, str) or not user_input.startswith("/"):
            return None
        words = user_input[1:].split(maxsplit=1)
        return self.command(words[0]) if words else None


@value
class ReplayBegin:
    """Ours: what follows, up to ReplayEnd, was said before: in an earlier run of this session, or on the line
    of the conversation that a jump led to.
    """

    anew: bool = False
    """Whether what was shown until now is not the conversation any more: what follows takes its place."""


@value
class ReplayEnd:
    """Ours: the replay is over; events are live from here."""


@value
class SnapshotProgress:
    """Ours: the files are being looked at. When `done` is `total` that has ended."""

    done: int
    total: int | None = None
    """None while it is not known."""
    delays: str = ""
    """The tool that waits for it."""
