"""A kill in a command or a commit leaves a record, from which the next start completes it."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from kimi_tui.workspaces.commit_lock import CommitLock
from kimi_tui.workspaces.effects import CommitPlan
from kimi_tui.workspaces.overlay.layer import Layer
from kimi_tui.workspaces.overlay.layer_commit import LayerCommit
from kimi_tui.workspaces.workspaces import Workspaces
from tests.timeouts import TEST_TIMEOUT_S
from tests.workspaces.workspace_env import OWNER, WorkspaceEnv, read_tree

SETUP = """
mkdir -p src/deep docs old; echo one > a; echo two > b; echo x > src/x; echo z > src/deep/z; echo d > docs/d
echo 1 > old/1; echo 2 > old/2; ln -s a soft; head -c 3000000 /dev/zero > big
"""
COMMAND = """
echo more >> a; mv b renamed; mv docs src/; rm -r old; mkdir -p new/er; echo n > new/er/n
ln new/er/n new/link; mv src/deep top || true; chmod 700 src; ln -sfn b soft; echo end >> big
rm src/x; mkdir src/x; echo in > src/x/in
"""
_CHANGING_CALLS = ("rename", "unlink", "rmdir", "mkdir", "link", "utime", "pwrite", "chmod", "write", "mknod")
_KILLED_PROGRAM = """
import asyncio, sys
from pathlib import Path
from tests.workspaces.workspace_env import OWNER, WorkspaceEnv
async def main():
    folder = Path(sys.argv[1])
    env = WorkspaceEnv(folder, sys.argv[2])
    async with env.workspaces.open(env.work, owner=OWNER) as workspace:
        await env.run(workspace, sys.argv[3])
asyncio.run(main())
"""


@pytest.fixture
def env(private_env: WorkspaceEnv) -> WorkspaceEnv:
    return private_env


def kill_in_commit(commit: LayerCommit, plan: CommitPlan, number: int) -> bool:
    """Commit in a child that is killed before its changing call `number`. Return whether it was killed."""
    child = os.fork()
    if child == 0:
        remaining = number

        def count(call):
            def counted(*arguments, **options):
                nonlocal remaining
                remaining -= 1
                if remaining < 0:
                    os.kill(os.getpid(), signal.SIGKILL)
                return call(*arguments, **options)

            return counted

        for name in _CHANGING_CALLS:
            setattr(os, name, count(getattr(os, name)))
        try:
            commit.commit(plan, None)
        finally:
            os._exit(0)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


@pytest.mark.parametrize("part", range(4))
async def test_a_commit_that_is_killed_is_completed(env: WorkspaceEnv, part: int) -> None:
    expected = None
    number = part
    was_killed = True
    while was_killed:
        for path in env.work.iterdir():
            subprocess.run(["rm", "-r", path], check=True)
        subprocess.run(SETUP, shell=True, cwd=env.work, check=True)
        async with env.workspaces.open(env.work, owner=OWNER) as workspace:
            await env.run(workspace, COMMAND)
            plan = await workspace.plan()
            assert plan.conflicts == ()
            if expected is None:
                await workspace.commit(plan)
                expected = comparable(env.work)
                continue
            (record,) = (env.data / "workspaces").glob("*/record.json")
            layer = json.loads(record.read_text())["layer"]
            commit = LayerCommit(
                Layer.from_record(layer),
                record.parent,
                base_ns=layer["base_ns"],
                lock=CommitLock(env.data, env.work),
            )
            was_killed = kill_in_commit(commit, plan, number)
            result = commit.resume()
            if result is None:
                result = commit.commit(await workspace.plan(), None)
            assert result.failed == {}
        assert comparable(env.work) == expected, number
        number += 4
    assert number > 40


async def test_a_command_whose_program_is_killed_leaves_its_effects(env: WorkspaceEnv) -> None:
    folder = env.folder / "killed"
    folder.mkdir()
    program = subprocess.Popen(
        [sys.executable, "-c", _KILLED_PROGRAM, folder, env.mode, "echo new > a; echo $$ > pid; sleep 1000"],
        cwd=Path(__file__).parents[2],
    )
    async with asyncio.timeout(TEST_TIMEOUT_S):
        while not (found := list((folder / "data" / "workspaces").glob("*.layer/0/upper/pid"))):
            await asyncio.sleep(0.02)
        while not (pid := found[0].read_text().strip()):
            await asyncio.sleep(0.02)
        program.kill()
        program.wait()
        while Path(f"/proc/{pid}").exists():
            await asyncio.sleep(0.02)
    workspaces = Workspaces(folder / "data", modes=(env.mode,))
    (left,) = await workspaces.left_by_killed_processes(folder / "work")
    assert left.owner == OWNER
    assert await left.complete_commit() is None
    assert not (folder / "work" / "a").exists()
    await left.commit(await left.plan())
    assert (folder / "work" / "a").read_text() == "new\n"
    assert await workspaces.left_by_killed_processes(folder / "work") == []
    assert list((folder / "data" / "workspaces").iterdir()) == []


def comparable(work: Path) -> dict[str, object]:
    return {
        path: (entry.mode, entry.content, entry.owner, entry.names, entry.attributes)
        for path, entry in read_tree(work).items()
    }
