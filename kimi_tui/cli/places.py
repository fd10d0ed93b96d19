"""Where a run takes place: the share dir, the work dir, and what else may be worked in."""

import os
from pathlib import Path

from kimi_tui.base.errors import KimiTuiError, UsageError
from kimi_tui.base.paths import make_private_dir, share_dir
from kimi_tui.base.value import value
from kimi_tui.cli.command_line import CommandLine


@value(kw_only=True)
class Places:
    """Absolute paths, links resolved."""

    share_dir: Path
    work_dir: Path
    additional_dirs: tuple[Path, ...] = ()
    skills_dirs: tuple[Path, ...] = ()


def places_of(line: CommandLine) -> Places:
    """The places of a run; the share dir exists afterwards. Raises UsageError and KimiTuiError."""
    return Places(
        share_dir=usable_share_dir(),
        work_dir=_folder(line.work_dir, "--work-dir") if line.work_dir else current_dir(),
        additional_dirs=tuple(_folder(path, "--add-dir") for path in line.add_dir),
        skills_dirs=tuple(_folder(path, "--skills-dir") for path in line.skills_dir),
    )


def usable_share_dir() -> Path:
    """The share dir, made when missing. Raises KimiTuiError when nothing can be kept there."""
    path = share_dir()
    try:
        make_private_dir(path)
        if not os.access(path, os.W_OK | os.X_OK):
            raise PermissionError(13, os.strerror(13))
    except OSError as error:
        raise KimiTuiError(
            f"The share folder {path} can't be written: {error.strerror or error}.",
            hint="Set KIMI_SHARE_DIR to a folder that you may write to.",
        ) from error
    return path.resolve()


def is_new_share() -> bool:
    """Whether nothing is in the share dir yet: the first start."""
    try:
        return not any(share_dir().iterdir())
    except FileNotFoundError:
        return True
    except OSError:
        return False


def current_dir() -> Path:
    """The folder that the process was started in. Raises UsageError when it is gone."""
    try:
        return Path.cwd()
    except FileNotFoundError:
        raise UsageError(
            "The current folder doesn't exist any more.", hint="Change to another one, or use --work-dir DIR."
        ) from None


def _folder(path: Path, option: str) -> Path:
    resolved = path.expanduser().resolve()
    if not resolved.is_dir():
        problem = "is no folder" if resolved.exists() else "doesn't exist"
        raise UsageError(f"{option} {path} {problem}.", hint="Name a folder that is there.")
    return resolved
