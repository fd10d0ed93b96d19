"""Storage of provider connections: API keys in the credentials, everything else in the user's config file."""

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import field
from pathlib import Path
from typing import Any

from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.frozen import frozen
from kimi_tui.config.credentials import Credential, Credentials
from kimi_tui.config.environment import KNOWN_PROVIDERS, KnownProvider
from kimi_tui.config.loader import ENVIRONMENT, user_config_path
from kimi_tui.config.raw_config import RawConfig

DEFAULT_CONTEXT_SIZE = 32_768
"""Context window in tokens to assume if a server doesn't report one."""
_OPENAI = ("openai", "openai_legacy")
_SERVICES = tuple(known.name for known in KNOWN_PROVIDERS)
_NAME = re.compile(r"[^A-Za-z0-9_-]+")


@frozen(kw_only=True)
class ProviderConnection:
    """A model and how to connect to it."""

    provider: str
    """Name of a known provider or of the user's own server."""
    model: str
    """Model name to send to the provider."""
    api_key: str = field(default="", repr=False)
    base_url: str | None = None
    key_variable: str = ""
    """Environment variable to read the key from instead of storing it; not for known providers."""
    max_context_size: int | None = None
    capabilities: frozenset[str] | None = None
    """What the server reports of the model; None for the known capabilities."""
    price: Mapping[str, float] | None = None
    """US dollars per million `input`, `output` and `cached` tokens, if the server reports them."""


def known_service(name: str) -> KnownProvider | None:
    """Return the known provider with that name, or None."""
    return next((known for known in KNOWN_PROVIDERS if known.name == name), None)


def pending_provider(data: Mapping[str, Any], known: KnownProvider) -> tuple[str, str]:
    """Return base URL and model of a configured provider of this type without an API key, or empty
    strings.
    """
    for name, table in _tables(data, "providers").items():
        if (
            table.get("type") in (known.name, known.type)
            and table.get("base_url")
            and not table.get("api_key")
        ):
            models = [it for it in _tables(data, "models").values() if it.get("provider") == name]
            return str(table["base_url"]), str(models[0].get("model", "")) if models else ""
    return "", ""


def normalize_key(key: str) -> str:
    """Return `key` without surrounding whitespace. Raises KimiTuiError if it can't be an API key."""
    key = key.strip()
    if not (key.isascii() and key.isprintable()) or " " in key:
        raise KimiTuiError("The API key contains spaces or invalid characters.", hint="Copy it again.")
    return key


def save_provider(
    connection: ProviderConnection, *, data_dir: Path, reload: Callable[[], RawConfig], as_default: bool
) -> str:
    """Store `connection` and return the name of its model in the settings.

    Models that exist only because of a key are written to the file too, because a config file with models
    replaces them. Raises ConfigError.
    """
    from kimi_tui.config.toml_edit import add_missing, set_default_model  # imports tomlkit

    known = known_service(connection.provider)
    config = reload()
    default = config.data.get("default_model")
    provider = _provider_for(connection, known, config)
    if connection.api_key:
        owner, address = (known.name, connection.base_url) if known is not None else (provider, None)
        Credentials(data_dir).save(owner, Credential(connection.api_key, address))
        config = reload()
    name = _find_model(config.data, provider, connection.model)
    path = user_config_path(data_dir)
    if name is None:
        name = _unique_model_name(
            config.data, known.name if known is not None else _to_name(connection.model), connection
        )
        size = connection.max_context_size or (
            known.max_context_size if known is not None else DEFAULT_CONTEXT_SIZE
        )
        tables = _implied_models(config)
        tables["providers"].setdefault(provider, _provider_table(connection, known))
        tables["models"][name] = {
            "provider": provider,
            "model": connection.model,
            "max_context_size": size,
            **({} if connection.capabilities is None else {"capabilities": sorted(connection.capabilities)}),
            **({"price": dict(connection.price)} if connection.price else {}),
        }
        add_missing(path, tables)
    default = name if as_default or not default else default
    if reload().data.get("default_model") != default:
        set_default_model(path, default)
    return name


def _provider_for(connection: ProviderConnection, known: KnownProvider | None, config: RawConfig) -> str:
    """Return the name of an existing or new provider for `connection`."""
    written: dict[str, dict[str, Any]] = {}
    for source in config.sources:
        if source.name != ENVIRONMENT:
            for name, table in _tables(source.data, "providers").items():
                written[name] = {**written.get(name, {}), **table}
    if known is None:
        matching = [
            name
            for name, table in written.items()
            if table.get("base_url") == connection.base_url and table.get("type") in _OPENAI
        ]
        name = _to_name(connection.provider)
    else:
        matching = [
            name
            for name, table in written.items()
            if table.get("type") in (known.name, known.type)
            and not table.get("api_key")
            and table.get("base_url") in (None, "", connection.base_url)
        ]
        name = known.name
    return matching[0] if matching else _unique_name(name, {*written, *(_SERVICES if known is None else ())})


def _provider_table(connection: ProviderConnection, known: KnownProvider | None) -> dict[str, Any]:
    if known is None:
        table = {"type": "openai", "base_url": connection.base_url or ""}
        return table | ({"api_key": f"env:{connection.key_variable}"} if connection.key_variable else {})
    return {"type": known.type_for(connection.base_url)}


def _find_model(data: Mapping[str, Any], provider: str, model: str) -> str | None:
    return next(
        (
            name
            for name, table in _tables(data, "models").items()
            if table.get("provider") == provider and table.get("model") == model
        ),
        None,
    )


def _implied_models(config: RawConfig) -> dict[str, dict[str, Any]]:
    """Return the models that keys add, and their providers without the values that come from the keys."""
    data = next((source.data for source in config.sources if source.name == ENVIRONMENT), {})
    models = {name: table for name, table in _tables(data, "models").items() if "provider" in table}
    providers = _tables(data, "providers")
    return {
        "providers": {
            table["provider"]: {"type": providers[table["provider"]]["type"]} for table in models.values()
        },
        "models": dict(models),
    }


def _unique_model_name(data: Mapping[str, Any], name: str, connection: ProviderConnection) -> str:
    models = _tables(data, "models")
    return name if name not in models else _unique_name(_to_name(connection.model), models)


def _unique_name(name: str, used: Collection[str]) -> str:
    candidates = (name, *(f"{name}-{n}" for n in range(2, len(used) + 3)))
    return next(it for it in candidates if it not in used)


def _to_name(text: str) -> str:
    return _NAME.sub("-", text).strip("-").lower() or "model"


def _tables(data: Mapping[str, Any], name: str) -> dict[str, dict[str, Any]]:
    tables = data.get(name)
    entries = tables.items() if isinstance(tables, Mapping) else ()
    return {name: dict(table) for name, table in entries if isinstance(table, Mapping)}
