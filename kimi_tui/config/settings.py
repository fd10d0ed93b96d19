"""Settings models: one model per table of the config file (`docs/configuration.md`)."""

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, SecretStr
from pydantic_core import PydanticKnownError

from kimi_tui.base.hook_events import HookEventName
from kimi_tui.base.paths import data_dir
from kimi_tui.base.thinking_effort import THINKING_EFFORTS, ThinkingEffort, parse_thinking_effort
from kimi_tui.config.startup_settings import UISettings as UISettings
from kimi_tui.config.theme_names import builtin_theme_names, theme_exists, user_theme_names
from kimi_tui.i18n.locale import LanguageSetting

ProviderType = Literal["kimi", "openai", "openai_legacy", "openai_responses", "anthropic", "scripted", "demo"]
ForeignProviderType = Literal["google_genai", "gemini", "vertexai", "_echo", "_chaos"]
"""Provider types of kimi-cli that are not supported: a config with one loads, but using it is an error."""
Capability = Literal["thinking", "always_thinking", "image_in", "video_in"]

BUILTIN_STRATEGIES = {
    "LLMSummaryCompaction": "kimi_tui.compaction.llm_summary:LLMSummaryCompaction",
    "ToolResultHidingCompaction": "kimi_tui.compaction.hide_tool_results:ToolResultHidingCompaction",
    "HidingThenSummaryCompaction": "kimi_tui.compaction.hiding_then_summary:HidingThenSummaryCompaction",
    "FallbackCompaction": "kimi_tui.compaction.fallback:FallbackCompaction",
}
"""Built-in compaction strategies by class name."""


def _http_url(value: str | None) -> str | None:
    if value and not value.startswith(("http://", "https://")):
        raise ValueError("must be a URL that begins with http:// or https://")
    return value or None


def _theme_name(value: str) -> str:
    if not theme_exists(value, data_dir()):
        raise _unknown_value(*builtin_theme_names(), *user_theme_names(data_dir()))
    return value


def _thinking_level(value: object) -> ThinkingEffort:
    effort = parse_thinking_effort(value)
    if effort is None:
        raise _unknown_value(*THINKING_EFFORTS, "true", "false")
    return effort


def _unknown_value(*valid: str) -> PydanticKnownError:
    return PydanticKnownError("literal_error", {"expected": " or ".join(f"'{name}'" for name in valid)})


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)


class ProviderConfig(_Table):
    """A server or service that provides models."""

    type: Annotated[
        Literal[ProviderType, ForeignProviderType],
        BeforeValidator(lambda value: "scripted" if value == "_scripted_echo" else value),
    ]
    """Protocol. `openai` is the Chat Completions API, which most servers support; `openai_responses` is the
    Responses API.
    """
    base_url: Annotated[str | None, AfterValidator(_http_url)] = None
    """Base URL including the version, such as `http://localhost:11434/v1`."""
    api_key: SecretStr = SecretStr("")
    """API key, or `env:NAME` to read it from the environment."""
    custom_headers: dict[str, str] = {}
    """HTTP headers to send with every request."""
    env: dict[str, str] = {}
    """Environment variables to set for this provider only."""
    scripts: str | None = None
    """File of scripts, for type `scripted`."""
    reasoning_key: str | None = None
    """Message field for thinking, for type `openai`. Empty to never send thinking back. The default depends
    on the server.
    """
    idle_timeout_s: float = Field(120.0, gt=0)
    """Seconds without data after which a response counts as interrupted."""


class ModelPrice(_Table):
    """Price in US dollars per million tokens."""

    input: float = Field(0.0, ge=0)
    """Price of input tokens."""
    output: float = Field(0.0, ge=0)
    """Price of output tokens."""
    cached: float = Field(0.0, ge=0)
    """Price of input tokens read from the provider's cache."""


class ModelSettings(_Table):
    """A model of a provider."""

    provider: str
    """Name of its provider under `[providers]`."""
    model: str
    """Model name to send to the provider."""
    max_context_size: int = Field(gt=0)
    """Size of the context window in tokens."""
    display_name: str = ""
    """Name to show. By default the name of this table."""
    capabilities: frozenset[Capability] | None = None
    """Capabilities of the model. By default, the known capabilities of the provider's models."""
    temperature: float | None = Field(None, ge=0, le=2)
    """Sampling temperature; by default the server's."""
    top_p: float | None = Field(None, gt=0, le=1)
    """Nucleus sampling threshold; by default the server's."""
    price: ModelPrice | None = None
    """Price per token. Without it no cost is shown and `--max-cost` has no effect."""
    max_output_tokens: int | None = Field(None, gt=0)
    """Maximum number of tokens in a response."""


class LoopControlSettings(_Table):
    """Limits of a turn."""

    max_steps_per_turn: int = Field(1000, ge=1)
    """Maximum number of model calls in a turn."""
    max_retries_per_step: int = Field(3, ge=1)
    """Maximum number of attempts for a model call."""
    reserved_context_size: int | None = Field(None, ge=0)
    """Tokens to keep free for the response, at most half of the context window. By default the model's
    `max_output_tokens`, at most 15 % of the window.
    """
    compaction_trigger_ratio: float = Field(0.85, gt=0, le=1)
    """Fraction of the context window at which the conversation is compacted."""
    repetition_note_after: int = Field(3, ge=0)
    """Number of identical calls with identical results after which the model is warned; 0 to never warn."""
    repetition_stop_after: int = Field(8, ge=0)
    """Number of identical calls with identical results after which the turn is stopped."""


def _resolve_builtin_strategy(value: object) -> object:
    """Return the path of a built-in strategy. kimi-cli's strategies have the same names."""
    theirs = "kimi_cli.soul.compaction:"
    return BUILTIN_STRATEGIES.get(value.removeprefix(theirs), value) if isinstance(value, str) else value


def _class_path(value: str) -> str:
    module, colon, name = value.partition(":")
    if not (colon and name.isidentifier() and all(part.isidentifier() for part in module.split("."))):
        raise ValueError("must have the form module:Class")
    return value


class BackgroundSettings(_Table):
    """Background tasks."""

    max_running_tasks: int = Field(20, ge=1)
    """Maximum number of background tasks of a session that run at the same time."""


class BudgetSettings(_Table):
    """Cost limits that all sessions of a data directory share."""

    per_day: float | None = Field(None, gt=0)
    """US dollars per day, for sessions and fleets together. Models without a price count as free."""


class CompactionSettings(_Table):
    """How a conversation that fills the context window is compacted."""

    strategy: Annotated[str, BeforeValidator(_resolve_builtin_strategy), AfterValidator(_class_path)] = (
        BUILTIN_STRATEGIES["LLMSummaryCompaction"]
    )
    """Name of a built-in strategy, or `module:Class`."""


class CheckpointSettings(_Table):
    """What checkpoints save besides the conversation."""

    files: bool = True
    """Whether to save file snapshots, so that a revert restores files on disk."""
    exclude: tuple[str, ...] = ()
    """Files that checkpoints don't cover, as patterns of a .gitignore file in the working directory."""
    max_file_mb: int = Field(64, ge=1)
    """Larger files are not covered."""
    max_total_mb: int = Field(2048, ge=1)
    """Disk space for a project's file snapshots. The oldest are removed first; one scan stores no more than
    this.
    """
    max_files: int = Field(400_000, ge=0)
    """If the working directory has more files than this, only files stored earlier or written by
    file tools are covered.
    """
    max_first_look_s: float = Field(180, gt=0)
    """Maximum seconds for the first scan. If it takes longer, only files written by file tools are
    covered.
    """
    max_look_s: float = Field(20, gt=0)
    """Maximum seconds for each later scan. If it takes longer, only files written by file tools are covered.
    """
    max_age_days: float = Field(60, gt=0)
    """Older file snapshots are removed."""


class CheckSettings(_Table):
    """A command that runs after each step that changed files. See [Checks](checks.md)."""

    run: str = ""
    """Shell command, such as `pytest -q`. Exit code 0 means that the check passes, 125 that it's
    inconclusive. Empty for no check.
    """
    timeout: float = Field(600, gt=0)
    """Seconds after which the command is stopped. The check then fails."""


class SubagentSettings(_Table):
    """Limits of sub-agents."""

    max_steps: int = Field(300, ge=1)
    """Maximum number of steps for a task."""
    timeout: int = Field(3600, ge=1, le=86_400)
    """Time limit of a task in seconds, unless its call sets another."""
    max_at_once: int = Field(10, ge=1, le=100)
    """Maximum number of sub-agents that run at the same time. Others wait."""


class AttemptSettings(_Table):
    """[Attempts](attempts.md): runs from one checkpoint, side by side."""

    max_at_once: int = Field(4, ge=1, le=64)
    """Maximum number of attempts that run at the same time. Others wait."""
    max_time: float = Field(3600, gt=0)
    """Time limit of each attempt in seconds."""


class PermissionSettings(_Table):
    """Permission rules. `deny` takes precedence over `ask`, and `ask` over `allow`."""

    allow: tuple[str, ...] = ()
    """Calls that run without asking."""
    ask: tuple[str, ...] = ()
    """Calls that need approval even with `--yolo`."""
    deny: tuple[str, ...] = ()
    """Calls that never run."""
    run_first: bool = True
    """Whether a command that no rule allows runs in a [workspace](workspaces.md) first, so that the
    permission request shows its effects. Otherwise, it needs approval before it runs.
    """


def _regular_expression(value: str) -> str:
    try:
        re.compile(value)
    except re.error as error:
        raise ValueError(f"not a valid regular expression: {error}") from error
    return value


class HookSettings(_Table):
    """A command that runs on an event of the session and may block it. Hooks of all config files are
    combined.
    """

    event: HookEventName
    """Event that triggers the hook."""
    matcher: Annotated[str, AfterValidator(_regular_expression)] = ""
    """Regular expression for the event's target, such as `Bash|WriteFile`. Empty matches anything."""
    command: str = Field(min_length=1)
    """Shell command to run."""
    timeout: float = Field(30, gt=0, le=600)
    """Timeout in seconds."""


class MoonshotSearchSettings(_Table):
    """Moonshot's search service. Without an API key, public search engines are used instead."""

    base_url: Annotated[str, AfterValidator(_http_url)]
    """Complete URL for search requests."""
    api_key: SecretStr = SecretStr("")
    """API key, or `env:NAME` to read it from the environment."""
    custom_headers: dict[str, str] = {}
    """HTTP headers to send with every request."""


class ServiceSettings(_Table):
    """Services other than models."""

    moonshot_search: MoonshotSearchSettings | None = None


class McpClientSettings(_Table):
    """Communication with MCP servers."""

    tool_call_timeout_ms: int | None = Field(None, gt=0)
    """Milliseconds without a result or progress after which a call fails, for servers without a `timeout` of
    their own. By default 300,000.
    """


class McpSettings(_Table):
    """MCP servers. The servers themselves are in `mcp.json`."""

    client: McpClientSettings = McpClientSettings()
    trust_read_only_hints: tuple[str, ...] = ()
    """Servers with tools that may be called in plan mode if the server marks them as read-only."""


class SandboxSettings(_Table):
    """Restrictions that the operating system enforces on the agent's commands, as with `--sandbox`."""

    enabled: bool = False
    """Whether commands run in the sandbox. If no sandbox is available, they don't run."""
    network: bool = False
    """Whether commands can reach the network."""
    write: tuple[str, ...] = ()
    """Paths that commands may change, in addition to the working directory and added directories. Relative to
    the working directory.
    """
    read: tuple[str, ...] = ()
    """Paths that are hidden by default but that commands may read, such as `~/.npmrc`."""
    hide: tuple[str, ...] = ()
    """Paths to hide, in addition to credentials and the data directory."""
    env: tuple[str, ...] = ()
    """Environment variables that commands may see although their names look like secrets. A variable with a
    model's API key is hidden from commands and hooks unless it is listed here, also without the sandbox.
    """


class WorkspaceSettings(_Table):
    """Private views of the working directory, in which the agent's commands run. See
    [Workspaces](workspaces.md).
    """

    backend: Literal["auto", "overlayfs", "none"] = "auto"
    """How workspaces are created. `auto`: with overlayfs where the system supports it. `none`: commands
    change the working directory directly.
    """
    max_mb: int = Field(10_000, ge=1)
    """How much a command may write in its workspace, in MB. If it writes more, or would fill the disk, it is
    stopped and its changes are discarded.
    """


class WebSettings(_Table):
    """How web pages are fetched."""

    allow_private_addresses: bool = False
    """Whether pages on this machine and its local network may be fetched."""


class ShellSettings(_Table):
    """Shell commands that you run yourself."""

    tell_model: bool = True
    """Whether the next prompt includes the commands that you ran and their output."""


class ServeSettings(_Table):
    """The resident engine, which keeps sessions running after the app exits."""

    enabled: bool = False
    """Whether the app opens sessions in the resident engine, as with `--resident`."""


class Settings(_Table):
    """All settings."""

    default_model: str = ""
    """Default model. Required if you define more than one."""
    default_thinking: Annotated[ThinkingEffort, BeforeValidator(_thinking_level)] = "off"
    """How much the model thinks before it responds. `true` means `high`, `false` means `off`. A model without
    this level uses the next higher one, or else its highest.
    """
    theme: Annotated[str, AfterValidator(_theme_name)] = "auto"
    """Color theme; `auto` follows the terminal's background. `/theme` shows the others. Files in `themes/`
    in the data directory are your own themes.
    """
    language: LanguageSetting = "auto"
    """Interface language, English or Chinese; `auto` follows `LC_ALL`, `LC_MESSAGES` or `LANG`."""
    default_yolo: bool = False
    """Whether new sessions approve everything that no `ask` or `deny` rule covers, as with `--yolo`."""
    default_plan_mode: bool = False
    """Whether new sessions start in plan mode."""
    session_titles: bool = True
    """Whether the model gives a new session its title, with one small request after the first turn. Otherwise
    the title is the first prompt.
    """
    default_editor: str = ""
    """Editor command, such as `code --wait`. By default `VISUAL` or `EDITOR`."""
    providers: dict[str, ProviderConfig] = {}
    models: dict[str, ModelSettings] = {}
    loop_control: LoopControlSettings = LoopControlSettings()
    background: BackgroundSettings = BackgroundSettings()
    budget: BudgetSettings = BudgetSettings()
    compaction: CompactionSettings = CompactionSettings()
    checkpoints: CheckpointSettings = CheckpointSettings()
    checks: CheckSettings = CheckSettings()
    subagents: SubagentSettings = SubagentSettings()
    attempts: AttemptSettings = AttemptSettings()
    permissions: PermissionSettings = PermissionSettings()
    hooks: tuple[HookSettings, ...] = ()
    extra_skill_dirs: tuple[str, ...] = ()
    """More directories with skills, relative to the working directory."""
    services: ServiceSettings = ServiceSettings()
    mcp: McpSettings = McpSettings()
    web: WebSettings = WebSettings()
    sandbox: SandboxSettings = SandboxSettings()
    workspaces: WorkspaceSettings = WorkspaceSettings()
    shell: ShellSettings = ShellSettings()
    serve: ServeSettings = ServeSettings()
    keymap: dict[str, str] = {}
    """Keys by binding ID; separate several keys by commas. `/keys` lists the IDs."""
    ui: UISettings = UISettings()
