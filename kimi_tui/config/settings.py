"""The settings, validated: one model a table of the config file (`docs/configuration.md`)."""

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, SecretStr

from kimi_tui.base.hook_events import HookEventName
from kimi_tui.config.appearance import UI as UI
from kimi_tui.config.appearance import Theme
from kimi_tui.language.choice import LanguageSetting

ProviderType = Literal["kimi", "openai", "openai_legacy", "openai_responses", "anthropic", "scripted", "demo"]
ForeignProviderType = Literal["google_genai", "gemini", "vertexai", "_echo", "_chaos"]
"""Types of kimi-cli that we can't reach: a config with such a provider loads, using it is an error."""
Capability = Literal["thinking", "always_thinking", "image_in", "video_in"]

OWN_STRATEGIES = {
    "LLMSummaryCompaction": "kimi_tui.compaction.summary:LLMSummaryCompaction",
    "ToolResultHidingCompaction": "kimi_tui.compaction.hiding:ToolResultHidingCompaction",
    "HidingThenSummaryCompaction": "kimi_tui.compaction.hiding_then_summary:HidingThenSummaryCompaction",
    "FallbackCompaction": "kimi_tui.compaction.fallback:FallbackCompaction",
}
"""Strategies of compaction that come with the program, by the names of their classes."""


def _http_url(value: str | None) -> str | None:
    if value and not value.startswith(("http://", "https://")):
        raise ValueError("it should be a URL that begins with http:// or https://")
    return value or None


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)


class Provider(_Table):
    """Where a model is reached."""

    type: Annotated[
        Literal[ProviderType, ForeignProviderType],
        BeforeValidator(lambda value: "scripted" if value == "_scripted_echo" else value),
    ]
    """How it is spoken with; `openai` is chat completions, which most servers know."""
    base_url: Annotated[str | None, AfterValidator(_http_url)] = None
    """Where it is, with the version, such as `http://localhost:11434/v1`."""
    api_key: SecretStr = SecretStr("")
    """The key itself, or `env:NAME` to read it from the environment."""
    custom_headers: dict[str, str] = {}
    """Sent with every request."""
    env: dict[str, str] = {}
    """Variables that are set for this provider alone."""
    scripts: str | None = None
    """For `scripted`: the file of scripts."""
    idle_timeout_s: float = Field(120.0, gt=0)
    """Seconds without a byte after which an answer counts as broken."""


class ModelPrice(_Table):
    """US dollars per million tokens."""

    input: float = Field(0.0, ge=0)
    """What is sent."""
    output: float = Field(0.0, ge=0)
    """What the model writes."""
    cached: float = Field(0.0, ge=0)
    """What is sent and was in the provider's cache."""


class Model(_Table):
    """A model of a provider."""

    provider: str
    """Its provider's name under `[providers]`."""
    model: str
    """What the provider calls it."""
    max_context_size: int = Field(gt=0)
    """Tokens that it can hold."""
    capabilities: frozenset[Capability] | None = None
    """What it can do; without it, what the provider's models are known for."""
    price: ModelPrice | None = None
    """What it costs; without it no cost is shown, and `--max-cost` can't stop anything."""
    max_output_tokens: int | None = Field(None, gt=0)
    """Tokens that an answer may have."""


class LoopControl(_Table):
    """Limits of a turn."""

    max_steps_per_turn: int = Field(1000, ge=1)
    """Model calls in one turn."""
    max_retries_per_step: int = Field(3, ge=1)
    """Attempts at one model call."""
    reserved_context_size: int = Field(50_000, ge=0)
    """Tokens that stay free for the answer."""
    compaction_trigger_ratio: float = Field(0.85, gt=0, le=1)
    """How full the window may become before the conversation is compacted."""
    repetition_note_after: int = Field(3, ge=0)
    """How often the model does the same, with the same result, before it is told so; 0 for never."""
    repetition_stop_after: int = Field(8, ge=0)
    """How often before the turn is stopped."""


def _our_strategy(value: object) -> object:
    """kimi-cli's strategies have the same names as ours."""
    theirs = "kimi_cli.soul.compaction:"
    return OWN_STRATEGIES.get(value.removeprefix(theirs), value) if isinstance(value, str) else value


def _class_path(value: str) -> str:
    module, colon, name = value.partition(":")
    if not (colon and name.isidentifier() and all(part.isidentifier() for part in module.split("."))):
        raise ValueError("it should be module:Class")
    return value


class Compaction(_Table):
    """How conversations that fill the model's window are made shorter."""

    strategy: Annotated[str, BeforeValidator(_our_strategy), AfterValidator(_class_path)] = OWN_STRATEGIES[
        "LLMSummaryCompaction"
    ]
    """One of ours by its name, or `module:Class`."""


class Checkpoints(_Table):
    """What checkpoints keep beside the conversation."""

    files: bool = True
    """Whether the files' states are kept too, so that a revert takes changes on disk back."""
    exclude: tuple[str, ...] = ()
    """What is not covered, as lines of a .gitignore in the work dir."""
    max_file_mb: int = Field(64, ge=1)
    """Larger files are not covered."""
    max_total_mb: int = Field(2048, ge=1)
    """How much a project's file states may take on disk before the oldest go; one look takes in no more."""
    max_files: int = Field(400_000, ge=0)
    """In a work dir with more files only those that file tools write are covered."""
    max_first_look_s: float = Field(180, gt=0)
    """When the first look at all files takes longer, only those that file tools write are covered."""
    max_look_s: float = Field(20, gt=0)
    """The same of each later look."""
    max_age_days: float = Field(60, gt=0)
    """File states that are older go."""


class Subagents(_Table):
    """Limits of sub-agents."""

    max_steps: int = Field(300, ge=1)
    """Of one task."""
    timeout: int = Field(3600, ge=1, le=86_400)
    """Seconds that a task may take when its call names no other limit."""
    max_at_once: int = Field(10, ge=1, le=100)
    """How many work at the same time; others wait for their turn."""


class Permissions(_Table):
    """Rules of what may run; deny wins over ask, ask over allow."""

    allow: tuple[str, ...] = ()
    """What runs without asking."""
    ask: tuple[str, ...] = ()
    """What is asked even with `--yolo`."""
    deny: tuple[str, ...] = ()
    """What never runs."""


def _regular_expression(value: str) -> str:
    try:
        re.compile(value)
    except re.error as error:
        raise ValueError(f"it is no regular expression: {error}") from error
    return value


class Hook(_Table):
    """A command that is run at a moment of a session and may object. Those of all config files add up."""

    event: HookEventName
    """The moment."""
    matcher: Annotated[str, AfterValidator(_regular_expression)] = ""
    """What the event must be about, such as `Bash|WriteFile`; empty for anything."""
    command: str = Field(min_length=1)
    """What is run, by the shell."""
    timeout: float = Field(30, gt=0, le=600)
    """Seconds."""


class MoonshotSearch(_Table):
    """Moonshot's search service; without a key, public search engines are asked instead."""

    base_url: Annotated[str, AfterValidator(_http_url)]
    """The whole address that a search is posted to."""
    api_key: SecretStr = SecretStr("")
    """The key itself, or `env:NAME` to read it from the environment."""
    custom_headers: dict[str, str] = {}
    """Sent with every request."""


class Services(_Table):
    """Services beside the models."""

    moonshot_search: MoonshotSearch | None = None


class Sandbox(_Table):
    """Bounds that the system holds the agent's commands to; `--sandbox`."""

    enabled: bool = False
    """Whether commands run in the sandbox. Where there is none, they don't run."""
    network: bool = False
    """Whether they reach the network."""
    write: tuple[str, ...] = ()
    """What they may change besides the work dir and the added ones; relative paths begin in the work dir."""
    read: tuple[str, ...] = ()
    """What they may read though it is hidden from them otherwise, such as `~/.npmrc`."""
    hide: tuple[str, ...] = ()
    """What is hidden from them besides credentials and our own folder."""
    env: tuple[str, ...] = ()
    """Variables that they see though their names sound like secrets; those with the model's key are hidden
    without a sandbox, too, and from hooks."""


class Web(_Table):
    """How pages are fetched."""

    allow_private_addresses: bool = False
    """Whether pages of this machine and its network may be fetched, too."""


class UsersShell(_Table):
    """The shell that the user types commands into, beside the conversation."""

    tell_model: bool = True
    """Whether the model learns with the next prompt what was run there, and what it printed."""


class Settings(_Table):
    """All settings."""

    default_model: str = ""
    """Its name under `[models]`; needed when there are several."""
    default_thinking: bool = False
    """Whether the model thinks before it answers."""
    theme: Theme = "auto"
    """The colours; `auto` follows the terminal's background."""
    language: LanguageSetting = "auto"
    """What you are spoken to in, English or Chinese; `auto` follows `LC_ALL`, `LC_MESSAGES` or `LANG`."""
    providers: dict[str, Provider] = {}
    models: dict[str, Model] = {}
    loop_control: LoopControl = LoopControl()
    compaction: Compaction = Compaction()
    checkpoints: Checkpoints = Checkpoints()
    subagents: Subagents = Subagents()
    permissions: Permissions = Permissions()
    hooks: tuple[Hook, ...] = ()
    extra_skill_dirs: tuple[str, ...] = ()
    """Further folders of skills; relative ones begin in the work dir."""
    services: Services = Services()
    web: Web = Web()
    sandbox: Sandbox = Sandbox()
    shell: UsersShell = UsersShell()
    keymap: dict[str, str] = {}
    """Binding ids to keys, several separated by commas; `/keys` lists the ids."""
    ui: UI = UI()
