"""Effective value and source of each setting, as text."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import SecretStr
from pydantic_core import PydanticUndefined

from kimi_tui.base.message_text import msg
from kimi_tui.config.config_source import ConfigSource
from kimi_tui.config.key_location import KeyPath
from kimi_tui.config.loader import ENVIRONMENT, user_config_path
from kimi_tui.config.project_config import project_config_path
from kimi_tui.config.raw_config import RawConfig
from kimi_tui.config.settings_schema import Kind, SettingDoc, dotted_key, setting_docs

Origin = Literal["default", "user", "project", "environment", "option"]
_SECRET_TABLES = ("custom_headers", "env")
_ADDITIVE_TABLE = "permissions"
"""Table whose lists from all sources are combined, so each source is shown and edited separately."""
_HIDDEN_KEYS = ("scripts",)
"""Keys for tests of other programs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingView:
    """A setting with its effective value."""

    key: str
    group: str
    kind: Kind
    meaning: str
    value: str
    """Value as typed. For a secret, only whether it is set."""
    default: str
    origin: Origin
    place: str
    """File, variable or option that sets it; empty for a default."""
    in_user_file: bool
    choices: tuple[str, ...]


def effective_settings(config: RawConfig, *, data_dir: Path, work_dir: Path) -> tuple[SettingView, ...]:
    """Return all settings in the order of the reference."""
    project = project_config_path(work_dir, data_dir)
    user = user_config_path(data_dir)
    return tuple(
        _build_view(one, config, user=user, project=project)
        for one in setting_docs(config.data)
        if one.path[-1] not in _HIDDEN_KEYS
    )


def kind_of(setting_doc: SettingDoc) -> Kind:
    """Return how a value is entered. Headers and variables of providers are secret, since they may contain
    keys.
    """
    parents = setting_doc.path[:-1]
    is_hidden = setting_doc.path[0] == "providers" and any(part in _SECRET_TABLES for part in parents)
    return "secret" if is_hidden else setting_doc.field.kind


def format_input(value: Any) -> str:
    """Return `value` as typed."""
    if value is PydanticUndefined:
        return ""
    match value:
        case None:
            return ""
        case SecretStr():
            return "set" if value.get_secret_value() else ""
        case bool():
            return str(value).lower()
        case float() if value.is_integer():
            return str(int(value))
        case list() | tuple() | frozenset():
            items = sorted(value) if isinstance(value, frozenset) else list(value)
            return json.dumps(items, ensure_ascii=False, default=str)
        case Mapping():
            return msg("{count} entries", count=len(value))
        case _:
            return str(value)


def current_value(data: Any, path: KeyPath) -> Any:
    """Return the value in `data` at `path`, or PydanticUndefined if it isn't set. Binding ids may be
    nested.
    """
    for count, part in enumerate(path):
        if isinstance(data, Mapping) and part not in data and path[0] == "keymap" and count == 1:
            return current_value(data, tuple(str(part).split("."))) if "." in str(part) else PydanticUndefined
        try:
            data = data[part]
        except (KeyError, IndexError, TypeError):
            return PydanticUndefined
    return data


def _build_view(
    setting_doc: SettingDoc, config: RawConfig, *, user: Path, project: Path | None
) -> SettingView:
    kind = kind_of(setting_doc)
    sources = [
        source
        for source in config.sources
        if current_value(source.data, setting_doc.path) is not PydanticUndefined
    ]
    own = next((source for source in sources if source.path == user), None)
    decisive = own if setting_doc.path[0] == _ADDITIVE_TABLE else (sources[-1] if sources else None)
    value = current_value(
        (own.data if own else {}) if setting_doc.path[0] == _ADDITIVE_TABLE else config.data, setting_doc.path
    )
    if value is PydanticUndefined:
        value = setting_doc.field.default
    if kind == "secret":
        shown = "set" if format_input(value) else ""
    elif kind == "table" and isinstance(value, list | tuple):
        shown = msg("{count} entries", count=len(value)) if value else ""
    else:
        shown = format_input(value)
    return SettingView(
        key=dotted_key(setting_doc.path),
        group=setting_doc.group,
        kind=kind,
        meaning=setting_doc.field.meaning,
        value=shown,
        default="" if kind in ("secret", "table") else format_input(setting_doc.field.default),
        origin="default" if decisive is None else _origin(decisive, user, project),
        place="" if decisive is None else decisive.name,
        in_user_file=own is not None,
        choices=setting_doc.field.choices,
    )


def _origin(source: ConfigSource, user: Path, project: Path | None) -> Origin:
    if source.name == ENVIRONMENT:
        return "environment"
    if source.path is None:
        return "option"
    return "user" if source.path == user else "project" if source.path == project else "option"
