"""Journals that are deleted or moved while in use: they are rewritten from memory."""

import shutil
from pathlib import Path

import pytest

from kimi_tui.base.errors import JournalWriteError, SessionInUse
from kimi_tui.base.message import user_message
from kimi_tui.history.context import Context
from kimi_tui.history.session import SessionStore
from tests.history.file_systems import FailingFileSystem
from tests.history.messages import assistant_calls, assistant_message, reopen, tool_result


async def build_long_history(context: Context) -> None:
    """Create checkpoints, a step with calls, a revert, a compaction, and token counts in between."""
    await context.set_system_prompt("be good")
    await context.checkpoint(True, kind="user", label="fix it")
    await context.append_message(user_message("fix it"))
    await context.checkpoint(False)
    await context.append_step(
        [assistant_calls("I look", "a", "b"), tool_result("a", "one"), tool_result("b", "two")], token_count=9
    )
    await context.update_token_count(12)
    await context.checkpoint(False, files="m.1:0")
    await context.append_step([assistant_message("done")], token_count=99)
    await context.revert_to(2)
    await context.checkpoint(False, kind="user", label="restored")
    await context.append_message(user_message("restored"))
    await context.record_files(3, "m.1:9", None)
    await context.replace([user_message("a summary"), assistant_message("yes")])
    await context.checkpoint(True, kind="user", label="more")
    await context.append_message([user_message("more"), assistant_calls("", "c"), tool_result("c", "three")])


def is_same(one: Context, other: Context) -> bool:
    return (
        list(one.history) == list(other.history)
        and list(one.indexed_checkpoints) == list(other.indexed_checkpoints)
        and list(one.reverts) == list(other.reverts)
        and (one.token_count, one.token_count_with_pending)
        == (other.token_count, other.token_count_with_pending)
        and (one.n_checkpoints, one.system_prompt) == (other.n_checkpoints, other.system_prompt)
    )


@pytest.mark.parametrize("change", ["file", "folder", "moved"])
async def test_the_next_message_rewrites_the_whole_conversation(context_file: Path, change: str) -> None:
    context = Context(context_file)
    await build_long_history(context)
    notifications: list[str] = []
    context.on_file_rewritten = lambda: notifications.append("put back")
    match change:
        case "file":
            context_file.unlink()
        case "folder":
            shutil.rmtree(context_file.parent)
        case "moved":
            context_file.parent.rename(context_file.parent.with_name("elsewhere"))
    await context.append_message(assistant_message("here"))
    await context.checkpoint(False)
    assert notifications == ["put back"]
    restored = await reopen(context_file)
    assert is_same(restored, context)
    assert not restored.repairs
    await restored.revert_to(restored.checkpoints[-2].id)
    assert [message.text for message in restored.history] == ["a summary", "yes"]


async def test_a_pending_step_is_kept(context_file: Path) -> None:
    context = Context(context_file)
    await context.append_message(user_message("fix it"))
    await context.record_pending(assistant_calls("I look", "a", "b"))
    await context.record_pending(tool_result("a", "one"))
    context_file.unlink()
    await context.record_pending(tool_result("b", "two"))
    restored = await reopen(context_file)
    assert [message.text for message in restored.history] == ["fix it", "I look", "one", "two"]


@pytest.mark.parametrize("operation", ["revert", "clear"])
async def test_a_revert_keeps_the_branch_that_it_leaves(context_file: Path, operation: str) -> None:
    context = Context(context_file)
    await build_long_history(context)
    checkpoint = context.checkpoints[-1].id
    shutil.rmtree(context_file.parent)
    await (context.revert_to(checkpoint) if operation == "revert" else context.clear())
    (branch,) = await context.branches()
    assert [it.text for it in (await context.read_branch(branch.number)).history][-1] == "three"
    assert is_same(await reopen(context_file), context)


async def test_a_switch_keeps_the_branch_that_it_leaves(context_file: Path) -> None:
    context = Context(context_file)
    await build_long_history(context)
    context_file.unlink()
    left = (await context.restore_from_rotation(1)).branch
    assert left is not None
    assert [it.text for it in (await context.read_branch(left)).history][-1] == "three"
    assert is_same(await reopen(context_file), context)


async def test_a_failed_rewrite_is_tried_again(context_file: Path) -> None:
    fs = FailingFileSystem()
    context = Context(context_file, fs=fs)
    await context.append_message(user_message("hello"))
    context_file.unlink()
    fs.failing_calls.add("write")
    with pytest.raises(JournalWriteError):
        await context.append_message(user_message("more"))
    assert [message.text for message in context.history] == ["hello"]
    fs.failing_calls.clear()
    await context.append_message(user_message("more"))
    assert is_same(await reopen(context_file), context)


def test_acquire_takes_the_lock_again_after_its_file_was_deleted(tmp_path: Path) -> None:
    store = SessionStore(tmp_path / "share")
    session = store.create(tmp_path)
    session.acquire()
    shutil.rmtree(tmp_path / "share")
    session.acquire()
    with pytest.raises(SessionInUse):
        type(session)(session.dir, tmp_path).acquire()
    session.release()


def test_releasing_a_lost_lock_does_not_affect_its_new_holder(tmp_path: Path) -> None:
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
