"""What the user changes while a command runs in a workspace is never overwritten."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.workspaces.stepped_command import SteppedCommand
from tests.workspaces.workspace_env import OWNER, WorkspaceEnv


@pytest.fixture
def env(private_env: WorkspaceEnv) -> WorkspaceEnv:
    (private_env.work / "src").mkdir()
    for name in ("a", "b", "src/x", "src/y"):
        (private_env.work / name).write_text(f"{name}\n")
    return private_env


def write_in_place(work: Path) -> None:
    with (work / "a").open("a") as file:
        file.write("of the user\n")


def replace_atomically(work: Path) -> None:
    (work / "a.new").write_text("of the user\n")
    (work / "a.new").replace(work / "a")


def replace_by_older_file(work: Path) -> None:
    (work / "b").replace(work / "a")


def remove(work: Path) -> None:
    (work / "a").unlink()


def replace_folder(work: Path) -> None:
    (work / "src").rename(work / "src.old")
    (work / "src").mkdir()
    (work / "src" / "x").write_text("of the user\n")


def create_in_folder(work: Path) -> None:
    (work / "src" / "new").write_text("of the user\n")


def move_into_folder(work: Path) -> None:
    (work / "src" / "moved").mkdir()
    (work / "b").rename(work / "src" / "moved" / "b")


def create_same(work: Path) -> None:
    (work / "made").write_text("of the user\n")


CASES: list[tuple[str, Callable[[Path], None], str]] = [
    ("echo agent >> a", write_in_place, "a"),
    ("echo agent > a", write_in_place, "a"),
    ("echo agent > n; mv n a", write_in_place, "a"),
    ("rm a", write_in_place, "a"),
    ("mv a c", write_in_place, "a"),
    ("chmod 600 a", write_in_place, "a"),
    ("echo agent >> a", replace_atomically, "a"),
    ("rm a", replace_atomically, "a"),
    ("echo agent >> a", replace_by_older_file, "a"),
    ("rm a", replace_by_older_file, "a"),
    ("echo agent >> src/x", replace_folder, "src/x"),
    ("rm -r src", replace_folder, "src/x"),
    ("rm -r src", create_in_folder, "src"),
    ("rm -r src; mkdir src; echo agent > src/x", create_in_folder, "src/new"),
    ("rm -r src", move_into_folder, "src/moved/b"),
    ("rm -r src; mkdir src", move_into_folder, "src/moved/b"),
    ("echo agent > made", create_same, "made"),
]


@pytest.mark.parametrize("early", [True, False], ids=["before the command looks", "after"])
@pytest.mark.parametrize(("command", "change", "conflict"), CASES, ids=lambda it: getattr(it, "__name__", it))
async def test_a_change_during_the_command_is_a_conflict_and_stays(
    env: WorkspaceEnv, command: str, change: Callable[[Path], None], conflict: str, early: bool
) -> None:
    async with env.workspaces.open(env.work, owner=OWNER) as workspace:
        steps = SteppedCommand(env.folder, workspace, env.work)
        await steps.start()
        if not early:
            await steps.step(command)
        change(env.work)
        expected = contents(env.work)
        if early:
            await steps.step(command)
        await steps.end()
        plan = await workspace.plan()
        assert str(env.work / conflict) in {item.effect.path for item in plan.conflicts}
        result = await workspace.commit(plan)
    lost = {path for path, content in expected.items() if b"user" in content}
    lost |= {path for path in expected if path.endswith("moved/b")}
    assert {path: contents(env.work).get(path) for path in lost} == {path: expected[path] for path in lost}
    assert not result.failed


@pytest.mark.parametrize(
    ("command", "change", "path"), [("echo agent >> a", remove, "a"), ("mkdir made", create_same, "made")]
)
async def test_a_removal_and_a_new_file_after_the_command_looked_are_conflicts(
    env: WorkspaceEnv, command: str, change: Callable[[Path], None], path: str
) -> None:
    async with env.workspaces.open(env.work, owner=OWNER) as workspace:
        await env.run(workspace, command)
        change(env.work)
        expected = contents(env.work)
        plan = await workspace.plan()
        assert [item.effect.path for item in plan.conflicts] == [str(env.work / path)]
        await workspace.commit(plan)
    assert contents(env.work) == expected


async def test_changes_of_other_files_are_no_conflict(env: WorkspaceEnv) -> None:
    async with env.workspaces.open(env.work, owner=OWNER) as workspace:
        write_in_place(env.work)
        create_in_folder(env.work)
        await env.run(workspace, "echo agent >> b; echo agent > src/created; rm src/y")
        plan = await workspace.plan()
        assert plan.conflicts == ()
        await workspace.commit(plan)
    assert contents(env.work) == {
        "a": b"a\nof the user\n",
        "b": b"b\nagent\n",
        "src/x": b"src/x\n",
        "src/new": b"of the user\n",
        "src/created": b"agent\n",
    }


async def test_a_change_just_before_the_command_is_no_conflict(env: WorkspaceEnv) -> None:
    for number in range(20):
        (env.work / "a").write_text(f"{number}\n")
        async with env.workspaces.open(env.work, owner=OWNER) as workspace:
            await env.run(workspace, "echo agent >> a")
            plan = await workspace.plan()
            assert plan.conflicts == ()
            await workspace.commit(plan)
        assert (env.work / "a").read_text() == f"{number}\nagent\n"


async def test_a_change_after_the_plan_is_left_alone(env: WorkspaceEnv) -> None:
    async with env.workspaces.open(env.work, owner=OWNER) as workspace:
        await env.run(workspace, "echo agent >> a; echo agent >> b")
        plan = await workspace.plan()
        write_in_place(env.work)
        result = await workspace.commit(plan)
    assert list(result.failed) == [str(env.work / "a")]
    assert (env.work / "a").read_text() == "a\nof the user\n"
    assert (env.work / "b").read_text() == "b\nagent\n"


async def test_a_selected_conflict_is_committed(env: WorkspaceEnv) -> None:
    async with env.workspaces.open(env.work, owner=OWNER) as workspace:
        await env.run(workspace, "echo agent > a")
        write_in_place(env.work)
        plan = await workspace.plan()
        await workspace.commit(plan, only=[str(env.work / "a")])
    assert (env.work / "a").read_text() == "agent\n"


async def test_discarded_effects_change_nothing(env: WorkspaceEnv) -> None:
    before = contents(env.work)
    async with env.workspaces.open(env.work, owner=OWNER) as workspace:
        await env.run(workspace, "rm -r src; echo agent > a; mkdir -p n/m")
    assert contents(env.work) == before
    await env.workspaces.close()
    assert list((env.data / "workspaces").iterdir()) == []


async def test_a_process_that_stays_is_found_and_killed(env: WorkspaceEnv) -> None:
    async with env.workspaces.open(env.work, owner=OWNER) as workspace:
        await env.run(workspace, "(setsid sleep 1000 & echo $! > pid); cp pid pid2; echo $$ > shell")
        assert await workspace.finish() == "it left processes running"
    await asyncio.sleep(0)
    assert not (env.work / "pid").exists()


def contents(work: Path) -> dict[str, bytes]:
    return {str(path.relative_to(work)): path.read_bytes() for path in work.rglob("*") if path.is_file()}
