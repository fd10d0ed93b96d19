"""Changing the config file in place: comments and order stay, the file is replaced whole."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import tomlkit
from tomlkit import TOMLDocument
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import Array, Table

from kimi_tui.base.errors import ConfigError
from kimi_tui.base.private_file import replace_private_file
from kimi_tui.config.project import project_config_path
from kimi_tui.config.source import read_config_text
from kimi_tui.config.trust import Trust


def add_allowed_rule(path: Path, rule: str) -> None:
    """Add `rule` to `permissions.allow` of the file at `path`, made when missing. Raises ConfigError."""

    def add(document: TOMLDocument) -> None:
        permissions = document.setdefault("permissions", tomlkit.table())
        if not isinstance(permissions, Table):
            raise _not_editable(path, "permissions is no table")
        allowed = permissions.setdefault("allow", tomlkit.array())
        if not isinstance(allowed, Array):
            raise _not_editable(path, "permissions.allow is no list")
        if rule not in allowed:
            allowed.append(rule)

    edit_config(path, add)


def allow_in_project(rule: str, *, work_dir: Path, share_dir: Path) -> None:
    """Add `rule` to the config of the project that `work_dir` is in, made when missing. Raises ConfigError.

    What was trusted of it stays trusted, since the user said yes to the rule; the rest does not become so.
    """
    path = project_config_path(work_dir, share_dir) or work_dir / ".kimi-tui" / "config.toml"
    trust = Trust(share_dir)
    trusted = not path.exists() or trust.covers(path, read_config_text(path))
    add_allowed_rule(path, rule)
    if not trusted:
        return
    try:
        trust.grant(path, read_config_text(path))
    except OSError as error:
        raise ConfigError(
            f"That {path} is trusted can't be kept: {error.strerror or error}.",
            hint="Make the share folder writable, or set KIMI_SHARE_DIR.",
        ) from error


def set_default_model(path: Path, name: str) -> None:
    """Make `name` the default model of the file at `path`, made when missing. Raises ConfigError."""
    edit_config(path, lambda document: _set_top(document, "default_model", name))


def defines_model(path: Path, name: str) -> bool:
    """Whether the file at `path` has a model `name`, so that it may be the default there."""
    try:
        models = tomlkit.parse(read_config_text(path)).get("models")
    except (ConfigError, TOMLKitError, OSError):
        return False
    return isinstance(models, Mapping) and name in models


def set_theme(path: Path, theme: str) -> None:
    """Make `theme` the theme of the file at `path`, made when missing. Raises ConfigError."""
    edit_config(path, lambda document: _set_top(document, "theme", theme))


def add_missing(path: Path, tables: Mapping[str, Mapping[str, Any]]) -> tuple[str, ...]:
    """Add the entries of `tables` that those of the file at `path` lack. Returns their dotted names.

    Raises ConfigError.
    """
    added: list[str] = []

    def add(document: TOMLDocument) -> None:
        for name, entries in tables.items():
            table = document.setdefault(name, tomlkit.table(is_super_table=True))
            if not isinstance(table, Table):
                raise _not_editable(path, f"{name} is no table")
            for key, value in entries.items():
                if key not in table:
                    table[key] = value
                    added.append(f"{name}.{key}")

    edit_config(path, add)
    return tuple(added)


def _set_top(document: TOMLDocument, key: str, value: str) -> None:
    document[key] = value


def edit_config(path: Path, change: Callable[[TOMLDocument], None]) -> None:
    """Have `change` alter the file at `path`, made when missing. Raises ConfigError."""
    if path.suffix.lower() != ".toml":
        raise _not_editable(path, "only TOML can be changed with its comments kept")
    try:
        document = tomlkit.parse(read_config_text(path) if path.exists() else "")
    except TOMLKitError as error:
        raise _not_editable(path, str(error).rstrip(".")) from None
    change(document)
    try:
        replace_private_file(path, tomlkit.dumps(document))
    except OSError as error:
        raise ConfigError(
            f"{path} can't be written: {error.strerror}.", hint="Check its owner and permissions."
        ) from error


def _not_editable(path: Path, why: str) -> ConfigError:
    return ConfigError(
        f"{path} can't be changed here: {why}.", hint="Change it by hand: `kimi-tui config edit`."
    )
