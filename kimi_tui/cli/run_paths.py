"""Paths of a run: data directory, working directory and additional directories."""

import os
from pathlib import Path

from kimi_tui.base.errors import KimiTuiError, UsageError
from kimi_tui.base.frozen import frozen
from kimi_tui.base.message_text import msg
from kimi_tui.base.paths import data_dir, make_private_dir
from kimi_tui.cli.options import CliOptions


@frozen(kw_only=True)
class RunPaths:
    """Absolute paths with links resolved."""

    data_dir: Path
    work_dir: Path
    additional_dirs: tuple[Path, ...] = ()
    skills_dirs: tuple[Path, ...] = ()


def resolve_paths(cli_options: CliOptions) -> RunPaths:
    """Return the paths of a run; create the data directory. Raises UsageError and KimiTuiError."""
    return RunPaths(
        data_dir=ensure_data_dir(),
        work_dir=_resolve_directory(cli_options.work_dir, "--work-dir")
        if cli_options.work_dir
        else current_dir(),
        additional_dirs=tuple(_resolve_directory(path, "--add-dir") for path in cli_options.add_dir),
        skills_dirs=tuple(_resolve_directory(path, "--skills-dir") for path in cli_options.skills_dir),
    )


def ensure_data_dir() -> Path:
    """Return the data directory, created if missing. Raises KimiTuiError if it isn't writable."""
    path = data_dir()
    try:
        make_private_dir(path)
        if not os.access(path, os.W_OK | os.X_OK):
            raise PermissionError(13, os.strerror(13))
    except OSError as error:
        raise KimiTuiError(
            msg(
                "Can't write to the data directory {path}: {reason}.",
                path=path,
                reason=error.strerror or error,
            ),
            hint="Set KIMI_SHARE_DIR to a writable directory.",
        ) from error
    return path.resolve()


def is_new_data_dir() -> bool:
    """Return whether the data directory is missing or empty, as on the first start."""
    try:
        return not any(data_dir().iterdir())
    except FileNotFoundError:
        return True
    except OSError:
        return False


def current_dir() -> Path:
    """Return the current directory. Raises UsageError if it no longer exists."""
    try:
        return Path.cwd()
    except FileNotFoundError:
        raise UsageError(
            "The current directory no longer exists.", hint="Change to another one, or use --work-dir DIR."
        ) from None


def _resolve_directory(path: Path, option: str) -> Path:
    resolved = path.expanduser().resolve()
    if not resolved.is_dir():
        problem = "isn't a directory" if resolved.exists() else "doesn't exist"
        raise UsageError(f"{option} {path} {problem}.", hint="Choose an existing directory.")
    return resolved
