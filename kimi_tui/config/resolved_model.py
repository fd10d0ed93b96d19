"""The model of a session: its settings combined with its provider's and the environment's."""

import os
from collections.abc import Mapping
from dataclasses import field
from difflib import get_close_matches
from pathlib import Path
from typing import Literal, assert_never

from kimi_tui.base.errors import ConfigError, ModelKeyNotSet, ModelNotSet
from kimi_tui.base.frozen import frozen
from kimi_tui.base.message_text import msg
from kimi_tui.config.environment import KEY_VARIABLES, known_provider
from kimi_tui.config.settings import (
    ForeignProviderType,
    ModelPrice,
    ModelSettings,
    ProviderConfig,
    ProviderType,
    Settings,
)

ModelKind = Literal["kimi", "openai", "openai_responses", "anthropic", "scripted", "demo"]
SCRIPTS_VARIABLE = "KIMI_SCRIPTED_ECHO_SCRIPTS"


@frozen(kw_only=True)
class ResolvedModel:
    """Everything needed to connect to a model. Secrets are not part of its repr."""

    name: str
    """Name under `[models]`, as in `--model`."""
    type: ModelKind
    model: str
    """Model name to send to the provider."""
    base_url: str | None = None
    """None for the provider's default."""
    api_key: str = field(default="", repr=False)
    max_context_size: int
    max_output_tokens: int | None = None
    temperature: float | None = None
    top_p: float | None = None
    thinking_keep: str | None = None
    """What Kimi keeps of earlier thinking, from KIMI_MODEL_THINKING_KEEP."""
    reasoning_key: str | None = None
    capabilities: frozenset[str] | None = None
    """None for the known capabilities of the provider's models."""
    price: ModelPrice | None = None
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    idle_timeout_s: float = 120.0
    scripts: str | None = None
    """For type `scripted`: path of its scripts."""
    env: Mapping[str, str] = field(default_factory=dict, repr=False)


def resolve_model(
    settings: Settings, name: str | None = None, *, environ: Mapping[str, str] = os.environ
) -> ResolvedModel:
    """Return the model called `name`, or the default model.

    Raises ModelNotSet if there is no default, and ConfigError if the model, its provider or its key is
    missing.
    """
    name = name or default_model_name(settings)
    model = settings.models.get(name)
    if model is None:
        raise ConfigError(msg("Unknown model “{name}”.", name=name), hint=_models_hint(settings, name))
    provider = settings.providers.get(model.provider)
    if provider is None:
        raise ConfigError(
            msg(
                "Model {model} uses provider “{provider}”, which isn't configured.",
                model=name,
                provider=model.provider,
            ),
            hint=msg(
                "Add a table [providers.{provider}]{alternatives}.",
                provider=model.provider,
                alternatives=_alternatives_hint(settings.providers),
            ),
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
        temperature=model.temperature,
        top_p=model.top_p,
        thinking_keep=(environ.get("KIMI_MODEL_THINKING_KEEP") or None) if kind == "kimi" else None,
        reasoning_key=provider.reasoning_key,
        capabilities=model.capabilities,
        price=model.price,
        headers=provider.custom_headers,
        idle_timeout_s=provider.idle_timeout_s,
        scripts=_scripts(provider, model, environ) if kind == "scripted" else None,
        env=provider.env,
    )


def default_model_name(settings: Settings) -> str:
    """Return `default_model`, or the only configured model. Raises ModelNotSet."""
    if settings.default_model:
        return settings.default_model
    if len(settings.models) == 1:
        return next(iter(settings.models))
    if settings.models:
        raise ModelNotSet(
            "Several models are configured, but none is the default.",
            hint=msg(
                "Choose one with --model, or set default_model to one of {names}.",
                names=_join_names(settings.models),
            ),
        )
    raise ModelNotSet(
        "No model is configured.",
        hint=msg(
            "Run `kimi-tui login` to store an API key, or set {variables} or {last_variable}. "
            "Configure other models with `kimi-tui config edit`. To try it without a key, run "
            "`kimi-tui --demo`.",
            variables=", ".join(KEY_VARIABLES[:-1]),
            last_variable=KEY_VARIABLES[-1],
        ),
    )


def provider_kind(type_: ProviderType | ForeignProviderType) -> ModelKind | None:
    """Return the kind of provider that a type in the config means, or None if it isn't supported."""
    match type_:
        case "kimi" | "openai" | "openai_responses" | "anthropic" | "scripted" | "demo":
            return type_
        case "openai_legacy":
            return "openai"
        case "google_genai" | "gemini" | "vertexai" | "_echo" | "_chaos":
            return None
        case _:
            assert_never(type_)


def _kind(provider: ProviderConfig, name: str) -> ModelKind:
    kind = provider_kind(provider.type)
    if kind is None:
        raise ConfigError(
            msg(
                "Provider {name} has type {type}, which kimi-tui doesn't support.",
                name=name,
                type=provider.type,
            ),
            hint="Use a provider of type kimi, openai or anthropic.",
        )
    return kind


def _key(provider: ProviderConfig, name: str, kind: ModelKind, environ: Mapping[str, str]) -> str:
    """Return the provider's API key; empty if none is needed, as for a local OpenAI-compatible server."""
    key = provider.api_key.get_secret_value()
    known = known_provider(provider.type, provider.base_url)
    if key.startswith("env:"):
        variable = key.removeprefix("env:")
        key = environ.get(variable, "")
        if not key:
            raise ModelKeyNotSet(
                msg(
                    "Provider {name} reads its API key from {variable}, which isn't set.",
                    name=name,
                    variable=variable,
                ),
                hint=msg("Run `export {variable}=…` first, or set another api_key.", variable=variable),
            )
    elif not key and known is not None:
        key = environ.get(known.key_variable, "")
    if not key and (kind in ("kimi", "anthropic") or (kind.startswith("openai") and known is not None)):
        variable = known.key_variable if known else f"{kind.upper()}_API_KEY"
        raise ModelKeyNotSet(
            msg("Provider {name} has no API key.", name=name),
            hint=msg(
                "Run `kimi-tui login`, set {variable} in the environment, or write api_key = "
                '"env:{variable}" in [providers.{name}].',
                variable=variable,
                name=name,
            ),
        )
    return key.strip()


def _scripts(provider: ProviderConfig, model: ModelSettings, environ: Mapping[str, str]) -> str:
    path = provider.scripts or provider.env.get(SCRIPTS_VARIABLE) or environ.get(SCRIPTS_VARIABLE)
    if not path:
        raise ConfigError(
            msg("The scripted provider {provider} has no scripts.", provider=model.provider),
            hint=msg(
                "Set scripts to a file in [providers.{provider}], or {variable} in its env.",
                provider=model.provider,
                variable=SCRIPTS_VARIABLE,
            ),
        )
    return str(Path(path).expanduser())


def _models_hint(settings: Settings, name: str) -> str:
    near = get_close_matches(name, settings.models, n=3, cutoff=0.5)
    if near:
        return msg("Did you mean {name}?", name=" or ".join(near))
    return (
        msg("Configured models: {names}.", names=", ".join(settings.models))
        if settings.models
        else "No model is configured."
    )


def _alternatives_hint(names: Mapping[str, object]) -> str:
    return msg(", or use {names}", names=_join_names(names)) if names else ""


def _join_names(names: Mapping[str, object]) -> str:
    return " or ".join(names)
