"""Settings from environment variables (`docs/configuration.md`): keys, base URLs and Kimi's model."""

from collections.abc import Mapping
from typing import Any

from kimi_tui.base.errors import ConfigError
from kimi_tui.base.frozen import frozen
from kimi_tui.base.message_text import msg

KEY_VARIABLES = ("KIMI_API_KEY", "OPENAI_API_KEY", "ANTHROPIC_API_KEY")


@frozen(kw_only=True)
class KnownProvider:
    """A provider that only needs an API key."""

    name: str
    key_variable: str
    url_variable: str
    model: str
    max_context_size: int
    type: str = ""
    """Provider type for the default base URL. Empty for `name`."""

    def type_for(self, base_url: str | None) -> str:
        """Return the provider type for `base_url`. Other servers may have only the type `name`."""
        return self.name if base_url else self.type or self.name


KNOWN_PROVIDERS = (
    KnownProvider(
        name="kimi",
        key_variable="KIMI_API_KEY",
        url_variable="KIMI_BASE_URL",
        model="kimi-k2.5",
        max_context_size=262_144,
    ),
    KnownProvider(
        name="openai",
        key_variable="OPENAI_API_KEY",
        url_variable="OPENAI_BASE_URL",
        model="gpt-5.4",
        max_context_size=272_000,
        type="openai_responses",
    ),
    KnownProvider(
        name="anthropic",
        key_variable="ANTHROPIC_API_KEY",
        url_variable="ANTHROPIC_BASE_URL",
        model="claude-sonnet-5",
        max_context_size=200_000,
    ),
)
_FAMILIES = {"openai_legacy": "openai", "openai_responses": "openai"}


def environment_layer(configured: Mapping[str, Any], environ: Mapping[str, str]) -> dict[str, Any]:
    """Return the settings that the environment adds to or overrides in `configured`, the settings in files.

    If no model is configured, each provider with a key in the environment adds a model of the same name.
    Raises ConfigError if KIMI_MODEL_MAX_CONTEXT_SIZE isn't a size.
    """
    if configured.get("models"):
        return _overrides(configured, environ)
    return _models_from_keys(environ, chosen=configured.get("default_model"))


def _models_from_keys(environ: Mapping[str, str], *, chosen: object) -> dict[str, Any]:
    """Return models for the keys in the environment.

    `chosen` is the default model in the config files. It stays the default if there is a key for it.
    """
    keyed = [known for known in KNOWN_PROVIDERS if environ.get(known.key_variable)]
    if not keyed:
        return {}
    is_chosen = any(known.name == chosen for known in keyed)
    is_plain = len(keyed) == 1 or keyed[0].name == "kimi"
    return {
        **({"default_model": keyed[0].name} if is_plain and not is_chosen else {}),
        "providers": {
            known.name: {"type": known.type_for(environ.get(known.url_variable)), **_address(known, environ)}
            for known in keyed
        },
        "models": {
            known.name: {
                "provider": known.name,
                "model": known.model,
                "max_context_size": known.max_context_size,
                **(_kimi_model(environ) if known.name == "kimi" else {}),
            }
            for known in keyed
        },
    }


def _overrides(configured: Mapping[str, Any], environ: Mapping[str, str]) -> dict[str, Any]:
    providers = {
        name: change
        for name, provider in _tables(configured.get("providers"))
        if (change := _provider_override(provider, environ))
    }
    models = {
        name: change
        for name, model in _default_model(configured)
        if _provider_type(configured, model) == "kimi" and (change := _kimi_model(environ))
    }
    return {
        **({"providers": providers} if providers else {}),
        **({"models": models} if models else {}),
    }


def known_provider(type_name: str, base_url: str | None) -> KnownProvider | None:
    """Return the provider whose variables apply to this type, or None if no variable applies.

    Kimi's variables always apply. Many programs share the keys of other providers, so they are never sent
    to a custom `base_url`.
    """
    family = _FAMILIES.get(type_name, type_name)
    known = next((known for known in KNOWN_PROVIDERS if known.name == family), None)
    return None if known is not None and known.name != "kimi" and base_url else known


def _provider_override(provider: Mapping[str, Any], environ: Mapping[str, str]) -> dict[str, Any]:
    known = known_provider(str(provider.get("type")), provider.get("base_url"))
    return _address(known, environ) if known else {}


def _default_model(configured: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any]]]:
    models = _tables(configured.get("models"))
    default = configured.get("default_model")
    return [entry for entry in models if entry[0] == default or (not default and len(models) == 1)]


def _provider_type(configured: Mapping[str, Any], model: Mapping[str, Any]) -> Any:
    providers = dict(_tables(configured.get("providers")))
    return providers.get(str(model.get("provider")), {}).get("type")


def _address(known: KnownProvider, environ: Mapping[str, str]) -> dict[str, str]:
    key = {"api_key": f"env:{known.key_variable}"} if environ.get(known.key_variable) else {}
    url = {"base_url": environ[known.url_variable]} if environ.get(known.url_variable) else {}
    return key | url


def _kimi_model(environ: Mapping[str, str]) -> dict[str, Any]:
    return _model_and_size(environ) | _generation_settings(environ)


_CAPABILITIES = ("thinking", "always_thinking", "image_in", "video_in")


def _generation_settings(environ: Mapping[str, str]) -> dict[str, Any]:
    """Return the settings of KIMI_MODEL_TEMPERATURE, _TOP_P, _MAX_TOKENS and _CAPABILITIES.

    Raises ConfigError for an invalid number. Unknown capabilities are ignored.
    """
    result: dict[str, Any] = {}
    for variable, key, convert, example in (
        ("KIMI_MODEL_TEMPERATURE", "temperature", float, "0.6"),
        ("KIMI_MODEL_TOP_P", "top_p", float, "0.95"),
        ("KIMI_MODEL_MAX_TOKENS", "max_output_tokens", int, "32000"),
    ):
        if not (text := environ.get(variable)):
            continue
        try:
            result[key] = convert(text)
        except ValueError:
            raise ConfigError(
                msg('{variable} is "{value}" in the environment.', variable=variable, value=text[:40]),
                hint=msg("It should be a number, such as {example}.", example=example),
            ) from None
    if names := environ.get("KIMI_MODEL_CAPABILITIES"):
        listed = {name.strip().lower() for name in names.split(",")}
        result["capabilities"] = [name for name in _CAPABILITIES if name in listed]
    return result


def _model_and_size(environ: Mapping[str, str]) -> dict[str, Any]:
    name, size = environ.get("KIMI_MODEL_NAME"), environ.get("KIMI_MODEL_MAX_CONTEXT_SIZE")
    if size and not (size.isdecimal() and int(size) > 0):
        raise ConfigError(
            msg('KIMI_MODEL_MAX_CONTEXT_SIZE is "{value}" in the environment.', value=size[:40]),
            hint="It should be a whole number of tokens, such as 262144.",
        )
    return ({"model": name} if name else {}) | ({"max_context_size": int(size)} if size else {})


def _tables(tables: Any) -> list[tuple[str, Mapping[str, Any]]]:
    """Return the entries of `tables` that are tables. Validation reports the others later."""
    if not isinstance(tables, Mapping):
        return []
    return [(name, table) for name, table in tables.items() if isinstance(table, Mapping)]
