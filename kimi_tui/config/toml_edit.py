"""In-place edits of the config file. Comments and order are kept, and the file is replaced atomically."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import tomlkit
from tomlkit import TOMLDocument
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import Array, Table

from kimi_tui.base.atomic_file import write_private_atomic
from kimi_tui.base.errors import ConfigError
from kimi_tui.base.message_text import msg
from kimi_tui.config.config_source import read_config_text
from kimi_tui.config.kimi_cli_compat import is_from_kimi_cli
from kimi_tui.config.project_config import project_config_path
from kimi_tui.config.project_trust import ProjectTrust

_KIMI_CLI_THEMES = ("dark", "light")


def add_allowed_rule(path: Path, rule: str, *, date: str = "") -> None:
    """Add `rule` to `permissions.allow` in the file at `path`, created if missing. Raises ConfigError.

    `date` is written as a comment after it.
    """

    def add(document: TOMLDocument) -> None:
        permissions = document.setdefault("permissions", tomlkit.table())
        if not isinstance(permissions, Table):
            raise _not_editable_error(path, "permissions isn't a table")
        allowed = permissions.setdefault("allow", tomlkit.array())
        if not isinstance(allowed, Array):
            raise _not_editable_error(path, "permissions.allow isn't a list")
        if rule in allowed:
            return
        if date:
            allowed.add_line(rule, comment=date)
        else:
            allowed.append(rule)

    edit_config(path, add)


def replace_rule(path: Path, name: str, rule: str, new_rule: str | None) -> None:
    """Replace `rule` in the list `permissions.NAME` of the file at `path`; remove it if `new_rule` is None.

    A comment on the rule's line is removed with it. Raises ConfigError, also if the list lacks the rule.
    """

    def change(document: TOMLDocument) -> None:
        permissions = document.get("permissions")
        rules = permissions.get(name) if isinstance(permissions, Mapping) else None
        if not isinstance(rules, Array) or rule not in rules:
            raise ConfigError(
                msg("{path} no longer contains the rule {rule}.", path=path, rule=rule),
                hint="Open the list of permissions again.",
            )
        if new_rule is None or new_rule in rules:
            rules.remove(rule)
        else:
            rules[rules.index(rule)] = new_rule

    edit_config(path, change)


def replace_project_rule(path: Path, name: str, rule: str, new_rule: str | None, *, data_dir: Path) -> None:
    """Do what `replace_rule` does in a project's config. A trusted file stays trusted. Raises ConfigError."""
    _edit_trusted(path, lambda: replace_rule(path, name, rule, new_rule), data_dir=data_dir)


def allow_in_project(rule: str, *, work_dir: Path, data_dir: Path, date: str = "") -> None:
    """Add `rule` to the config of the project at `work_dir`, created if missing. Raises ConfigError.

    A trusted file stays trusted, since the user approved the rule. An untrusted one doesn't become trusted.
    """
    path = project_config_path(work_dir, data_dir) or work_dir / ".kimi-tui" / "config.toml"
    _edit_trusted(path, lambda: add_allowed_rule(path, rule, date=date), data_dir=data_dir)


def _edit_trusted(path: Path, edit: Callable[[], None], *, data_dir: Path) -> None:
    trust = ProjectTrust(data_dir)
    trusted = not path.exists() or trust.is_trusted(path, read_config_text(path))
    edit()
    if not trusted:
        return
    try:
        trust.trust(path, read_config_text(path))
    except OSError as error:
        raise ConfigError(
            msg("Can't save that {path} is trusted: {reason}.", path=path, reason=error.strerror or error),
            hint="Make the data directory writable, or set KIMI_SHARE_DIR.",
        ) from error


def set_default_model(path: Path, name: str) -> None:
    """Set `default_model` in the file at `path`, created if missing. Raises ConfigError."""
    edit_config(path, lambda document: _set_top_level(document, "default_model", name))


def defines_model(path: Path, name: str) -> bool:
    """Return whether the file at `path` defines model `name`, so that it can be the default there."""
    try:
        models = tomlkit.parse(read_config_text(path)).get("models")
    except (ConfigError, TOMLKitError, OSError):
        return False
    return isinstance(models, Mapping) and name in models


def set_theme(path: Path, theme: str) -> None:
    """Set `theme` in the file at `path`, created if missing. Raises ConfigError."""
    edit_config(path, lambda document: _set_top_level(document, "theme", theme))


def add_missing(path: Path, tables: Mapping[str, Mapping[str, Any]]) -> tuple[str, ...]:
    """Add the entries of `tables` that the file at `path` lacks. Return their dotted names.

    Raises ConfigError.
    """
    added: list[str] = []

    def add(document: TOMLDocument) -> None:
        for name, entries in tables.items():
            table = document.setdefault(name, tomlkit.table(is_super_table=True))
            if not isinstance(table, Table):
                raise _not_editable_error(path, f"{name} isn't a table")
            for key, value in entries.items():
                if key not in table:
                    table[key] = value
                    added.append(f"{name}.{key}")

    edit_config(path, add)
    return tuple(added)


def _set_top_level(document: TOMLDocument, key: str, value: str) -> None:
    document[key] = value


def _keep_valid_for_kimi_cli(path: Path, document: TOMLDocument) -> None:
    """If Kimi CLI wrote the document, keep the theme one that it accepts. Raises ConfigError.

    Kimi CLI doesn't start with another value. A missing theme is `auto` here and its default there.
    """
    theme = document.get("theme")
    if theme in (None, *_KIMI_CLI_THEMES) or not is_from_kimi_cli(document.unwrap()):
        return
    if theme != "auto":
        raise ConfigError(
            msg("Kimi CLI shares {path} and doesn't accept the theme {theme}.", path=path, theme=theme),
            hint="Use auto, dark or light, or give kimi-tui its own directory with KIMI_SHARE_DIR.",
        )
    del document["theme"]


def edit_config(path: Path, change: Callable[[TOMLDocument], None]) -> None:
    """Apply `change` to the file at `path`, created if missing. Raises ConfigError."""
    if path.suffix.lower() != ".toml":
        raise _not_editable_error(path, "only TOML files can be edited here")
    try:
        document = tomlkit.parse(read_config_text(path) if path.exists() else "")
    except TOMLKitError as error:
        raise _not_editable_error(path, str(error).rstrip(".")) from None
    change(document)
    _keep_valid_for_kimi_cli(path, document)
    try:
        write_private_atomic(path, tomlkit.dumps(document))
    except OSError as error:
        raise ConfigError(
            msg("Can't write {path}: {reason}.", path=path, reason=error.strerror),
            hint="Check its owner and permissions.",
        ) from error


def _not_editable_error(path: Path, reason: str) -> ConfigError:
    return ConfigError(
        msg("Can't edit {path}: {reason}.", path=path, reason=reason),
        hint="Edit it in an editor: `kimi-tui config edit`.",
    )
