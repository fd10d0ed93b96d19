"""Changes of single settings in the user's config file, validated by the settings models."""

import copy
import tomllib
from collections.abc import Mapping, MutableMapping
from pathlib import Path
from typing import Any

import tomlkit
from pydantic import ValidationError
from pydantic_core import PydanticUndefined
from tomlkit import TOMLDocument

from kimi_tui.base.errors import ConfigError
from kimi_tui.base.message_text import msg
from kimi_tui.base.terminal_text import sanitize_line
from kimi_tui.config.config_source import ConfigSource
from kimi_tui.config.effective_settings import current_value, kind_of
from kimi_tui.config.key_location import KeyPath
from kimi_tui.config.loader import user_config_path
from kimi_tui.config.raw_config import RawConfig
from kimi_tui.config.settings import Settings
from kimi_tui.config.settings_schema import SettingDoc, dotted_key, setting_docs
from kimi_tui.config.toml_edit import edit_config
from kimi_tui.config.validation_errors import find_problems, known_keys, suggestion

_BOOLEANS = {"true": True, "on": True, "yes": True, "false": False, "off": False, "no": False}
_INPUT_NAME = "Your input"


def set_setting(key: str, text: str | None, *, config: RawConfig, data_dir: Path) -> str:
    """Write `text` as the value of `key` to the user's config file; remove the key if it is None.

    `config` is the config in effect. Return the name of the source that overrides the file, or an empty
    string. Raises ConfigError for an unknown setting, an invalid value or a file that can't be written.
    """
    path = key_path(key)
    data = _with_value(config.data, path, "")
    setting = next((doc for doc in setting_docs(data) if doc.path == path), None)
    if setting is None:
        siblings = known_keys(path[:-1]) or known_keys(())
        raise ConfigError(
            msg("Unknown setting {key}.", key=sanitize_line(key)),
            hint=suggestion(str(path[-1]), siblings, what=msg("keys")),
        )
    _reject_sensitive(setting)
    file = user_config_path(data_dir)
    if text is None:
        edit_config(file, lambda document: _remove_value(document, path))
        return ""
    value = _parse_value(setting, text)
    _validate(config.data, path, value)
    edit_config(file, lambda document: _set_value(document, path, value))
    return _override_note(config, path, file)


def key_path(key: str) -> KeyPath:
    """Return the parts of a dotted key. Parts that contain dots are quoted, except for binding ids.

    Raises ConfigError for an invalid key.
    """
    table, _, rest = key.partition(".")
    if table == "keymap" and rest and '"' not in rest:
        return ("keymap", rest)
    try:
        data: Any = tomllib.loads(f"{key} = 0")
    except tomllib.TOMLDecodeError:
        raise ConfigError(
            msg("“{key}” isn't a valid setting key.", key=sanitize_line(key)),
            hint="Use the form ui.mouse or models.kimi.model.",
        ) from None
    parts: list[str] = []
    while isinstance(data, dict) and len(data) == 1:
        part, data = next(iter(data.items()))
        parts.append(part)
    return tuple(parts)


def _reject_sensitive(setting: SettingDoc) -> None:
    kind = kind_of(setting)
    if kind == "secret":
        raise ConfigError(
            msg("{key} is a secret and can't be set here.", key=dotted_key(setting.path)),
            hint="Use /login, `kimi-tui login` or `kimi-tui config edit`.",
        )
    if kind == "table":
        raise ConfigError(
            msg("{key} contains tables and can't be set here.", key=dotted_key(setting.path)),
            hint="Use `kimi-tui config edit`.",
        )


def _parse_value(setting: SettingDoc, text: str) -> Any:
    """Return `text` as a value. Invalid text is returned unchanged, so that validation reports it."""
    text = text.strip()
    match kind_of(setting):
        case "switch":
            return _BOOLEANS.get(text.lower(), text)
        case "integer" | "number":
            try:
                return int(text)
            except ValueError:
                pass
            try:
                return float(text)
            except ValueError:
                return text
        case "list":
            return _parse_items(text)
        case _:
            return text


def _parse_items(text: str) -> Any:
    if not text.startswith("["):
        return [text] if text else []
    try:
        return tomllib.loads(f"items = {text}")["items"]
    except (tomllib.TOMLDecodeError, RecursionError):
        raise ConfigError(
            msg("“{text}” isn't a list.", text=sanitize_line(text)[:80]), hint='Use the form ["a", "b"].'
        ) from None


def _validate(data: Mapping[str, Any], path: KeyPath, value: Any) -> None:
    """Check that `value` is valid for the setting. Raises ConfigError with the models' message."""
    changed = _with_value(data, path, value)
    if path == ("default_model",) and value and value not in (data.get("models") or {}):
        models = list(data.get("models") or {})
        raise ConfigError(
            msg("Unknown model “{name}”.", name=sanitize_line(str(value))),
            hint=suggestion(str(value), models, what=msg("values")),
        )
    try:
        Settings.model_validate(changed)
    except ValidationError as error:
        source = ConfigSource(_INPUT_NAME, _with_value({}, path, value))
        for problem, details in zip(find_problems(error, (source,)), error.errors(), strict=True):
            if tuple(details["loc"])[: len(path)] == path:
                what = problem.what.removeprefix(f"{_INPUT_NAME}, line 1: ").removeprefix(f"{_INPUT_NAME}: ")
                raise ConfigError(what, hint=problem.hint) from None


def _with_value(data: Mapping[str, Any], path: KeyPath, value: Any) -> dict[str, Any]:
    changed = copy.deepcopy(dict(data))
    table: Any = changed
    for part in path[:-1]:
        if not isinstance(table.get(part), dict):
            table[part] = {}
        table = table[part]
    table[path[-1]] = value
    return changed


def _set_value(document: TOMLDocument, path: KeyPath, value: Any) -> None:
    _remove_value(document, path, only_nested=True)
    table: Any = document
    for part in path[:-1]:
        if not isinstance(table.get(part), MutableMapping):
            table[part] = tomlkit.table()
        table = table[part]
    table[path[-1]] = value


def _remove_value(document: TOMLDocument, path: KeyPath, *, only_nested: bool = False) -> None:
    """Remove the key. Binding ids are also removed where they are written as nested tables."""
    nested = ("keymap", *str(path[-1]).split(".")) if path[0] == "keymap" else path
    for variant in {nested} if only_nested else {path, nested}:
        if only_nested and variant == path:
            continue
        tables: list[Any] = [document]
        for part in variant[:-1]:
            inner = tables[-1].get(part)
            if not isinstance(inner, MutableMapping):
                break
            tables.append(inner)
        else:
            if variant[-1] in tables[-1]:
                del tables[-1][variant[-1]]
                parents = list(zip(tables[:-1], tables[1:], variant[:-1], strict=True))
                for outer, inner, name in reversed(parents):
                    if not inner.as_string().strip():  # neither a key nor a comment is left
                        del outer[name]


def _override_note(config: RawConfig, path: KeyPath, file: Path) -> str:
    if path[0] == "permissions":
        return ""
    order = [source for source in config.sources if current_value(source.data, path) is not PydanticUndefined]
    last = order[-1] if order else None
    return "" if last is None or last.path == file else last.name
