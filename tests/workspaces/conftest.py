"""Fixtures of the tests of workspaces."""

import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.workspaces.bounded_env import BoundedEnv
from tests.workspaces.workspace_env import WorkspaceEnv


@pytest.fixture(params=["root", "user"])
async def private_env(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[WorkspaceEnv]:
    """An empty work dir of which there are private views, with and without root's privileges."""
    if request.param == "root" and os.geteuid() != 0:
        pytest.skip("needs root")
    env = WorkspaceEnv(tmp_path.resolve(), request.param)
    status = await env.workspaces.status(env.work)
    if status.backend == "none":
        pytest.skip(f"no workspaces here: {status.problem}")
    yield env
    await env.shell.close()
    await env.workspaces.close()


@pytest.fixture
async def bounded_env(private_env: WorkspaceEnv) -> BoundedEnv:
    """A project whose commands run in bounded workspaces."""
    if problem := await private_env.workspaces.find_bounds_problem():
        pytest.skip(f"no bounded runs here: {problem}")
    return BoundedEnv(private_env)
