"""The model that a session uses: its settings, its provider's and the environment's, put together."""

import os
from collections.abc import Mapping
from dataclasses import field
from difflib import get_close_matches
from pathlib import Path
from typing import Literal, assert_never

from kimi_tui.base.errors import ConfigError, ModelNotSet
from kimi_tui.base.value import value
from kimi_tui.config.environment import KEY_VARIABLES, known_provider
from kimi_tui.config.settings import Model, ModelPrice, Provider, Settings

ModelKind = Literal["kimi", "openai", "anthropic", "scripted", "demo"]
SCRIPTS_VARIABLE = "KIMI_SCRIPTED_ECHO_SCRIPTS"


@value(kw_only=True)
class ResolvedModel:
    """All that is needed to reach a model. Secrets stay out of its repr."""

    name: str
    """Its name under `[models]`, which `--model` takes."""
    type: ModelKind
    model: str
    """Its name as the server knows it."""
    base_url: str | None = None
    """None: the provider's own."""
    api_key: str = field(default="", repr=False)
    max_context_size: int
    max_output_tokens: int | None = None
    capabilities: frozenset[str] | None = None
    """None: what the provider's models are known for."""
    price: ModelPrice | None = None
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    idle_timeout_s: float = 120.0
    scripts: str | None = None
    """For `scripted`: the path of its scripts."""
    env: Mapping[str, str] = field(default_factory=dict, repr=False)


def resolve_model(
    settings: Settings, name: str | None = None, *, environ: Mapping[str, str] = os.environ
) -> ResolvedModel:
    """The model called `name`, else the default one.

    Raises ModelNotSet when there is none to use, ConfigError when it, its provider or its key is missing.
    """
    name = name or default_model_name(settings)
    model = settings.models.get(name)
    if model is None:
        raise ConfigError(f"There is no model “{name}”.", hint=_models_hint(settings, name))
    provider = settings.providers.get(model.provider)
    if provider is None:
        raise ConfigError(
            f"The model {name} names the provider “{model.provider}”, which isn't configured.",
            hint=f"Add a table [providers.{model.provider}]{_or_one_of(settings.providers)}.",
        )
    kind = _kind(provider, model.provider)
    return ResolvedModel(
        name=name,
        type=kind,
        model=model.model,
        base_url=provider.base_url,
        api_key=_key(provider, model.provider, kind, environ),
        max_context_size=model.max_context_size,
        max_output_tokens=model.max_output_tokens,
        capabilities=model.capabilities,
        price=model.price,
        headers=provider.custom_headers,
        idle_timeout_s=provider.idle_timeout_s,
        scripts=_scripts(provider, model, environ) if kind == "scripted" else None,
        env=provider.env,
    )


def default_model_name(settings: Settings) -> str:
    """`default_model`, else the only model there is. Raises ModelNotSet."""
    if settings.default_model:
        return settings.default_model
    if len(settings.models) == 1:
        return next(iter(settings.models))
    if settings.models:
        raise ModelNotSet(
            "Several models are configured and none is the default.",
            hint=f"Choose with --model, or set default_model to one of {_listed(settings.models)}.",
        )
    raise ModelNotSet(
        "No model is configured.",
        hint="Store a key with `kimi-tui login`, or set"
        f" {', '.join(KEY_VARIABLES[:-1])} or {KEY_VARIABLES[-1]} in the environment; describe other models"
        " in the file that `kimi-tui config path` names; or try it without a key: `kimi-tui --demo`.",
    )


def _kind(provider: Provider, name: str) -> ModelKind:
    match provider.type:
        case "kimi" | "openai" | "anthropic" | "scripted" | "demo":
            return provider.type
        case "openai_legacy" | "openai_responses":
            return "openai"
        case "google_genai" | "gemini" | "vertexai" | "_echo" | "_chaos":
            raise ConfigError(
                f"The provider {name} is of type {provider.type}, which kimi-tui can't reach.",
                hint="Use a model of a provider of type kimi, openai or anthropic.",
            )
        case _:
            assert_never(provider.type)


def _key(provider: Provider, name: str, kind: ModelKind, environ: Mapping[str, str]) -> str:
    """The provider's key; empty when none is needed, as by a local OpenAI-compatible server."""
    key = provider.api_key.get_secret_value()
    known = known_provider(provider.type, provider.base_url)
    if key.startswith("env:"):
        variable = key.removeprefix("env:")
        key = environ.get(variable, "")
        if not key:
            raise ConfigError(
                f"The key of provider {name} is to come from {variable}, which isn't set.",
                hint=f"Run `export {variable}=…` first, or write another api_key.",
            )
    elif not key and known is not None:
        key = environ.get(known.key_variable, "")
    if not key and (kind in ("kimi", "anthropic") or (kind == "openai" and known is not None)):
        variable = known.key_variable if known else f"{kind.upper()}_API_KEY"
        raise ConfigError(
            f"The provider {name} has no key.",
            hint=f"Use `kimi-tui login`, set {variable} in the environment, or write"
            f' api_key = "env:{variable}" in [providers.{name}].',
        )
    return key.strip()


def _scripts(provider: Provider, model: Model, environ: Mapping[str, str]) -> str:
    path = provider.scripts or provider.env.get(SCRIPTS_VARIABLE) or environ.get(SCRIPTS_VARIABLE)
    if not path:
        raise ConfigError(
            f"The scripted provider {model.provider} names no scripts.",
            hint=f"Set scripts to a file in [providers.{model.provider}], or {SCRIPTS_VARIABLE} in its env.",
        )
    return str(Path(path).expanduser())


def _models_hint(settings: Settings, name: str) -> str:
    near = get_close_matches(name, settings.models, n=3, cutoff=0.5)
    if near:
        return f"Did you mean {' or '.join(near)}?"
    return f"Configured are {', '.join(settings.models)}." if settings.models else "No model is configured."


def _or_one_of(names: Mapping[str, object]) -> str:
    return f", or name {_listed(names)}" if names else ""


def _listed(names: Mapping[str, object]) -> str:
    return " or ".join(names)
