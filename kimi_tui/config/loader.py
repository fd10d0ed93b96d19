"""Loader of settings: sources and precedence (`docs/configuration.md`).

Later sources override earlier ones: defaults, the data directory's config, the project's config, the
environment (or stored keys), `--config-file`, `--config`. `--config-file` is read instead of the first two
files. Permission rules and hooks of all sources are combined, so no source can remove another's. Reading
doesn't import pydantic, so it can happen before the first frame; validation does.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from kimi_tui.base.errors import ConfigError
from kimi_tui.base.frozen import frozen
from kimi_tui.base.message_text import msg
from kimi_tui.config.config_source import (
    SYNTAXES,
    ConfigSource,
    read_config_text,
    source_from_file,
    source_from_option,
)
from kimi_tui.config.credentials import Credentials, credentials_layer
from kimi_tui.config.kimi_cli_compat import drop_kimi_cli_keys
from kimi_tui.config.project_config import check_project_keys, project_config_path
from kimi_tui.config.project_trust import ProjectTrust

if TYPE_CHECKING:
    from kimi_tui.config.settings import Settings

ENVIRONMENT = msg("The environment")
"""Name of the source for environment variables and stored keys."""


@frozen(kw_only=True)
class RawConfig:
    """Merged settings, not yet validated."""

    data: dict[str, Any]
    sources: tuple[ConfigSource, ...]
    """In order of precedence, lowest first."""
    untrusted_source: ConfigSource | None = None
    """The project's config, ignored because the user doesn't trust it."""
    project_error: ConfigError | None = None
    """Error in the untrusted config, so that it can't be trusted either."""
    dropped_keys: tuple[str, ...] = ()
    """Keys of kimi-cli that have no effect."""


def user_config_path(data_dir: Path) -> Path:
    """Return the user's config file: the first that exists, else `config.toml`."""
    candidates = [data_dir / f"config{ending}" for ending in SYNTAXES]
    return next((path for path in candidates if path.is_file()), candidates[0])


def read_config(
    *,
    data_dir: Path,
    work_dir: Path,
    config_file: Path | None = None,
    config_text: str | None = None,
    options: Mapping[str, Any] = MappingProxyType({}),
    environ: Mapping[str, str] = os.environ,
) -> RawConfig:
    """Read and merge all sources. `options` contains settings with dedicated options.

    Raises ConfigError for a source that can't be read or parsed, or that sets a forbidden key.
    """
    files, untrusted, project_error = ([], None, None) if config_file else _config_files(data_dir, work_dir)
    from_options = [source_from_file(config_file)] if config_file else []
    if config_text is not None:
        from_options.append(source_from_option(config_text))
    from_options.append(ConfigSource(msg("The command line"), dict(options)))
    stored = Credentials(data_dir).read()
    environment = ConfigSource(
        ENVIRONMENT, credentials_layer(_merge_sources([*files, *from_options]), stored, environ)
    )
    sources = (*files, environment, *from_options)
    data, dropped = drop_kimi_cli_keys(_merge_sources(sources))
    return RawConfig(
        data=data,
        sources=sources,
        untrusted_source=untrusted,
        project_error=project_error,
        dropped_keys=dropped,
    )


def settings_of(config: RawConfig) -> "Settings":
    """Return the validated settings. Raises ConfigError with file, line, key, value and a hint."""
    from pydantic import ValidationError

    from kimi_tui.config.settings import Settings

    try:
        return Settings.model_validate(config.data)
    except ValidationError as error:
        from kimi_tui.config.validation_errors import config_error

        raise config_error(error, config.sources) from None


def _config_files(
    data_dir: Path, work_dir: Path
) -> tuple[list[ConfigSource], ConfigSource | None, ConfigError | None]:
    """Return the config files in effect, the project's config if untrusted, and its error."""
    user = user_config_path(data_dir)
    files = [source_from_file(user)] if user.is_file() else []
    path = project_config_path(work_dir, data_dir)
    if path is None:
        return files, None, None
    trust = ProjectTrust(data_dir)
    try:
        project = source_from_file(path)
        check_project_keys(project)
    except ConfigError as error:
        if _is_trusted(path, trust):
            raise
        return files, ConfigSource(str(path), {}, path=path), error  # an untrusted file can't block the start
    return ([*files, project], None, None) if trust.is_trusted(path, project.text) else (files, project, None)


def _is_trusted(path: Path, trust: ProjectTrust) -> bool:
    try:
        return trust.is_trusted(path, read_config_text(path))
    except ConfigError:
        return False


def _merge_sources(sources: "list[ConfigSource] | tuple[ConfigSource, ...]") -> dict[str, Any]:
    data: dict[str, Any] = {}
    for source in sources:
        data = _merge_tables(data, source.data, ())
    if isinstance(data.get("keymap"), dict):
        data["keymap"] = _flatten_keys(data["keymap"], "")
    return data


def _merge_tables(lower: dict[str, Any], upper: dict[str, Any], path: tuple[str, ...]) -> dict[str, Any]:
    result = dict(lower)
    for key, setting in upper.items():
        below = lower.get(key)
        if isinstance(setting, dict) and isinstance(below, dict):
            result[key] = _merge_tables(below, setting, (*path, key))
        elif _is_additive(path, key) and isinstance(setting, list) and isinstance(below, list):
            result[key] = [*below, *(item for item in setting if item not in below)]
        else:
            result[key] = setting
    return result


def _is_additive(path: tuple[str, ...], key: str) -> bool:
    return path == ("permissions",) or (path == () and key == "hooks")


def _flatten_keys(table: dict[str, Any], prefix: str) -> dict[str, Any]:
    """Return `table` with `a.b` for key b of table a. Binding ids contain dots, and unquoted TOML keys
    nest.
    """
    flat: dict[str, Any] = {}
    for key, setting in table.items():
        flat |= (
            _flatten_keys(setting, f"{prefix}{key}.")
            if isinstance(setting, dict)
            else {f"{prefix}{key}": setting}
        )
    return flat
