"""Commands in a workspace: their effects, and what a commit makes of them."""

import subprocess

import pytest

from kimi_tui.workspaces.open_record import OpenRecords
from kimi_tui.workspaces.workspaces import Workspaces
from tests.workspaces.workspace_env import OWNER, WorkspaceEnv, read_tree

FIXTURE = """
mkdir -p src/deep docs empty; echo one > a; echo two > b; ln a hard; ln -s a soft; chmod 755 b
echo x > src/x; echo y > src/y; echo z > src/deep/z; echo d > docs/d; mkfifo pipe
touch -d 2020-01-02 a b src/x src/y docs/d; truncate -s 2M sparse; echo tail >> sparse
"""


@pytest.fixture
def env(private_env: WorkspaceEnv) -> WorkspaceEnv:
    subprocess.run(FIXTURE, shell=True, cwd=private_env.work, check=True)
    return private_env


COMMANDS = [
    "echo new > c",
    "echo more >> a",
    "echo all > b",
    "rm b",
    "rm -r src",
    "rm -r src; mkdir src; echo only > src/only",
    "chmod 600 a",
    "chmod 700 src",
    "touch -d 2001-02-03 a",
    "touch -d 2001-02-03 docs",
    "mv a renamed",
    "mv a b",
    "mv src/x docs/",
    "mv src lib || true",
    "mv src lib; mv docs src; mv lib docs",
    "mv src/deep top; echo more >> top/z; rm -r src; mv top src",
    "mv src/deep x && mv src y && mv x y/",
    "ln b other; ln b other2",
    "ln b docs/b; rm b",
    "echo more >> hard",
    "mv hard t; mv t a",
    "mv hard t; mv a hard; mv t a",
    "mv a docs/a; ln docs/a a; mv hard docs/a",
    "mv hard a",
    "rm soft; ln -s b soft",
    "ln -sf nowhere soft",
    "rm a; mkdir a; echo in > a/in",
    "rm -r docs; echo file > docs",
    "mkfifo pipe2; rm pipe",
    "mkdir -p n/e/w; echo 1 > n/e/w/1",
    "truncate -s 5M sparse2; echo x >> sparse2; rm sparse",
    "printf '\\001' | dd of=sparse bs=1 seek=100 conv=notrunc 2>/dev/null",
    "rmdir empty",
    "mkdir $'new\\nline'; echo x > $'new\\nline/\\xff'",
    "sed -i s/one/1/ a; sed -i s/two/2/ b",
    "cp -a src copy; rm -r src",
    "tar cf t.tar src docs && rm -r src docs && tar xf t.tar && rm t.tar",
    "git init -q . && git add -A src && git -c user.name=a -c user.email=b commit -qm m "
    "&& git status --short >/dev/null; rm -r .git",
    "chmod 000 b; chmod 000 src",
    "mkdir ro; echo x > ro/x; chmod 555 ro",
    "> a; > b",
    "python3 -c \"import os; os.setxattr('a', 'user.note', b'hello')\"",
    "touch temporary src/temporary; rm temporary src/temporary",
    "chmod 700 .",
    "exit 3",
    "true",
]


@pytest.mark.parametrize("command", COMMANDS)
async def test_a_commit_is_equal_to_a_direct_run(env: WorkspaceEnv, command: str) -> None:
    direct = env.folder / "direct"
    subprocess.run(["cp", "-a", env.work, direct], check=True)
    subprocess.run(["bash", "-c", command], cwd=direct, check=False, capture_output=True)
    before = read_tree(env.work, times=True)
    expected = read_tree(direct, times=True)
    async with env.workspaces.open(env.work, owner=OWNER) as workspace:
        ran = await env.run(workspace, command)
        reason = await workspace.finish(ran.output)
        assert read_tree(env.work, times=True) == before
        if not reason:
            plan = await workspace.plan()
            assert plan.conflicts == ()
            assert (await workspace.commit(plan)).failed == {}
    if reason:
        assert env.mode == "user"
        assert "renames a directory" in reason or "hard links" in reason
        return
    assert without_new_times(read_tree(env.work, times=True), before) == without_new_times(expected, before)


def without_new_times(tree: dict, before: dict) -> dict:
    """Return `tree` with the mtimes that were set by hand, and those of files that weren't touched."""
    old = {entry.mtime_ns for entry in before.values()}
    return {
        path: (entry.mode, entry.content, entry.owner, entry.attributes, entry.names, entry.mtime_ns)
        if entry.mtime_ns in old or entry.mtime_ns < 1_100_000_000_000_000_000
        else (entry.mode, entry.content, entry.owner, entry.attributes, entry.names)
        for path, entry in tree.items()
    }


async def test_a_workspace_can_be_used_again_after_a_commit(env: WorkspaceEnv) -> None:
    async with env.workspaces.open(env.work, owner=OWNER) as workspace:
        for number in range(3):
            await env.run(workspace, f"echo {number} >> counted; rm -f b")
            plan = await workspace.plan()
            assert plan.conflicts == ()
            await workspace.commit(plan)
            assert len(await workspace.effects()) == 0
        await env.run(workspace, "rm counted")
        await workspace.discard()
    assert (env.work / "counted").read_text() == "0\n1\n2\n"


async def test_commands_of_one_workspace_see_what_earlier_ones_did(env: WorkspaceEnv) -> None:
    async with env.workspaces.open(env.work, owner=OWNER) as workspace:
        await env.run(workspace, "echo first > made; rm a")
        ran = await env.run(workspace, "cat made; test -e a || echo gone; mv made src/")
        assert ran.output == "first\ngone\n"
        assert not (env.work / "made").exists()
        await workspace.commit(await workspace.plan())
    assert (env.work / "src" / "made").read_text() == "first\n"


async def test_many_commands_run_one_right_after_another_in_one_workspace(env: WorkspaceEnv) -> None:
    async with env.workspaces.open(env.work, owner=OWNER) as workspace:
        for _ in range(20):
            await env.run(workspace, "echo x >> made")
        assert (await env.run(workspace, "grep -c x made")).output == "20\n"


async def test_what_a_killed_process_left_without_a_record_is_removed(env: WorkspaceEnv) -> None:
    await env.workspaces.close()
    records = OpenRecords(env.data / "workspaces")
    folder, own = records.create_folder(), records.create_folder()
    (folder / "process").write_text("999999999 1")
    layer = folder.with_name(f"{folder.name}.layer")
    (layer / "0" / "upper" / "closed").mkdir(parents=True)
    (layer / "0" / "upper" / "closed").chmod(0)
    workspaces = Workspaces(env.data, modes=(env.mode,))
    await workspaces.start()
    await workspaces.close()
    assert not folder.exists()
    assert not layer.exists()
    assert own.exists()
