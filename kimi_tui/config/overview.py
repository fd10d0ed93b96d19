"""Each setting with its value and where that comes from, as people read and type it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import SecretStr
from pydantic_core import PydanticUndefined

from kimi_tui.config.described import Described, Kind, described_settings, dotted
from kimi_tui.config.loading import ENVIRONMENT, RawConfig, user_config_path
from kimi_tui.config.location import KeyPath
from kimi_tui.config.project import project_config_path
from kimi_tui.config.source import Source

Origin = Literal["default", "user", "project", "environment", "option"]
_SECRET_TABLES = ("custom_headers", "env")
_ADDED_UP = "permissions"
"""A table whose lists of all places add up: each place is told and changed by itself."""
_LEFT_OUT = ("scripts",)
"""What is for tests of programs, and needs a file's care."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingView:
    """One setting as it counts now."""

    key: str
    group: str
    kind: Kind
    meaning: str
    value: str
    """As it is typed. Of a secret only whether it is set."""
    default: str
    origin: Origin
    place: str
    """Which file, variable or option it comes from; empty for a default."""
    in_user_file: bool
    choices: tuple[str, ...]


def overview(config: RawConfig, *, share_dir: Path, work_dir: Path) -> tuple[SettingView, ...]:
    """Every setting, in the order of the reference."""
    project = project_config_path(work_dir, share_dir)
    user = user_config_path(share_dir)
    return tuple(
        _view(one, config, user=user, project=project)
        for one in described_settings(config.data)
        if one.path[-1] not in _LEFT_OUT
    )


def kind_of(described: Described) -> Kind:
    """How a value is entered; headers and variables of providers may hold keys."""
    parents = described.path[:-1]
    is_hidden = described.path[0] == "providers" and any(part in _SECRET_TABLES for part in parents)
    return "secret" if is_hidden else described.field.kind


def typed(value: Any) -> str:
    """`value` as it is typed."""
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
            return f"{len(value)} entries"
        case _:
            return str(value)


def held(data: Any, path: KeyPath) -> Any:
    """What `data` has at `path`; PydanticUndefined when it has nothing there. Binding ids may be nested."""
    for count, part in enumerate(path):
        if isinstance(data, Mapping) and part not in data and path[0] == "keymap" and count == 1:
            return held(data, tuple(str(part).split("."))) if "." in str(part) else PydanticUndefined
        try:
            data = data[part]
        except (KeyError, IndexError, TypeError):
            return PydanticUndefined
    return data


def _view(one: Described, config: RawConfig, *, user: Path, project: Path | None) -> SettingView:
    kind = kind_of(one)
    sources = [source for source in config.sources if held(source.data, one.path) is not PydanticUndefined]
    own = next((source for source in sources if source.path == user), None)
    decisive = own if one.path[0] == _ADDED_UP else (sources[-1] if sources else None)
    value = held((own.data if own else {}) if one.path[0] == _ADDED_UP else config.data, one.path)
    if value is PydanticUndefined:
        value = one.field.default
    if kind == "secret":
        shown = "set" if typed(value) else ""
    elif kind == "table" and isinstance(value, list | tuple):
        shown = f"{len(value)} entries" if value else ""
    else:
        shown = typed(value)
    return SettingView(
        key=dotted(one.path),
        group=one.group,
        kind=kind,
        meaning=one.field.meaning,
        value=shown,
        default="" if kind in ("secret", "table") else typed(one.field.default),
        origin="default" if decisive is None else _origin(decisive, user, project),
        place="" if decisive is None else decisive.name,
        in_user_file=own is not None,
        choices=one.field.choices,
    )


def _origin(source: Source, user: Path, project: Path | None) -> Origin:
    if source.name == ENVIRONMENT:
        return "environment"
    if source.path is None:
        return "option"
    return "user" if source.path == user else "project" if source.path == project else "option"
