"""The todo list in time: jumps and forks bring along the list that stood there."""

from pathlib import Path

from kimi_tui.base.paths import work_dir_key
from kimi_tui.history.state import read_state
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
from tests.engine.session import Talk, calls, says, session


def lists(*titles: str) -> str:
    return calls(("SetTodoList", {"todos": [{"title": title, "status": "pending"} for title in titles]}))


STORY = (lists("one"), says("listed"), lists("one", "two"), says("longer"), says("the summary"))


def shown(talk: Talk) -> tuple[str, ...]:
    """The list that front ends show."""
    updates = talk.all(TodoUpdate)
    return tuple(item.title for item in updates[-1].items) if updates else ()


def turns(talk: Talk) -> list[int]:
    return [event.id for event in talk.all(CheckpointCreated) if event.kind == "user"]


async def tell_the_story(talk: Talk) -> None:
    await talk.ask("make a list")
    await talk.ask("make it longer")
    assert shown(talk) == ("one", "two")


async def test_a_revert_brings_the_list_of_then_and_undo_that_of_now(work_dir: Path, share_dir: Path) -> None:
    async with session(work_dir, share_dir, *STORY) as talk:
        await tell_the_story(talk)
        await talk.do(Revert(turns(talk)[1]), Reverted)
        assert shown(talk) == ("one",)
        await talk.do(Revert(turns(talk)[0]), Reverted)
        assert shown(talk) == ()
        await talk.do(Undo(), Reverted)
        assert shown(talk) == ("one",)
        await talk.do(Undo(), Reverted)
        assert shown(talk) == ("one", "two")


async def test_files_go_back_without_the_list(work_dir: Path, share_dir: Path) -> None:
    async with session(work_dir, share_dir, *STORY) as talk:
        await tell_the_story(talk)
        await talk.do(Revert(turns(talk)[0], scope="files"), Reverted)
        assert shown(talk) == ("one", "two")


async def test_a_cleared_list_comes_back_by_undo(work_dir: Path, share_dir: Path) -> None:
    async with session(work_dir, share_dir, *STORY) as talk:
        await tell_the_story(talk)
        talk.command(RunSlash("clear"))
        await talk.next(TodoUpdate)
        assert shown(talk) == ()
        await talk.do(Undo(), Reverted)
        assert shown(talk) == ("one", "two")


async def test_what_a_compaction_left_has_the_list_that_stood_then(work_dir: Path, share_dir: Path) -> None:
    async with session(work_dir, share_dir, *STORY) as talk:
        await tell_the_story(talk)
        await talk.do(RunSlash("compact"), TurnEnd)
        await talk.do(Revert(turns(talk)[1]), Reverted)
        assert shown(talk) == ("one",)
        await talk.do(SwitchBranch(1), Reverted)
        assert shown(talk) == ("one", "two")


async def test_a_fork_has_the_list_of_its_checkpoint(work_dir: Path, share_dir: Path) -> None:
    async with session(work_dir, share_dir, *STORY) as talk:
        await tell_the_story(talk)
        fork = await talk.do(ForkSession(turns(talk)[1]), SessionForked)
    folder = share_dir / "sessions" / work_dir_key(work_dir) / fork.session_id
    state = read_state(folder / "state.json")
    assert state is not None
    assert [item.title for item in state.todos] == ["one"]
    assert (folder / FILE_NAME).exists()


async def test_a_list_older_than_the_log_comes_back(work_dir: Path, share_dir: Path) -> None:
    async with session(work_dir, share_dir, *STORY) as talk:
        await talk.ask("make a list")
        session_id = talk.all(SessionInfo)[-1].session_id
    (log,) = share_dir.glob(f"sessions/*/*/{FILE_NAME}")
    log.unlink()
    async with session(work_dir, share_dir, *STORY[2:], session_id=session_id) as talk:
        await talk.next(ReplayEnd)
        await talk.ask("make it longer")
        await talk.do(Revert(turns(talk)[-1]), Reverted)
        assert shown(talk) == ("one",)


async def test_a_damaged_log_costs_its_damaged_lines(work_dir: Path, share_dir: Path) -> None:
    async with session(work_dir, share_dir, *STORY) as talk:
        await tell_the_story(talk)
        (log,) = share_dir.glob(f"sessions/*/*/{FILE_NAME}")
        log.write_bytes(b'{"from": 0}\n\xff\n' + log.read_bytes()[:-7])
        await talk.do(Revert(turns(talk)[1]), Reverted)
        assert shown(talk) == ("one",)
        await talk.do(Undo(), Reverted)
        assert shown(talk) == ("one",)  # the line that said more was cut off
