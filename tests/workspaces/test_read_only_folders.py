"""Commits in directories that the user owns, but can't write to."""

import os
import stat
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from kimi_tui.workspaces.overlay.layer import remove_tree
from tests.workspaces.workspace_env import OWNER, WorkspaceEnv

pytestmark = pytest.mark.skipif(os.geteuid() == 0, reason="root can write to any directory")

FIXTURE = "mkdir -p docs/inner; echo d > docs/d; echo i > docs/inner/i; chmod 555 docs docs/inner"


@pytest.fixture
async def env(tmp_path: Path) -> AsyncIterator[WorkspaceEnv]:
    env = WorkspaceEnv(tmp_path.resolve(), "user")
    status = await env.workspaces.status(env.work)
    if status.backend == "none":
        pytest.skip(f"no workspaces here: {status.problem}")
    subprocess.run(FIXTURE, shell=True, cwd=env.work, check=True)
    yield env
    await env.shell.close()
    await env.workspaces.close()
    remove_tree(str(env.work))


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize(
    ("command", "mode_after"),
    [
        ("chmod 755 docs; touch docs/new; rm docs/d; chmod 555 docs", 0o555),
        ("chmod 755 docs; touch docs/new; rm docs/d", 0o755),
        ("chmod -R u+w docs; touch docs/new; rm -r docs/inner docs/d; chmod 500 docs", 0o500),
    ],
)
async def test_what_a_command_changed_in_a_read_only_directory_is_committed(
    env: WorkspaceEnv, command: str, mode_after: int
) -> None:
    async with env.workspaces.open(env.work, owner=OWNER) as workspace:
        await env.run(workspace, command)
        assert not await workspace.finish()
        assert (await workspace.commit(await workspace.plan())).failed == {}
    assert mode(env.work / "docs") == mode_after
    assert (env.work / "docs" / "new").exists()
    assert not (env.work / "docs" / "d").exists()


async def test_new_read_only_directories_are_committed_with_their_files(env: WorkspaceEnv) -> None:
    async with env.workspaces.open(env.work, owner=OWNER) as workspace:
        await env.run(workspace, "mkdir -p n/m; echo x > n/m/f; chmod 555 n/m n")
        assert (await workspace.commit(await workspace.plan())).failed == {}
    assert (env.work / "n" / "m" / "f").read_text() == "x\n"
    assert (mode(env.work / "n"), mode(env.work / "n" / "m")) == (0o555, 0o555)
