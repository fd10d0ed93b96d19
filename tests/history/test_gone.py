"""A journal that is deleted or moved while it is in use is written anew: what was said is still in memory."""

import shutil
from pathlib import Path

import pytest

from kimi_tui.base.errors import JournalWriteError, SessionInUse
from kimi_tui.base.message import user_message
from kimi_tui.history.context import Context
from kimi_tui.history.session import SessionStore
from tests.history.disks import FailingDisk
from tests.history.words import asks, gives, reopened, says


async def long_story(context: Context) -> None:
    """Checkpoints, a step with calls, a revert, a compaction, and counts between them."""
    await context.set_system_prompt("be good")
    await context.checkpoint(True, kind="user", label="fix it")
    await context.append_message(user_message("fix it"))
    await context.checkpoint(False)
    await context.append_step([asks("I look", "a", "b"), gives("a", "one"), gives("b", "two")], token_count=9)
    await context.update_token_count(12)
    await context.checkpoint(False, files="m.1:0")
    await context.append_step([says("done")], token_count=99)
    await context.revert_to(2)
    await context.checkpoint(False, kind="user", label="again")
    await context.append_message(user_message("again"))
    await context.note_files(3, "m.1:9", None)
    await context.replace([user_message("a summary"), says("yes")])
    await context.checkpoint(True, kind="user", label="more")
    await context.append_message([user_message("more"), asks("", "c"), gives("c", "three")])


def is_same(one: Context, other: Context) -> bool:
    return (
        list(one.history) == list(other.history)
        and list(one.marked) == list(other.marked)
        and list(one.reverts) == list(other.reverts)
        and (one.token_count, one.token_count_with_pending)
        == (other.token_count, other.token_count_with_pending)
        and (one.n_checkpoints, one.system_prompt) == (other.n_checkpoints, other.system_prompt)
    )


@pytest.mark.parametrize("how", ["file", "folder", "moved"])
async def test_what_was_said_is_all_there_again_with_the_next_word(context_file: Path, how: str) -> None:
    context = Context(context_file)
    await long_story(context)
    told: list[str] = []
    context.put_back = lambda: told.append("put back")
    match how:
        case "file":
            context_file.unlink()
        case "folder":
            shutil.rmtree(context_file.parent)
        case "moved":
            context_file.parent.rename(context_file.parent.with_name("elsewhere"))
    await context.append_message(says("here"))
    await context.checkpoint(False)
    assert told == ["put back"]
    again = await reopened(context_file)
    assert is_same(again, context)
    assert not again.repairs
    await again.revert_to(again.checkpoints[-2].id)
    assert [message.text for message in again.history] == ["a summary", "yes"]


async def test_a_step_under_way_is_kept(context_file: Path) -> None:
    context = Context(context_file)
    await context.append_message(user_message("fix it"))
    await context.note_pending(asks("I look", "a", "b"))
    await context.note_pending(gives("a", "one"))
    context_file.unlink()
    await context.note_pending(gives("b", "two"))
    again = await reopened(context_file)
    assert [message.text for message in again.history] == ["fix it", "I look", "one", "two"]


@pytest.mark.parametrize("jump", ["revert", "clear"])
async def test_a_jump_finds_what_it_leaves_behind(context_file: Path, jump: str) -> None:
    context = Context(context_file)
    await long_story(context)
    checkpoint = context.checkpoints[-1].id
    shutil.rmtree(context_file.parent)
    await (context.revert_to(checkpoint) if jump == "revert" else context.clear())
    (branch,) = await context.branches()
    assert [it.text for it in (await context.read_branch(branch.number)).history][-1] == "three"
    assert is_same(await reopened(context_file), context)


async def test_switching_to_a_branch_leaves_nothing_behind_either(context_file: Path) -> None:
    context = Context(context_file)
    await long_story(context)
    context_file.unlink()
    left = (await context.restore_from_rotation(1)).branch
    assert left is not None
    assert [it.text for it in (await context.read_branch(left)).history][-1] == "three"
    assert is_same(await reopened(context_file), context)


async def test_what_can_not_be_written_anew_is_tried_again(context_file: Path) -> None:
    disk = FailingDisk()
    context = Context(context_file, disk=disk)
    await context.append_message(user_message("hello"))
    context_file.unlink()
    disk.refused.add("write")
    with pytest.raises(JournalWriteError):
        await context.append_message(user_message("more"))
    assert [message.text for message in context.history] == ["hello"]
    disk.refused.clear()
    await context.append_message(user_message("more"))
    assert is_same(await reopened(context_file), context)


def test_who_writes_the_folder_anew_has_the_session_again(tmp_path: Path) -> None:
    store = SessionStore(tmp_path / "share")
    session = store.create(tmp_path)
    session.acquire()
    shutil.rmtree(tmp_path / "share")
    session.acquire()
    with pytest.raises(SessionInUse):
        type(session)(session.dir, tmp_path).acquire()
    session.release()


def test_who_lost_the_session_takes_nothing_from_who_has_it(tmp_path: Path) -> None:
    store = SessionStore(tmp_path / "share")
    old = store.create(tmp_path)
    old.acquire()
    shutil.rmtree(tmp_path / "share")
    new = type(old)(old.dir, tmp_path)
    new.acquire()
    old.release()
    with pytest.raises(SessionInUse):
        type(old)(old.dir, tmp_path).acquire()
    new.release()
