"""The config that a project brings along: where it is, and what it may not set."""

from pathlib import Path
from typing import Any

from kimi_tui.base.errors import ConfigError
from kimi_tui.config.source import Source

_OF_THE_USER = ("api_key", "base_url", "custom_headers", "env")
"""Keys of a provider that decide where the conversation goes and with whose key."""
_TABLES_OF_THE_USER = ("services", "web")
"""Tables that decide who is asked what the model searches for, and which addresses it may reach."""


def project_config_path(work_dir: Path, share_dir: Path) -> Path | None:
    """`.kimi-tui/config.toml` of the work dir or of the repository around it; None when there is none."""
    return project_file(work_dir, share_dir, ".kimi-tui/config.toml")


def project_file(work_dir: Path, share_dir: Path, name: str) -> Path | None:
    """The file `name` of the work dir or of the repository around it, the nearest; none of the share dir."""
    for folder in _up_to_repository(work_dir):
        path = folder / name
        if path.is_file() and path.parent.resolve() != share_dir.resolve():
            return path
    return None


def check_project_rights(source: Source) -> None:
    """Raises ConfigError when a project's config sets what only the user may set."""
    for table in _TABLES_OF_THE_USER:
        for path, _ in _leaves(source.data.get(table, {}), (table,)):
            raise _not_here(source, path)
    providers = source.data.get("providers")
    for name, provider in providers.items() if isinstance(providers, dict) else ():
        for key in _OF_THE_USER:
            if isinstance(provider, dict) and key in provider:
                raise _not_here(source, ("providers", name, key))


def summary_of(data: dict[str, Any]) -> list[str]:
    """One line a setting, `key = value`, for whoever decides whether to trust it."""
    return [f"{'.'.join(path)} = {value!r}" for path, value in _leaves(data, ())]


def _not_here(source: Source, key: tuple[str, ...]) -> ConfigError:
    from kimi_tui.config.location import line_of  # only errors ask

    return ConfigError(
        f"{source.name}, line {line_of(source, key)}: a project's config can't set {'.'.join(key)}.",
        hint="Set it in your own config, which `kimi-tui config path` names.",
    )


def _leaves(value: Any, path: tuple[str, ...]) -> list[tuple[tuple[str, ...], Any]]:
    if isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
        return [leaf for number, item in enumerate(value) for leaf in _leaves(item, (*path, str(number)))]
    if not isinstance(value, dict):
        return [(path, value)]
    return [leaf for key, item in value.items() for leaf in _leaves(item, (*path, key))]


def _up_to_repository(work_dir: Path) -> list[Path]:
    folders = [work_dir, *work_dir.parents]
    for count, folder in enumerate(folders, 1):
        if (folder / ".git").exists():
            return folders[:count]
    return [work_dir]
