"""Checks whether commands can run in bubblewrap within a view."""

import asyncio
import os
import shutil
from pathlib import Path

from kimi_tui.base.child_environment import helper_environment
from kimi_tui.base.message_text import msg
from kimi_tui.base.terminal_text import sanitize_line
from kimi_tui.workspaces.overlay.supervisor_client import (
    MountedView,
    Observation,
    SupervisorClient,
    ViewSpec,
    ViewUnavailable,
)
from kimi_tui.workspaces.sandbox.bubblewrap import bounded_command
from kimi_tui.workspaces.sandbox.policy import SandboxPolicy

_PROBE_TIMEOUT_S = 10.0
_MAX_OUTPUT = 4096


def find_bubblewrap() -> str:
    """Return the path of bubblewrap; empty if it isn't on the PATH."""
    return shutil.which("bwrap") or ""


async def find_bounds_problem(client: SupervisorClient) -> str:
    """Return why commands can't run in bubblewrap; empty if they can, found by running one."""
    if not (program := find_bubblewrap()):
        return msg("bubblewrap isn't installed")
    policy = SandboxPolicy(access={}, work_dir=Path("/"), temp=Path("/"))
    line = await asyncio.to_thread(bounded_command, program, policy, ["/bin/sh", "-c", ":"], cwd=Path("/"))
    try:
        view = await client.mount(ViewSpec(views=(), options=""))
        try:
            status, output = await _run(view, line)
        finally:
            view.close()
    except TimeoutError:
        return msg("bubblewrap can't limit commands: {reason}", reason=msg("it timed out"))
    except (ViewUnavailable, OSError) as error:
        return msg("bubblewrap can't limit commands: {reason}", reason=error)
    if status == 0:
        return ""
    reason = sanitize_line(output.strip().partition("\n")[0]).removeprefix("bwrap: ").rstrip(".")
    return msg("bubblewrap can't limit commands: {reason}", reason=reason)


async def _run(view: MountedView, line: list[str]) -> tuple[int, str]:
    """Return the exit status of a command without network, and the beginning of its output."""
    output = os.memfd_create("output", os.MFD_CLOEXEC)
    try:
        await view.start_process(
            line,
            cwd=Path("/"),
            environment=helper_environment(),
            output=output,
            observation=Observation(is_offline=True, watched=()),
        )
        async with asyncio.timeout(_PROBE_TIMEOUT_S):
            status = await view.wait()
        return status, os.pread(output, _MAX_OUTPUT, 0).decode("utf-8", "replace")
    finally:
        os.close(output)
