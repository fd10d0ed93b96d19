"""Commands in workspaces, through the engine with real tools and a scripted model."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from kimi_tui.wire.commands import Interrupt, PlanRevert, Prompt, Revert
from kimi_tui.wire.events import Notification, Reverted, RevertPlan, ToolOutput, ToolResult, TurnEnd
from kimi_tui.workspaces.workspaces import Workspaces
from tests.engine.engine_client import EngineClient, session, text_reply, tool_calls
from tests.engine.test_revert import prompt_checkpoint
from tests.timeouts import TEST_TIMEOUT_S


@pytest.fixture(autouse=True)
async def views(work_dir: Path, tmp_path: Path) -> None:
    """Skip without workspaces."""
    workspaces = Workspaces(tmp_path / "probe")
    status = await workspaces.status(work_dir)
    await workspaces.close()
    if status.backend == "none":
        pytest.skip(f"no workspaces: {status.problem}")


def bash(command: str, **arguments: object) -> tuple[str, str]:
    return tool_calls(("Bash", {"command": command, **arguments})), text_reply("done")


async def wait_until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(TEST_TIMEOUT_S):
        while not condition():
            await asyncio.sleep(0.01)


class Running:
    """A command that has reached its middle, and waits until it may go on."""

    def __init__(self, folder: Path, name: str = "one") -> None:
        self.reached = folder / f"{name}.reached"
        self._may_end = folder / f"{name}.may-end"

    def command(self, first: str, then: str = "true") -> str:
        return f"{first}; touch {self.reached}; while [ ! -e {self._may_end} ]; do sleep 0.02; done; {then}"

    async def wait(self) -> None:
        await wait_until(self.reached.exists)

    def end(self) -> None:
        self._may_end.touch()


async def plan_of(client: EngineClient, to: int) -> dict[str, tuple[str, str]]:
    """Return the action and the author of each file in the plan of a revert."""
    plan = await client.run_command(PlanRevert(to), RevertPlan)
    return {file.path: (file.action, file.by) for file in plan.files}


def result_of(client: EngineClient) -> ToolResult:
    return client.all(ToolResult)[-1]


async def test_an_edit_saved_while_a_command_runs_survives_a_revert(
    work_dir: Path, data_dir: Path, tmp_path: Path
) -> None:
    for name in ("mine", "agents"):
        (work_dir / name).write_text("before\n")
    running = Running(tmp_path)
    async with session(work_dir, data_dir, *bash(running.command("echo agent > agents"))) as client:
        client.command(Prompt("go"))
        await running.wait()
        assert (work_dir / "agents").read_text() == "before\n"
        (work_dir / "mine").write_text("mine\n")
        (work_dir / "new").write_text("mine\n")
        running.end()
        await client.next(TurnEnd)
        assert (work_dir / "agents").read_text() == "agent\n"
        start = prompt_checkpoint(client, 0)
        assert (await plan_of(client, start))["agents"] == ("restore", "agent")
        await client.run_command(Revert(start), Reverted)
    assert (work_dir / "agents").read_text() == "before\n"
    assert (work_dir / "mine").read_text() == "mine\n"
    assert (work_dir / "new").read_text() == "mine\n"


async def test_a_file_that_both_change_keeps_the_users_version_and_the_commands_is_saved(
    work_dir: Path, data_dir: Path, tmp_path: Path
) -> None:
    (work_dir / "a").write_text("before\n")
    running = Running(tmp_path)
    async with session(work_dir, data_dir, *bash(running.command("echo agent > a"))) as client:
        client.command(Prompt("go"))
        await running.wait()
        (work_dir / "a").write_text("mine\n")
        running.end()
        await client.next(TurnEnd)
        result = result_of(client)
        assert "a was left alone" in result.return_value.message
        saved = Path(result.return_value.message.rpartition(" is in ")[2].rstrip("."))
        assert saved.read_text() == "agent\n"
        assert (await plan_of(client, prompt_checkpoint(client, 0))).get("a", ("", "you"))[1] == "you"
    assert (work_dir / "a").read_text() == "mine\n"


async def test_two_sessions_with_overlapping_commands_own_only_their_changes(
    work_dir: Path, data_dir: Path, tmp_path: Path
) -> None:
    first, second = Running(tmp_path, "first"), Running(tmp_path, "second")
    async with session(work_dir, data_dir, *bash(first.command("echo 1 > first"))) as one:
        one.command(Prompt("go"))
        await first.wait()
        async with session(work_dir, data_dir, *bash(second.command("echo 2 > second"))) as two:
            two.command(Prompt("go"))
            await second.wait()
            first.end()
            await one.next(TurnEnd)
            second.end()
            await two.next(TurnEnd)
            own = {path: by for path, (_, by) in (await plan_of(one, prompt_checkpoint(one, 0))).items()}
            other = {path: by for path, (_, by) in (await plan_of(two, prompt_checkpoint(two, 0))).items()}
    assert own["first"] == "agent"
    assert other["second"] == "agent"
    assert own.get("second") != "agent"
    assert other.get("first") != "agent"


async def test_what_an_interrupted_command_did_is_committed_as_the_agents(
    work_dir: Path, data_dir: Path, tmp_path: Path
) -> None:
    (work_dir / "a").write_text("before\n")
    running = Running(tmp_path)
    async with session(
        work_dir, data_dir, *bash(running.command("echo agent > a", "echo late > b"))
    ) as client:
        client.command(Prompt("go"))
        await running.wait()
        client.command(Interrupt())
        await client.next(TurnEnd)
        assert (work_dir / "a").read_text() == "agent\n"
        assert await plan_of(client, prompt_checkpoint(client, 0)) == {"a": ("restore", "agent")}
    assert not (work_dir / "b").exists()


async def test_what_a_command_did_until_its_timeout_is_committed(work_dir: Path, data_dir: Path) -> None:
    command = "echo agent > a; sleep 600"
    async with session(work_dir, data_dir, *bash(command, timeout=1)) as client:
        await client.ask("go")
        assert "stopped after 1 s" in result_of(client).return_value.message
        assert await plan_of(client, prompt_checkpoint(client, 0)) == {"a": ("delete", "agent")}
    assert (work_dir / "a").read_text() == "agent\n"


async def test_a_command_that_leaves_a_process_runs_directly(work_dir: Path, data_dir: Path) -> None:
    command = "(sleep 600; touch late) & echo agent > a"
    async with session(work_dir, data_dir, *bash(command)) as client:
        await client.ask("go")
        assert "keep running" in result_of(client).return_value.message
        assert await plan_of(client, prompt_checkpoint(client, 0)) == {"a": ("delete", "agent")}


async def test_the_changes_of_a_command_that_fails_are_committed(work_dir: Path, data_dir: Path) -> None:
    async with session(work_dir, data_dir, *bash("mkdir -p x/y; echo 1 > x/y/z; exit 3")) as client:
        await client.ask("go")
        assert "exit code 3" in result_of(client).return_value.message
        plan = await plan_of(client, prompt_checkpoint(client, 0))
    assert plan == dict.fromkeys(("x/", "x/y/", "x/y/z"), ("delete", "agent"))
    assert (work_dir / "x" / "y" / "z").read_text() == "1\n"


async def test_a_folder_that_a_command_deletes_is_reverted_with_all_its_files(
    work_dir: Path, data_dir: Path
) -> None:
    (work_dir / "src" / "deep").mkdir(parents=True)
    (work_dir / "src" / "deep" / "a").write_text("a\n")
    async with session(work_dir, data_dir, *bash("rm -rf src")) as client:
        await client.ask("go")
        assert not (work_dir / "src").exists()
        await client.run_command(Revert(prompt_checkpoint(client, 0)), Reverted)
    assert (work_dir / "src" / "deep" / "a").read_text() == "a\n"


async def test_a_command_sees_what_a_file_tool_wrote_before(work_dir: Path, data_dir: Path) -> None:
    calls = tool_calls(
        ("Bash", {"command": "echo 1 > a"}),
        ("WriteFile", {"path": "b", "content": "2\n"}),
        ("Bash", {"command": "cat a b > c"}),
    )
    async with session(work_dir, data_dir, calls, text_reply("done")) as client:
        await client.ask("go")
    assert (work_dir / "c").read_text() == "1\n2\n"


async def test_output_appears_while_a_private_command_runs(
    work_dir: Path, data_dir: Path, tmp_path: Path
) -> None:
    running = Running(tmp_path)
    async with session(work_dir, data_dir, *bash(running.command("echo early"))) as client:
        client.command(Prompt("go"))
        await client.next(ToolOutput)
        running.end()
        await client.next(TurnEnd)
    assert "early" in "".join(event.text for event in client.all(ToolOutput))


async def test_effects_of_a_killed_command_are_committed_by_the_next_start(
    work_dir: Path, data_dir: Path
) -> None:
    assert Notification
