"""Setup of a driver: the backend, the budgets and the config files that runs need."""

import os
from pathlib import Path

from kimi_tui.base.errors import UsageError
from kimi_tui.base.message_text import msg
from kimi_tui.config.environment import KEY_VARIABLES
from kimi_tui.fleet.backends.backend import Backend

_CONFIG_FILES = ("config.toml", "config.yaml", "config.yml", "config.json", "mcp.json")
_CONFIG_FOLDERS = ("credentials", "agents", "skills", "commands")
_MAX_CONFIG_BYTES = 64 << 20


def read_config_files(data_dir: Path) -> dict[str, bytes]:
    """Return the files of a data directory that runs read. Raises UsageError if they are too large."""
    paths = [data_dir / name for name in _CONFIG_FILES]
    for folder in _CONFIG_FOLDERS:
        paths += sorted((data_dir / folder).rglob("*"))
    files = {path.relative_to(data_dir).as_posix(): path.read_bytes() for path in paths if path.is_file()}
    size = sum(map(len, files.values()))
    if size > _MAX_CONFIG_BYTES:
        raise UsageError(
            msg(
                "The config, agents, skills and commands in {path} have {size} MB.",
                path=data_dir,
                size=size >> 20,
            ),
            hint="Move unneeded files away: every attempt gets a copy.",
        )
    return files


def remote_environment() -> dict[str, str]:
    """Return the variables of this process that runs on other machines need."""
    return {
        name: value
        for name, value in os.environ.items()
        if name in KEY_VARIABLES or (name.startswith("KIMI_") and name != "KIMI_SHARE_DIR")
    }


def create_backend(target: str, *, workers: int | None, cpus_per_task: float) -> Backend:
    """Return the backend for `--on`: `local`, `ray` or `ray://HOST:PORT`. Raises UsageError."""
    if target == "local":
        from kimi_tui.fleet.backends.local_backend import LocalBackend

        return LocalBackend(workers or os.cpu_count() or 1)
    if target == "ray" or target.startswith("ray://"):
        from kimi_tui.fleet.backends.ray_backend import connect_ray

        return connect_ray(target, workers=workers, cpus_per_task=cpus_per_task)
    raise UsageError(
        msg("--on {target} isn't a backend.", target=target), hint="Use local, ray or ray://HOST:PORT."
    )
