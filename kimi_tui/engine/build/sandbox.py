"""Sandbox for a session's commands."""

import asyncio
from pathlib import Path

from kimi_tui.base.errors import ShellUnavailable
from kimi_tui.engine.options import EngineOptions
from kimi_tui.history.session import Session
from kimi_tui.tools.path_scope import PathScope
from kimi_tui.workspaces.sandbox.policy import build_policy
from kimi_tui.workspaces.sandbox.sandbox import CommandSandbox, create_temp_dir

_READABLE_IN_DATA_DIR = ("skills", "agents", "commands")
"""Directories in the data directory that contain files for the model."""
_READABLE_IN_SESSION_DIR = ("output", "tasks")
"""Directories in the session directory that hold complete outputs, which the model may read."""


async def open_sandbox(
    options: EngineOptions, session: Session, workspace: PathScope
) -> CommandSandbox | None:
    """Return the sandbox, or None if it isn't enabled. If it can't be used, its `problem` is set."""
    sandbox_settings = options.settings.sandbox
    if not sandbox_settings.enabled:
        return None
    home = options.home_dir or Path.home()
    sandbox = await asyncio.to_thread(
        lambda: CommandSandbox(
            build_policy(
                work_dir=workspace.work_dir,
                additional_dirs=workspace.additional_dirs,
                writable=_resolve_paths(sandbox_settings.write, workspace.work_dir),
                readable=(
                    *(options.data_dir / name for name in _READABLE_IN_DATA_DIR),
                    *(session.dir / name for name in _READABLE_IN_SESSION_DIR),
                    *_resolve_paths(sandbox_settings.read, workspace.work_dir),
                ),
                hidden=(options.data_dir, *_resolve_paths(sandbox_settings.hide, workspace.work_dir)),
                home=home,
                temp=create_temp_dir(),
                network=sandbox_settings.network,
                environment=sandbox_settings.env,
                secrets=frozenset(
                    key
                    for provider in options.settings.providers.values()
                    if (key := provider.api_key.get_secret_value())
                ),
            )
        )
    )
    await sandbox.open()
    return sandbox


def sandbox_problems(sandbox: CommandSandbox | None) -> tuple[ShellUnavailable, ...]:
    """Return the errors to report to the user if the sandbox can't be used."""
    return () if sandbox is None or sandbox.problem is None else (sandbox.problem,)


def _resolve_paths(names: tuple[str, ...], work_dir: Path) -> tuple[Path, ...]:
    return tuple(work_dir / Path(name).expanduser() for name in names)
