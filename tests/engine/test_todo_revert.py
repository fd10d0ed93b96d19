"""Todo lists of reverts and forks."""

from pathlib import Path

from kimi_tui.base.paths import work_dir_key
from kimi_tui.history.session_state import read_state
from kimi_tui.history.todo_log import FILE_NAME
from kimi_tui.wire.commands import (
    ForkSession,
    Revert,
    RunSlash,
    SwitchBranch,
    Undo,
)
from kimi_tui.wire.events import CheckpointCreated, ReplayEnd, Reverted, SessionInfo, TodoUpdate, TurnEnd
from kimi_tui.wire.timeline import SessionForked
from tests.engine.engine_client import EngineClient, session, text_reply, tool_calls


def todo_call(*titles: str) -> str:
    return tool_calls(("SetTodoList", {"todos": [{"title": title, "status": "pending"} for title in titles]}))


SCRIPTS = (
    todo_call("one"),
    text_reply("listed"),
    todo_call("one", "two"),
    text_reply("longer"),
    text_reply("the summary"),
)


def current_todos(client: EngineClient) -> tuple[str, ...]:
    """Return the titles in the list that front ends show."""
    updates = client.all(TodoUpdate)
    return tuple(item.title for item in updates[-1].items) if updates else ()


def prompt_checkpoints(client: EngineClient) -> list[int]:
    return [event.id for event in client.all(CheckpointCreated) if event.kind == "user"]


async def run_turns(client: EngineClient) -> None:
    await client.ask("make a list")
    await client.ask("make it longer")
    assert current_todos(client) == ("one", "two")


async def test_a_revert_restores_the_todo_list_and_undo_brings_it_back(
    work_dir: Path, data_dir: Path
) -> None:
    async with session(work_dir, data_dir, *SCRIPTS) as client:
        await run_turns(client)
        await client.run_command(Revert(prompt_checkpoints(client)[1]), Reverted)
        assert current_todos(client) == ("one",)
        await client.run_command(Revert(prompt_checkpoints(client)[0]), Reverted)
        assert current_todos(client) == ()
        await client.run_command(Undo(), Reverted)
        assert current_todos(client) == ("one",)
        await client.run_command(Undo(), Reverted)
        assert current_todos(client) == ("one", "two")


async def test_reverting_only_files_keeps_the_todo_list(work_dir: Path, data_dir: Path) -> None:
    async with session(work_dir, data_dir, *SCRIPTS) as client:
        await run_turns(client)
        await client.run_command(Revert(prompt_checkpoints(client)[0], scope="files"), Reverted)
        assert current_todos(client) == ("one", "two")


async def test_undo_restores_a_cleared_todo_list(work_dir: Path, data_dir: Path) -> None:
    async with session(work_dir, data_dir, *SCRIPTS) as client:
        await run_turns(client)
        client.command(RunSlash("clear"))
        await client.next(TodoUpdate)
        assert current_todos(client) == ()
        await client.run_command(Undo(), Reverted)
        assert current_todos(client) == ("one", "two")


async def test_a_branch_left_by_a_compaction_has_its_todo_list(work_dir: Path, data_dir: Path) -> None:
    async with session(work_dir, data_dir, *SCRIPTS) as client:
        await run_turns(client)
        await client.run_command(RunSlash("compact"), TurnEnd)
        await client.run_command(Revert(prompt_checkpoints(client)[1]), Reverted)
        assert current_todos(client) == ("one",)
        await client.run_command(SwitchBranch(1), Reverted)
        assert current_todos(client) == ("one", "two")


async def test_a_fork_has_the_todo_list_of_its_checkpoint(work_dir: Path, data_dir: Path) -> None:
    async with session(work_dir, data_dir, *SCRIPTS) as client:
        await run_turns(client)
        fork = await client.run_command(ForkSession(prompt_checkpoints(client)[1]), SessionForked)
    folder = data_dir / "tui-sessions" / work_dir_key(work_dir) / fork.session_id
    state = read_state(folder / "state.json")
    assert state is not None
    assert [item.title for item in state.todos] == ["one"]
    assert (folder / FILE_NAME).exists()


async def test_a_todo_list_older_than_the_log_is_restored(work_dir: Path, data_dir: Path) -> None:
    async with session(work_dir, data_dir, *SCRIPTS) as client:
        await client.ask("make a list")
        session_id = client.all(SessionInfo)[-1].session_id
    (log,) = data_dir.glob(f"tui-sessions/*/*/{FILE_NAME}")
    log.unlink()
    async with session(work_dir, data_dir, *SCRIPTS[2:], session_id=session_id) as client:
        await client.next(ReplayEnd)
        await client.ask("make it longer")
        await client.run_command(Revert(prompt_checkpoints(client)[-1]), Reverted)
        assert current_todos(client) == ("one",)


async def test_damaged_lines_of_the_log_are_skipped(work_dir: Path, data_dir: Path) -> None:
    async with session(work_dir, data_dir, *SCRIPTS) as client:
        await run_turns(client)
        (log,) = data_dir.glob(f"tui-sessions/*/*/{FILE_NAME}")
        log.write_bytes(b'{"from": 0}\n\xff\n' + log.read_bytes()[:-7])
        await client.run_command(Revert(prompt_checkpoints(client)[1]), Reverted)
        assert current_todos(client) == ("one",)
        await client.run_command(Undo(), Reverted)
        assert current_todos(client) == ("one",)  # the line with the longer list is damaged
