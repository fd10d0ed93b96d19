"""Sandbox for a session's commands."""

import asyncio
import os
import shutil
from pathlib import Path

from kimi_tui.base.errors import ShellUnavailable
from kimi_tui.engine.options import EngineOptions
from kimi_tui.history.session import Session
from kimi_tui.tools.path_scope import PathScope
from kimi_tui.workspaces.sandbox.policy import SandboxPolicy, build_policy
from kimi_tui.workspaces.sandbox.read_bounds import restrict_reads
from kimi_tui.workspaces.sandbox.sandbox import CommandSandbox, create_temp_dir

_READABLE_IN_DATA_DIR = ("skills", "agents", "commands")
"""Directories in the data directory that contain files for the model."""
_READABLE_IN_SESSION_DIR = ("output", "tasks")
"""Directories in the session directory that hold complete outputs, which the model may read."""


async def open_sandbox(
    options: EngineOptions, session: Session, workspace: PathScope
) -> CommandSandbox | None:
    """Return the sandbox, or None if disabled. If the sandbox can't be used, its `problem` is set."""
    if not options.settings.sandbox.enabled:
        return None
    policy = await asyncio.to_thread(
        _build_policy,
        options,
        session,
        workspace,
        create_temp_dir(),
        network=options.settings.sandbox.network,
    )
    sandbox = CommandSandbox(policy)
    await sandbox.open()
    return sandbox


class CommandBoundsBuilder:
    """Builds the bounds of commands that run before the user allows them.

    These commands have no network access. They can read only the session's directories, the system,
    toolchains and paths that `[sandbox]` opens.
    """

    def __init__(self, options: EngineOptions, session: Session, workspace: PathScope) -> None:
        self._options = options
        self._session = session
        self._workspace = workspace
        self._temp: Path | None = None

    def build(self) -> SandboxPolicy:
        """Implement `BoundsBuilder.build`."""
        options = self._options
        if self._temp is None:
            self._temp = create_temp_dir()
        policy = _build_policy(
            options, self._session, self._workspace, self._temp, network=False, is_reviewed=True
        )
        home = options.home_dir or Path.home()
        return restrict_reads(policy, home=home, program_path=os.environ.get("PATH", ""))

    async def close(self) -> None:
        """Delete the commands' temporary files."""
        if self._temp is not None:
            await asyncio.to_thread(shutil.rmtree, self._temp, ignore_errors=True)


def _build_policy(
    options: EngineOptions,
    session: Session,
    workspace: PathScope,
    temp: Path,
    *,
    network: bool,
    is_reviewed: bool = False,
) -> SandboxPolicy:
    settings = options.settings.sandbox
    return build_policy(
        work_dir=workspace.work_dir,
        additional_dirs=workspace.additional_dirs,
        writable=_resolve_paths(settings.write, workspace.work_dir),
        readable=(
            *(options.data_dir / name for name in _READABLE_IN_DATA_DIR),
            *(session.dir / name for name in _READABLE_IN_SESSION_DIR),
            *_resolve_paths(settings.read, workspace.work_dir),
        ),
        hidden=(options.data_dir, *_resolve_paths(settings.hide, workspace.work_dir)),
        home=options.home_dir or Path.home(),
        temp=temp,
        network=network,
        environment=settings.env,
        is_reviewed=is_reviewed,
        secrets=frozenset(
            key
            for provider in options.settings.providers.values()
            if (key := provider.api_key.get_secret_value())
        ),
    )


def sandbox_problems(sandbox: CommandSandbox | None) -> tuple[ShellUnavailable, ...]:
    """Return the errors to report to the user if the sandbox can't be used."""
    return () if sandbox is None or sandbox.problem is None else (sandbox.problem,)


def _resolve_paths(names: tuple[str, ...], work_dir: Path) -> tuple[Path, ...]:
    return tuple(work_dir / Path(name).expanduser() for name in names)
