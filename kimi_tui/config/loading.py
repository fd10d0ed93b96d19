"""Reading the settings: which places, and what wins (`docs/configuration.md`).

Later wins: built-in, the share dir's config, the project's, the environment (and, where that has none, keys
that `login` stored), `--config-file`, `--config`. A file named by `--config-file` is read in place of the
first two. Permission rules and hooks add up instead: no place can drop those of another. Reading costs no
pydantic, so it can happen before the first frame; to validate does.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from kimi_tui.base.errors import ConfigError
from kimi_tui.base.value import value
from kimi_tui.config.credentials import Credentials, stored_layer
from kimi_tui.config.foreign import without_foreign_keys
from kimi_tui.config.project import check_project_rights, project_config_path
from kimi_tui.config.source import (
    SYNTAXES,
    Source,
    read_config_text,
    source_from_file,
    source_from_option,
)
from kimi_tui.config.trust import Trust

if TYPE_CHECKING:
    from kimi_tui.config.settings import Settings

ENVIRONMENT = "The environment"
"""The source that holds what variables and stored keys set."""


@value(kw_only=True)
class RawConfig:
    """Settings as they were read, merged but not yet validated."""

    data: dict[str, Any]
    sources: tuple[Source, ...]
    """The weakest first."""
    untrusted: Source | None = None
    """The project's config that was left out, since the user hasn't said yes to it."""
    fault: ConfigError | None = None
    """What is wrong with that one, so that there is nothing to say yes to."""
    left_out: tuple[str, ...] = ()
    """Keys of kimi-cli that mean nothing here."""


def user_config_path(share_dir: Path) -> Path:
    """The user's config file: the first that exists, `config.toml` when none does."""
    candidates = [share_dir / f"config{ending}" for ending in SYNTAXES]
    return next((path for path in candidates if path.is_file()), candidates[0])


def read_config(
    *,
    share_dir: Path,
    work_dir: Path,
    config_file: Path | None = None,
    config_text: str | None = None,
    options: Mapping[str, Any] = MappingProxyType({}),
    environ: Mapping[str, str] = os.environ,
) -> RawConfig:
    """Read every place; `options` are settings that have an option of their own.

    Raises ConfigError for a place that can't be read or parsed, or that sets what it must not.
    """
    files, untrusted, fault = ([], None, None) if config_file else _standing_files(share_dir, work_dir)
    typed = [source_from_file(config_file)] if config_file else []
    if config_text is not None:
        typed.append(source_from_option(config_text))
    typed.append(Source("The command line", dict(options)))
    stored = Credentials(share_dir).read()
    surroundings = Source(ENVIRONMENT, stored_layer(_merged([*files, *typed]), stored, environ))
    sources = (*files, surroundings, *typed)
    data, left_out = without_foreign_keys(_merged(sources))
    return RawConfig(data=data, sources=sources, untrusted=untrusted, fault=fault, left_out=left_out)


def settings_of(config: RawConfig) -> "Settings":
    """The validated settings. Raises ConfigError: file, line, key, value and what would be right."""
    from pydantic import ValidationError

    from kimi_tui.config.settings import Settings

    try:
        return Settings.model_validate(config.data)
    except ValidationError as error:
        from kimi_tui.config.problems import config_error

        raise config_error(error, config.sources) from None


def _standing_files(
    share_dir: Path, work_dir: Path
) -> tuple[list[Source], Source | None, ConfigError | None]:
    """The user's config and the project's when it is trusted; the project's when it is not, and its fault."""
    user = user_config_path(share_dir)
    files = [source_from_file(user)] if user.is_file() else []
    path = project_config_path(work_dir, share_dir)
    if path is None:
        return files, None, None
    trust = Trust(share_dir)
    try:
        project = source_from_file(path)
        check_project_rights(project)
    except ConfigError as fault:
        if _is_trusted(path, trust):
            raise
        return files, Source(str(path), {}, path=path), fault  # somebody else's mistake ends nothing here
    return ([*files, project], None, None) if trust.covers(path, project.text) else (files, project, None)


def _is_trusted(path: Path, trust: Trust) -> bool:
    try:
        return trust.covers(path, read_config_text(path))
    except ConfigError:
        return False


def _merged(sources: "list[Source] | tuple[Source, ...]") -> dict[str, Any]:
    data: dict[str, Any] = {}
    for source in sources:
        data = _laid_over(data, source.data, ())
    if isinstance(data.get("keymap"), dict):
        data["keymap"] = _dotted(data["keymap"], "")
    return data


def _laid_over(lower: dict[str, Any], upper: dict[str, Any], path: tuple[str, ...]) -> dict[str, Any]:
    result = dict(lower)
    for key, setting in upper.items():
        below = lower.get(key)
        if isinstance(setting, dict) and isinstance(below, dict):
            result[key] = _laid_over(below, setting, (*path, key))
        elif _adds_up(path, key) and isinstance(setting, list) and isinstance(below, list):
            result[key] = [*below, *(item for item in setting if item not in below)]
        else:
            result[key] = setting
    return result


def _adds_up(path: tuple[str, ...], key: str) -> bool:
    return path == ("permissions",) or (path == () and key == "hooks")


def _dotted(table: dict[str, Any], prefix: str) -> dict[str, Any]:
    """`table` with `a.b` for key b of table a: binding ids hold dots, and TOML nests them unless quoted."""
    flat: dict[str, Any] = {}
    for key, setting in table.items():
        flat |= (
            _dotted(setting, f"{prefix}{key}.") if isinstance(setting, dict) else {f"{prefix}{key}": setting}
        )
    return flat
