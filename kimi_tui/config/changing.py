"""Changing one setting in the user's config file, checked by the settings' own models first."""

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
from kimi_tui.base.terminal import plain_line
from kimi_tui.config.described import Described, described_settings, dotted
from kimi_tui.config.editing import edit_config
from kimi_tui.config.loading import RawConfig, user_config_path
from kimi_tui.config.location import KeyPath
from kimi_tui.config.overview import held, kind_of
from kimi_tui.config.problems import known_keys, problems_in, suggestion
from kimi_tui.config.settings import Settings
from kimi_tui.config.source import Source

_SWITCH = {"true": True, "on": True, "yes": True, "false": False, "off": False, "no": False}
_TYPED = "What you typed"


def change_setting(key: str, text: str | None, *, config: RawConfig, share_dir: Path) -> str:
    """Write `text` as the value of `key` into the user's file; None takes the key out of it.

    `config` is what counts now. Returns the name of the place that goes before the file, empty when none
    does. Raises ConfigError for what is no setting, no value of it, or can't be written.
    """
    path = key_path(key)
    data = _with(config.data, path, "")
    one = next((it for it in described_settings(data) if it.path == path), None)
    if one is None:
        siblings = known_keys(path[:-1]) or known_keys(())
        raise ConfigError(
            f"There is no setting {plain_line(key)}.",
            hint=suggestion(str(path[-1]), siblings, what="keys"),
        )
    _refuse_what_needs_care(one)
    file = user_config_path(share_dir)
    if text is None:
        edit_config(file, lambda document: _take_out(document, path))
        return ""
    value = _value(one, text)
    _check(config.data, path, value)
    edit_config(file, lambda document: _put(document, path, value))
    return _overruling(config, path, file)


def key_path(key: str) -> KeyPath:
    """The parts of a dotted key; what holds dots itself is quoted, but for the ids of keys.

    Raises ConfigError for what is no key.
    """
    table, _, rest = key.partition(".")
    if table == "keymap" and rest and '"' not in rest:
        return ("keymap", rest)
    try:
        data: Any = tomllib.loads(f"{key} = 0")
    except tomllib.TOMLDecodeError:
        raise ConfigError(
            f"“{plain_line(key)}” is no key of a setting.",
            hint="Write it like ui.mouse or models.kimi.model.",
        ) from None
    parts: list[str] = []
    while isinstance(data, dict) and len(data) == 1:
        part, data = next(iter(data.items()))
        parts.append(part)
    return tuple(parts)


def _refuse_what_needs_care(one: Described) -> None:
    kind = kind_of(one)
    if kind == "secret":
        raise ConfigError(
            f"{dotted(one.path)} is a secret, which is not set here.",
            hint="Use /login or `kimi-tui login`, or `kimi-tui config edit`.",
        )
    if kind == "table":
        raise ConfigError(
            f"{dotted(one.path)} holds tables, which are not set here.", hint="Use `kimi-tui config edit`."
        )


def _value(one: Described, text: str) -> Any:
    """`text` as a value; what is none stays a text, for the models to refuse in their words."""
    text = text.strip()
    match kind_of(one):
        case "switch":
            return _SWITCH.get(text.lower(), text)
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
            return _items(text)
        case _:
            return text


def _items(text: str) -> Any:
    if not text.startswith("["):
        return [text] if text else []
    try:
        return tomllib.loads(f"items = {text}")["items"]
    except (tomllib.TOMLDecodeError, RecursionError):
        raise ConfigError(
            f"“{plain_line(text)[:80]}” is no list.", hint='Write it like ["a", "b"].'
        ) from None


def _check(data: Mapping[str, Any], path: KeyPath, value: Any) -> None:
    """Raises ConfigError in the models' words when `value` can't be the setting's."""
    changed = _with(data, path, value)
    if path == ("default_model",) and value and value not in (data.get("models") or {}):
        models = list(data.get("models") or {})
        raise ConfigError(
            f"There is no model “{plain_line(str(value))}”.",
            hint=suggestion(str(value), models, what="values"),
        )
    try:
        Settings.model_validate(changed)
    except ValidationError as error:
        typed = Source(_TYPED, _with({}, path, value))
        for problem, details in zip(problems_in(error, (typed,)), error.errors(), strict=True):
            if tuple(details["loc"])[: len(path)] == path:
                what = problem.what.removeprefix(f"{_TYPED}, line 1: ").removeprefix(f"{_TYPED}: ")
                raise ConfigError(what, hint=problem.hint) from None


def _with(data: Mapping[str, Any], path: KeyPath, value: Any) -> dict[str, Any]:
    changed = copy.deepcopy(dict(data))
    table: Any = changed
    for part in path[:-1]:
        if not isinstance(table.get(part), dict):
            table[part] = {}
        table = table[part]
    table[path[-1]] = value
    return changed


def _put(document: TOMLDocument, path: KeyPath, value: Any) -> None:
    _take_out(document, path, only_nested=True)
    table: Any = document
    for part in path[:-1]:
        if not isinstance(table.get(part), MutableMapping):
            table[part] = tomlkit.table()
        table = table[part]
    table[path[-1]] = value


def _take_out(document: TOMLDocument, path: KeyPath, *, only_nested: bool = False) -> None:
    """Remove the key, and ids of keys also where they are written as tables within tables."""
    nested = ("keymap", *str(path[-1]).split(".")) if path[0] == "keymap" else path
    for way in {nested} if only_nested else {path, nested}:
        if only_nested and way == path:
            continue
        tables: list[Any] = [document]
        for part in way[:-1]:
            inner = tables[-1].get(part)
            if not isinstance(inner, MutableMapping):
                break
            tables.append(inner)
        else:
            if way[-1] in tables[-1]:
                del tables[-1][way[-1]]
                for outer, inner, name in reversed(list(zip(tables[:-1], tables[1:], way[:-1], strict=True))):
                    if not inner.as_string().strip():  # neither a key nor a comment is left
                        del outer[name]


def _overruling(config: RawConfig, path: KeyPath, file: Path) -> str:
    if path[0] == "permissions":
        return ""
    order = [source for source in config.sources if held(source.data, path) is not PydanticUndefined]
    stronger = order[-1] if order else None
    return "" if stronger is None or stronger.path == file else stronger.name
