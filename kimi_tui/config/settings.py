"""The settings, validated: one model a table of the config file (`specs/cli.md`, Configuration)."""

from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, SecretStr

ProviderType = Literal["kimi", "openai", "openai_legacy", "openai_responses", "anthropic", "scripted", "demo"]


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Provider(_Table):
    """Where a model is reached."""

    type: Annotated[
        ProviderType, BeforeValidator(lambda value: "scripted" if value == "_scripted_echo" else value)
    ]
    base_url: str | None = None
    api_key: SecretStr = SecretStr("")
    """The key itself, or `env:NAME` to read it from the environment."""
    custom_headers: dict[str, str] = {}
    env: dict[str, str] = {}
    scripts: str | None = None
    """For `scripted`: the file of scripts."""
    idle_timeout_s: float = Field(120.0, gt=0)


class ModelPrice(_Table):
    """US dollars per million tokens."""

    input: float = Field(0.0, ge=0)
    output: float = Field(0.0, ge=0)
    cached: float = Field(0.0, ge=0)


class Model(_Table):
    """A model of a provider."""

    provider: str
    model: str
    max_context_size: int = Field(gt=0)
    capabilities: frozenset[str] | None = None
    """None: what the provider's models are known for."""
    price: ModelPrice | None = None
    max_output_tokens: int | None = Field(None, gt=0)


class LoopControl(_Table):
    """Limits of a turn."""

    max_steps_per_turn: int = Field(1000, ge=1)
    max_retries_per_step: int = Field(3, ge=1)
    reserved_context_size: int = Field(50_000, ge=0)
    compaction_trigger_ratio: float = Field(0.85, gt=0, le=1)


class Permissions(_Table):
    """Rules of what may run; deny wins over ask, ask over allow."""

    allow: tuple[str, ...] = ()
    ask: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()


class UI(_Table):
    """How the app looks and behaves."""

    mouse: bool = True
    reduced_motion: bool = False
    screen_reader: bool = False


class Settings(_Table):
    """All settings."""

    default_model: str = ""
    default_thinking: bool = False
    theme: Literal["auto", "dark", "light", "high-contrast"] = "auto"
    providers: dict[str, Provider] = {}
    models: dict[str, Model] = {}
    loop_control: LoopControl = LoopControl()
    permissions: Permissions = Permissions()
    keymap: dict[str, str] = {}
    ui: UI = UI()
