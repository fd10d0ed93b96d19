"""The sandbox of a session's commands, when one is asked for."""

import asyncio
from pathlib import Path

from kimi_tui.engine.options import EngineOptions
from kimi_tui.history.session import Session
from kimi_tui.tools.sandbox.bounds import bounds_of
from kimi_tui.tools.sandbox.sandbox import Sandbox, new_temp
from kimi_tui.tools.shell.process import ShellUnavailable
from kimi_tui.tools.workspace import Workspace

_READABLE_OF_SHARE = ("skills", "agents", "commands")
"""What in our own folder is written for the model to use."""
_READABLE_OF_SESSION = ("output", "tasks")
"""Where the model is told that the whole of an output is."""


async def open_sandbox(options: EngineOptions, session: Session, workspace: Workspace) -> Sandbox | None:
    """The sandbox, looked at: its `problem` says why it can't be used. None when none is asked for."""
    wish = options.settings.sandbox
    if not wish.enabled:
        return None
    home = options.home_dir or Path.home()
    sandbox = await asyncio.to_thread(
        lambda: Sandbox(
            bounds_of(
                work_dir=workspace.work_dir,
                additional_dirs=workspace.additional_dirs,
                writable=_paths(wish.write, workspace.work_dir),
                readable=(
                    *(options.share_dir / name for name in _READABLE_OF_SHARE),
                    *(session.dir / name for name in _READABLE_OF_SESSION),
                    *_paths(wish.read, workspace.work_dir),
                ),
                hidden=(options.share_dir, *_paths(wish.hide, workspace.work_dir)),
                home=home,
                temp=new_temp(),
                network=wish.network,
                environment=wish.env,
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


def problems_of(sandbox: Sandbox | None) -> tuple[ShellUnavailable, ...]:
    """Why commands can't run in it, for the user."""
    return () if sandbox is None or sandbox.problem is None else (sandbox.problem,)


def _paths(names: tuple[str, ...], work_dir: Path) -> tuple[Path, ...]:
    return tuple(work_dir / Path(name).expanduser() for name in names)
