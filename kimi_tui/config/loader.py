"""Loader of settings: sources and precedence (`docs/configuration.md`).

Later sources override earlier ones: defaults, the data directory's config, the project's config, the
environment (or stored keys), `--config-file`, `--config`. `--config-file` is read instead of the first two
files. Permission rules and hooks of all sources are combined, so no source can remove another's. Reading
doesn't import pydantic, so it can happen before the first frame; validation does.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from kimi_tui.base.errors import ConfigError
from kimi_tui.base.message_text import msg
from kimi_tui.config.config_source import (
    SYNTAXES,
    ConfigSource,
    read_config_text,
    source_from_file,
    source_from_option,
)
from kimi_tui.config.credentials import Credential, Credentials, credentials_layer
from kimi_tui.config.kimi_cli_compat import drop_kimi_cli_keys
from kimi_tui.config.project_config import check_project_keys, project_config_path
from kimi_tui.config.project_trust import ProjectTrust
from kimi_tui.config.raw_config import RawConfig

if TYPE_CHECKING:
    from kimi_tui.config.settings import Settings

ENVIRONMENT = msg("The environment")
"""Name of the source for environment variables and stored keys."""


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
    lenient: bool = False,
) -> RawConfig:
    """Read and merge all sources. `options` contains settings with dedicated options.

    With `lenient`, nothing in a source is an error: unusable parts are skipped, here and in
    `validate_settings`. Otherwise raises ConfigError for a source that can't be read or parsed, or that sets
    a forbidden key.
    """
    skipped = _SkippedErrors(lenient=lenient)
    files: list[ConfigSource] = []
    untrusted = project_error = None
    from_options: list[ConfigSource] = []
    stored: dict[str, Credential] = {}
    layer: dict[str, Any] = {}
    with skipped.section():
        if config_file is None:
            user = user_config_path(data_dir)
            files = [source_from_file(user)] if user.is_file() else []
        else:
            from_options = [source_from_file(config_file)]
    with skipped.section():
        if config_file is None:
            project, untrusted, project_error = _project_source(data_dir, work_dir)
            files += [project] if project is not None else []
    with skipped.section():
        if config_text is not None:
            from_options.append(source_from_option(config_text))
    from_options.append(ConfigSource(msg("The command line"), dict(options)))
    with skipped.section():
        stored = Credentials(data_dir).read()
    with skipped.section():
        layer = credentials_layer(_merge_sources([*files, *from_options]), stored, environ)
    environment = ConfigSource(ENVIRONMENT, layer)
    sources = (*files, environment, *from_options)
    data, dropped = drop_kimi_cli_keys(_merge_sources(sources))
    return RawConfig(
        data=data,
        sources=sources,
        untrusted_source=untrusted,
        project_error=project_error,
        dropped_keys=dropped,
        is_lenient=lenient,
        skipped=tuple(skipped.errors),
    )


def settings_of(config: RawConfig) -> "Settings":
    """Return the validated settings. Raises ConfigError with file, line, key, value and a hint."""
    from kimi_tui.config.validation import validate_settings

    return validate_settings(config).settings


class _SkippedErrors:
    """Errors of sources that are skipped in a lenient config."""

    def __init__(self, *, lenient: bool) -> None:
        self.errors: list[ConfigError] = []
        self._lenient = lenient

    @contextmanager
    def section(self) -> Iterator[None]:
        """Record an error of one source, so that the others are still read."""
        try:
            yield
        except ConfigError as error:
            if not self._lenient:
                raise
            self.errors.append(error)


def _project_source(
    data_dir: Path, work_dir: Path
) -> tuple[ConfigSource | None, ConfigSource | None, ConfigError | None]:
    """Return the project's config if it's trusted, or else as untrusted, with its error."""
    path = project_config_path(work_dir, data_dir)
    if path is None:
        return None, None, None
    trust = ProjectTrust(data_dir)
    try:
        project = source_from_file(path)
        check_project_keys(project)
    except ConfigError as error:
        if _is_trusted(path, trust):
            raise
        return None, ConfigSource(str(path), {}, path=path), error  # an untrusted file can't block the start
    return (project, None, None) if trust.is_trusted(path, project.text) else (None, project, None)


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
