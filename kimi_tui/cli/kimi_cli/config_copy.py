"""Copy of Kimi CLI's config without what kimi-tui can't use, so that the copy always loads."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import tomlkit

from kimi_tui.base.errors import ConfigError
from kimi_tui.config.config_source import ConfigSource, source_from_text
from kimi_tui.config.key_location import KeyPath
from kimi_tui.config.kimi_cli_compat import drop_kimi_cli_keys
from kimi_tui.config.raw_config import RawConfig
from kimi_tui.config.validation import remove_keys, validate_settings


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigCopy:
    """The part of a config that can be used."""

    text: str
    """Contents of the copied file, in the syntax of the original."""
    data: Mapping[str, Any]
    """Its settings, without Kimi CLI's own keys."""
    own_keys: tuple[str, ...]
    """Names of Kimi CLI's own keys, which have no effect."""
    problems: tuple[str, ...]
    """Descriptions of the settings that can't be used."""


def copy_config(source: ConfigSource) -> ConfigCopy:
    """Return the usable part of `source`. Its text stays as it is if all of it can be loaded."""
    data, own_keys = drop_kimi_cli_keys(source.data)
    valid = validate_settings(RawConfig(data=data, sources=(source,), is_lenient=True))
    usable = remove_keys(data, valid.removed)
    text = source.text
    if valid.removed and not _loads(source):
        text = _remove_from_text(source, valid.removed)
        if not _loads(source_from_text(text, name=source.name, syntax=source.syntax)):
            text = _dump(usable, source)
    return ConfigCopy(
        text=text,
        data=usable,
        own_keys=own_keys,
        problems=tuple(problem.what for problem in valid.skipped),
    )


def _loads(source: ConfigSource) -> bool:
    try:
        validate_settings(RawConfig(data=drop_kimi_cli_keys(source.data)[0], sources=(source,)))
    except ConfigError:
        return False
    return True


def _remove_from_text(source: ConfigSource, keys: tuple[KeyPath, ...]) -> str:
    """Return the text without `keys`. Comments of a TOML file are kept."""
    if source.syntax != "toml":
        return _dump(remove_keys(source.data, keys), source)
    document = tomlkit.parse(source.text)
    for key in sorted(keys, key=str, reverse=True):  # later items of a list first
        parent: Any = document
        for part in key[:-1]:
            parent = parent.get(part, {}) if isinstance(part, str) else parent[part]
        if isinstance(key[-1], int) or key[-1] in parent:
            del parent[key[-1]]
    return tomlkit.dumps(document)


def _dump(data: Mapping[str, Any], source: ConfigSource) -> str:
    return tomlkit.dumps(data) if source.syntax == "toml" else json.dumps(data, indent=2)
