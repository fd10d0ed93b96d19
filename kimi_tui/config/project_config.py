"""Config file of a project: its location and the keys it can't set."""

from pathlib import Path
from typing import Any

from kimi_tui.base.errors import ConfigError
from kimi_tui.base.message_text import msg
from kimi_tui.config.config_source import ConfigSource

_USER_ONLY_KEYS = ("api_key", "base_url", "custom_headers", "env")
"""Keys of a provider that decide where the conversation is sent and which API key is used."""
_USER_ONLY_SETTINGS = ("default_yolo", "default_editor")
"""Settings that approve everything or name a program to start."""
_USER_ONLY_TABLES = ("services", "web")
"""Tables that decide which service runs searches and which addresses can be fetched."""


def project_config_path(work_dir: Path, data_dir: Path) -> Path | None:
    """Return `.kimi-tui/config.toml` of the working directory or its repository, or None."""
    return project_file(work_dir, data_dir, ".kimi-tui/config.toml")


def project_file(work_dir: Path, data_dir: Path, name: str) -> Path | None:
    """Return the nearest file `name` in the working directory or its repository. Skips the data directory."""
    for folder in dirs_up_to_repository(work_dir):
        path = folder / name
        if path.is_file() and path.parent.resolve() != data_dir.resolve():
            return path
    return None


def dirs_up_to_repository(work_dir: Path) -> list[Path]:
    """Return the directories from the working directory up to the root of its repository.

    Outside a repository, only the working directory.
    """
    folders = [work_dir, *work_dir.parents]
    for count, folder in enumerate(folders, 1):
        if (folder / ".git").exists():
            return folders[:count]
    return [work_dir]


def check_project_keys(source: ConfigSource) -> None:
    """Check that a project's config sets no user-only keys. Raises ConfigError."""
    for name in _USER_ONLY_SETTINGS:
        if name in source.data:
            raise _user_only_error(source, (name,))
    for table in _USER_ONLY_TABLES:
        for path, _ in _leaves(source.data.get(table, {}), (table,)):
            raise _user_only_error(source, path)
    providers = source.data.get("providers")
    for name, provider in providers.items() if isinstance(providers, dict) else ():
        for key in _USER_ONLY_KEYS:
            if isinstance(provider, dict) and key in provider:
                raise _user_only_error(source, ("providers", name, key))


def summarize_settings(data: dict[str, Any]) -> list[str]:
    """Return one line per setting, `key = value`, for the trust prompt."""
    return [f"{'.'.join(path)} = {value!r}" for path, value in _leaves(data, ())]


def _user_only_error(source: ConfigSource, key: tuple[str, ...]) -> ConfigError:
    from kimi_tui.config.key_location import line_of_key  # only needed for errors

    return ConfigError(
        msg(
            "{file}, line {line}: a project's config can't set {key}.",
            file=source.name,
            line=line_of_key(source, key),
            key=".".join(key),
        ),
        hint="Set it in your own config file: `kimi-tui config edit`.",
    )


def _leaves(value: Any, path: tuple[str, ...]) -> list[tuple[tuple[str, ...], Any]]:
    if isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
        return [leaf for number, item in enumerate(value) for leaf in _leaves(item, (*path, str(number)))]
    if not isinstance(value, dict):
        return [(path, value)]
    return [leaf for key, item in value.items() for leaf in _leaves(item, (*path, key))]
