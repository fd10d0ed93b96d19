"""A view that is mounted before the command needs it behaves like one that is mounted for it."""

import asyncio
import os
from pathlib import Path

import pytest

from kimi_tui.workspaces.overlay.change_time import find_change_time
from tests.workspaces.workspace_env import OWNER, WorkspaceEnv, read_tree


@pytest.fixture
async def env(private_env: WorkspaceEnv) -> WorkspaceEnv:
    (private_env.work / "src").mkdir()
    for name in ("a", "b", "src/x"):
        (private_env.work / name).write_text(f"{name}\n")
    await private_env.workspaces.status(private_env.work)  # mounts the first view
    return private_env


async def test_a_command_sees_what_changed_after_its_view_was_mounted(env: WorkspaceEnv) -> None:
    (env.work / "a").write_text("edited\n")
    (env.work / "b.new").write_text("replaced\n")
    (env.work / "b.new").replace(env.work / "b")
    (env.work / "src" / "x").unlink()
    (env.work / "src" / "new").write_text("new\n")
    ran = await env.commit("cat a b src/new; ls src; echo agent >> a; echo agent >> b")
    assert ran.output == "edited\nreplaced\nnew\nnew\n"
    assert (env.work / "a").read_text() == "edited\nagent\n"
    assert (env.work / "b").read_text() == "replaced\nagent\n"


async def test_times_of_the_work_dir_are_kept_after_a_change_since_the_view_was_mounted(
    env: WorkspaceEnv,
) -> None:
    (env.work / "new").write_text("new\n")
    os.utime(env.work, ns=(10**18, 10**18))
    await env.commit("cat a")
    assert env.work.stat().st_mtime_ns == 10**18


async def test_attributes_of_the_work_dir_that_changed_since_the_view_was_mounted_are_kept(
    env: WorkspaceEnv,
) -> None:
    env.work.chmod(0o705)
    ran = await env.commit("stat -c %a .; echo agent >> a")
    assert ran.output == "705\n"
    assert env.work.stat().st_mode & 0o777 == 0o705


async def test_another_directory_at_the_same_path_gets_a_view_of_its_own(env: WorkspaceEnv) -> None:
    env.work.rename(env.folder / "old")
    env.work.mkdir()
    (env.work / "other").write_text("other\n")
    ran = await env.commit("ls; echo agent >> other")
    assert ran.output == "other\n"
    assert (env.work / "other").read_text() == "other\nagent\n"
    assert (env.folder / "old" / "a").read_text() == "a\n"


async def test_views_of_several_directories_alternate(env: WorkspaceEnv) -> None:
    more = env.folder / "more"
    more.mkdir()
    for number in range(3):
        await env.commit(f"echo {number} >> a")
        async with env.workspaces.open(more, owner=OWNER) as workspace:
            await env.run(workspace, f"echo {number} >> {more}/made")
            await workspace.commit(await workspace.plan())
    assert (env.work / "a").read_text() == "a\n0\n1\n2\n"
    assert (more / "made").read_text() == "0\n1\n2\n"


async def test_workspaces_that_are_open_together_keep_their_effects_apart(env: WorkspaceEnv) -> None:
    open_one, open_other = (env.workspaces.open(env.work, owner=OWNER) for _ in range(2))
    async with open_one as one, open_other as other:
        await env.run(one, "echo one >> a")
        ran = await env.run(other, "cat a; echo other >> b")
        assert ran.output == "a\n"
        await one.commit(await one.plan())
        await other.commit(await other.plan())
    assert (env.work / "a").read_text() == "a\none\n"
    assert (env.work / "b").read_text() == "b\nother\n"


async def test_closing_leaves_no_layer_behind(env: WorkspaceEnv) -> None:
    before = read_tree(env.work)
    for _ in range(3):
        await env.commit("cat a")
    await env.workspaces.close()
    assert list((env.data / "workspaces").iterdir()) == []
    assert read_tree(env.work) == before


async def test_a_status_that_is_read_while_a_command_ends_leaves_no_layer_behind(env: WorkspaceEnv) -> None:
    workspaces = env.workspaces
    for _ in range(5):
        async with workspaces.open(env.work, owner=OWNER):
            reading = asyncio.create_task(workspaces.status(env.work))
            while not (await asyncio.to_thread(list, (env.data / "workspaces").iterdir()))[1:]:
                assert not reading.done()
        await reading
    await workspaces.close()
    assert list((env.data / "workspaces").iterdir()) == []


async def test_a_lasting_view_that_is_canceled_while_it_opens_leaves_no_layer_behind(
    env: WorkspaceEnv,
) -> None:
    async def open_view() -> None:
        async with env.workspaces.open_lasting_view(env.work):
            pass

    for n_steps in range(1, 30):
        opening = asyncio.create_task(open_view())
        for _ in range(n_steps):
            await asyncio.sleep(0)
        opening.cancel()
        await asyncio.wait([opening])
    await env.workspaces.close()
    assert list((env.data / "workspaces").iterdir()) == []


async def test_nothing_starts_after_closing(env: WorkspaceEnv) -> None:
    await env.workspaces.close()
    status = await env.workspaces.status(env.work)
    assert status.backend == "none"
    async with env.workspaces.open(env.work, owner=OWNER) as workspace:
        assert not workspace.is_private
    assert await env.workspaces.find_state_layers(env.work) is None


async def test_a_change_time_separates_changes_before_it_from_later_ones(tmp_path: Path) -> None:
    layer, root = tmp_path / "layer", tmp_path / "root"
    layer.mkdir()
    root.mkdir()
    for _ in range(50):
        (root / "before").write_text("1")
        changed = await find_change_time(str(layer), [str(root)])
        (root / "after").write_text("1")
        assert (root / "before").stat().st_ctime_ns < changed <= (root / "after").stat().st_ctime_ns
    assert list(layer.iterdir()) == []


async def test_a_change_time_for_several_file_systems_separates_changes(tmp_path: Path) -> None:
    shared = Path("/dev/shm")
    if not os.access(shared, os.W_OK) or shared.stat().st_dev == tmp_path.stat().st_dev:
        pytest.skip("needs a second file system")
    for _ in range(20):
        (tmp_path / "before").write_text("1")
        changed = await find_change_time(str(tmp_path), [str(tmp_path), str(shared)])
        (tmp_path / "after").write_text("1")
        before, after = (tmp_path / name for name in ("before", "after"))
        assert before.stat().st_ctime_ns < changed <= after.stat().st_ctime_ns
