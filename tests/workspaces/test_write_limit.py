"""Commands that write without end in a workspace are ended before the disk is full."""

from dataclasses import replace

import pytest

from kimi_tui.workspaces.overlay.write_limit import WriteLimit
from kimi_tui.workspaces.workspaces import Workspaces
from tests.workspaces.workspace_env import OWNER, WorkspaceEnv, read_tree

ENDLESS = "while :; do head -c 8M /dev/zero >> big; sleep 0.02; done"
DISK_FULL = "the disk with its workspace is almost full"
LIMITS = [
    (WriteLimit(max_mb=40), "it wrote more than 40 MB in its workspace"),
    (WriteLimit(min_free_mb=1 << 30, min_free_share=1.0), DISK_FULL),
]


async def use_limit(env: WorkspaceEnv, limit: WriteLimit) -> None:
    await env.workspaces.close()
    env.workspaces = Workspaces(env.data, modes=(env.mode,), limit=limit)


@pytest.mark.parametrize(("limit", "reason"), LIMITS)
async def test_a_command_without_end_is_ended(
    private_env: WorkspaceEnv, limit: WriteLimit, reason: str
) -> None:
    env = private_env
    await use_limit(env, limit)
    (env.work / "a").write_text("a")
    before = read_tree(env.work, times=True)
    async with env.workspaces.open(env.work, owner=OWNER) as workspace:
        ran = await env.run(workspace, ENDLESS)
        assert ran.exit.status < 0
        assert workspace.stop_reason == reason
    assert read_tree(env.work, times=True) == before


async def test_a_command_below_the_limit_is_committed(private_env: WorkspaceEnv) -> None:
    env = private_env
    await use_limit(env, WriteLimit(max_mb=40))
    await env.commit("head -c 30M /dev/zero > big; sleep 0.6; head -c 30M /dev/zero > big")
    assert (env.work / "big").stat().st_size == 30 << 20


async def test_other_commands_are_not_blamed_for_a_full_disk(private_env: WorkspaceEnv) -> None:
    env = private_env
    await use_limit(env, replace(LIMITS[1][0], max_mb=1000))
    await env.commit("echo x > x; sleep 0.6; echo y > y")
    assert (env.work / "y").exists()
