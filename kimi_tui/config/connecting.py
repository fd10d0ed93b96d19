"""Keeping how a model is reached: the key in the credentials, all else in the user's config file."""

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import field
from pathlib import Path
from typing import Any

from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.value import value
from kimi_tui.config.credentials import Credential, Credentials
from kimi_tui.config.editing import add_missing, set_default_model
from kimi_tui.config.environment import KNOWN_PROVIDERS, KnownProvider
from kimi_tui.config.loading import ENVIRONMENT, RawConfig, user_config_path

UNKNOWN_SIZE = 32_768
"""Tokens that are counted on where a server doesn't say how many its model holds."""
_OPENAI = ("openai", "openai_legacy")
_SERVICES = tuple(known.name for known in KNOWN_PROVIDERS)
_NAME = re.compile(r"[^A-Za-z0-9_-]+")


@value(kw_only=True)
class Connection:
    """A model, and how it is reached."""

    provider: str
    """A known service, or what a server of the user's own is called."""
    model: str
    """As the server knows it."""
    api_key: str = field(default="", repr=False)
    base_url: str | None = None
    max_context_size: int | None = None


def known_service(name: str) -> KnownProvider | None:
    """The service of that name."""
    return next((known for known in KNOWN_PROVIDERS if known.name == name), None)


def waiting_for_key(data: Mapping[str, Any], known: KnownProvider) -> tuple[str, str]:
    """Address and model of a provider of the config that lacks only a key of this service; else empty."""
    for name, table in _tables(data, "providers").items():
        if table.get("type") == known.name and table.get("base_url") and not table.get("api_key"):
            models = [it for it in _tables(data, "models").values() if it.get("provider") == name]
            return str(table["base_url"]), str(models[0].get("model", "")) if models else ""
    return "", ""


def check_key(key: str) -> str:
    """`key` without what surrounds it. Raises KimiTuiError for what can't be one."""
    key = key.strip()
    if not (key.isascii() and key.isprintable()) or " " in key:
        raise KimiTuiError(
            "That is no key: it has spaces or odd characters in it.", hint="Copy it once more."
        )
    return key


def keep_connection(
    wanted: Connection, *, share_dir: Path, reread: Callable[[], RawConfig], as_default: bool
) -> str:
    """Keep `wanted`; the name of its model among the settings from now on.

    Models that were there only because of a key are written down with it, since a config file that has models
    has the last word on which there are. Raises ConfigError.
    """
    known = known_service(wanted.provider)
    config = reread()
    default = config.data.get("default_model")
    provider = _provider_for(wanted, known, config)
    if wanted.api_key:
        owner, address = (known.name, wanted.base_url) if known is not None else (provider, None)
        Credentials(share_dir).keep(owner, Credential(wanted.api_key, address))
        config = reread()
    name = _existing(config.data, provider, wanted.model)
    path = user_config_path(share_dir)
    if name is None:
        name = _free_name(config.data, known.name if known is not None else _name_of(wanted.model), wanted)
        size = wanted.max_context_size or (known.max_context_size if known is not None else UNKNOWN_SIZE)
        tables = _implied(config)
        tables["providers"].setdefault(provider, _provider_table(wanted, known))
        tables["models"][name] = {"provider": provider, "model": wanted.model, "max_context_size": size}
        add_missing(path, tables)
    default = name if as_default or not default else default
    if reread().data.get("default_model") != default:
        set_default_model(path, default)
    return name


def _provider_for(wanted: Connection, known: KnownProvider | None, config: RawConfig) -> str:
    """The name of a provider that is, or will be, reached as `wanted` is."""
    written: dict[str, dict[str, Any]] = {}
    for source in config.sources:
        if source.name != ENVIRONMENT:
            for name, table in _tables(source.data, "providers").items():
                written[name] = {**written.get(name, {}), **table}
    if known is None:
        fitting = [
            name
            for name, table in written.items()
            if table.get("base_url") == wanted.base_url and table.get("type") in _OPENAI
        ]
        name = _name_of(wanted.provider)
    else:
        fitting = [
            name
            for name, table in written.items()
            if table.get("type") == known.name
            and not table.get("api_key")
            and table.get("base_url") in (None, "", wanted.base_url)
        ]
        name = known.name
    return fitting[0] if fitting else _free(name, {*written, *(_SERVICES if known is None else ())})


def _provider_table(wanted: Connection, known: KnownProvider | None) -> dict[str, Any]:
    if known is None:
        return {"type": "openai", "base_url": wanted.base_url or ""}
    return {"type": known.name}


def _existing(data: Mapping[str, Any], provider: str, model: str) -> str | None:
    return next(
        (
            name
            for name, table in _tables(data, "models").items()
            if table.get("provider") == provider and table.get("model") == model
        ),
        None,
    )


def _implied(config: RawConfig) -> dict[str, dict[str, Any]]:
    """The models that keys bring along, and their providers without what the keys bring anyway."""
    data = next((source.data for source in config.sources if source.name == ENVIRONMENT), {})
    models = {name: table for name, table in _tables(data, "models").items() if "provider" in table}
    providers = _tables(data, "providers")
    return {
        "providers": {
            table["provider"]: {"type": providers[table["provider"]]["type"]} for table in models.values()
        },
        "models": dict(models),
    }


def _free_name(data: Mapping[str, Any], name: str, wanted: Connection) -> str:
    taken = _tables(data, "models")
    return name if name not in taken else _free(_name_of(wanted.model), taken)


def _free(name: str, taken: Collection[str]) -> str:
    candidates = (name, *(f"{name}-{n}" for n in range(2, len(taken) + 3)))
    return next(it for it in candidates if it not in taken)


def _name_of(text: str) -> str:
    return _NAME.sub("-", text).strip("-").lower() or "model"


def _tables(data: Mapping[str, Any], name: str) -> dict[str, dict[str, Any]]:
    tables = data.get(name)
    entries = tables.items() if isinstance(tables, Mapping) else ()
    return {name: dict(table) for name, table in entries if isinstance(table, Mapping)}
