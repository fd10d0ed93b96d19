"""Conversations, used in the same way as by the soul."""

import asyncio
import errno
import json

import pytest

from kimi_tui.base.content_parts import TextPart, system_note
from kimi_tui.base.errors import JournalWriteError
from kimi_tui.base.message import Message, user_message
from kimi_tui.history.context import Context
from kimi_tui.history.message_history import INTERRUPTED
from tests.history.file_systems import FailingFileSystem, RecordingFileSystem
from tests.history.messages import (
    assert_sendable,
    assistant_calls,
    assistant_message,
    history_texts,
    reopen,
    tool_result,
)
from tests.timeouts import TEST_TIMEOUT_S


async def run_turn(context: Context, prompt: str, response: str) -> None:
    """Do what the soul does in a turn without tools."""
    await context.checkpoint(False, kind="user", label=prompt)
    await context.append_message(user_message(prompt))
    await context.checkpoint(False)
    await context.append_step([assistant_message(response)], token_count=100)


async def test_nothing_is_on_disk_before_the_first_message(context_file):
    context = Context(context_file)
    assert await context.restore() is False
    await context.set_system_prompt("be good")
    await context.clear()
    assert not context_file.parent.exists()
    await context.append_message(user_message("hi"))
    assert [json.loads(line)["role"] for line in context_file.read_bytes().splitlines()] == [
        "_system_prompt",
        "user",
    ]


async def test_messages_and_checkpoints_are_restored(context_file):
    context = Context(context_file)
    await run_turn(context, "hello", "hi")
    await context.append_message([user_message("more"), assistant_message("sure")])
    reopened = Context(context_file)
    assert await reopened.restore() is True
    assert reopened.history == context.history
    assert reopened.checkpoints == context.checkpoints
    assert (reopened.token_count, reopened.n_checkpoints) == (100, 2)
    assert reopened.repairs == ()


async def test_a_used_context_cannot_be_restored(context_file):
    context = Context(context_file)
    await context.append_message(user_message("hi"))
    with pytest.raises(RuntimeError):
        await context.restore()
    reopened = await reopen(context_file)
    with pytest.raises(RuntimeError):
        await reopened.restore()


async def test_a_file_with_content_must_be_restored_before_a_change(context_file):
    await Context(context_file).append_message(user_message("hi"))
    with pytest.raises(RuntimeError):
        await Context(context_file).append_message(user_message("hi"))
    assert history_texts(await reopen(context_file)) == ["hi"]


async def test_checkpoints_are_numbered_from_0_and_form_a_chain(context_file):
    context = Context(context_file)
    first = await context.checkpoint(True, kind="user", label="hi", files="m1")
    second = await context.checkpoint(False)
    assert (first.id, first.parent, first.kind, first.label, first.files) == (0, None, "user", "hi", "m1")
    assert (second.id, second.parent, second.kind) == (1, first.uid, "step")
    assert context.n_checkpoints == 2
    assert history_texts(context) == ["<system>CHECKPOINT 0</system>"]


async def test_reverting_drops_everything_after_the_checkpoint(context_file):
    context = Context(context_file)
    await run_turn(context, "one", "1")
    await run_turn(context, "two", "2")
    result = await context.revert_to(2)
    assert history_texts(context) == ["one", "1"]
    assert (result.branch, result.from_id, result.to) == (1, 3, 2)
    assert [checkpoint.id for checkpoint in context.checkpoints] == [0, 1]
    assert context.token_count == 100


async def test_ids_are_never_reused(context_file):
    context = Context(context_file)
    await run_turn(context, "one", "1")
    target = context.checkpoints[0].uid
    await context.revert_to(0)
    after = await (await reopen(context_file)).checkpoint(False, kind="revert")
    assert (after.id, after.parent) == (2, target)


@pytest.mark.parametrize("checkpoint_id", [-1, 2, 3, 4, 99])
async def test_only_checkpoints_of_the_current_branch_can_be_reverted_to(context_file, checkpoint_id):
    context = Context(context_file)
    await run_turn(context, "one", "1")
    await run_turn(context, "two", "2")
    await context.revert_to(2)
    before = context_file.read_bytes()
    with pytest.raises(ValueError, match=str(checkpoint_id)):
        await context.revert_to(checkpoint_id)
    assert context_file.read_bytes() == before
    assert history_texts(context) == ["one", "1"]


async def test_a_dmail_to_the_start_of_a_turn_keeps_the_prompt(context_file):
    context = Context(context_file)
    await run_turn(context, "earlier", "done")
    start = await context.checkpoint(True, kind="user")
    await context.append_message([user_message("fix it"), Message("user", (system_note("a reminder"),))])
    await context.checkpoint(True)
    await context.append_step([assistant_calls("", "a"), tool_result("a", "x" * 100)], token_count=500)
    await context.revert_to(start.id, reason="dmail", keep_user_message=True)
    assert history_texts(context) == ["earlier", "done", "fix it"]
    assert history_texts(await reopen(context_file)) == ["earlier", "done", "fix it"]
    assert context.token_count == 100
    assert (await context.checkpoint(False)).parent == start.uid


async def test_a_dmail_to_a_later_step_keeps_only_what_came_before(context_file):
    context = Context(context_file)
    await run_turn(context, "fix it", "looking")
    step = await context.checkpoint(False)
    await context.append_step([assistant_message("wrong way")], token_count=None)
    await context.revert_to(step.id, reason="dmail", keep_user_message=True)
    assert history_texts(context) == ["fix it", "looking"]


async def test_a_clear_leaves_a_branch_and_the_system_prompt(context_file):
    context = Context(context_file)
    await context.set_system_prompt("be good")
    await run_turn(context, "one", "1")
    newest = context.checkpoints[-1]
    result = await context.clear()
    assert (result.branch, result.from_id, result.to) == (1, newest.id, 0)
    assert history_texts(context) == []
    assert (context.token_count, context.checkpoints) == (0, [])
    reopened = await reopen(context_file)
    assert reopened.system_prompt == "be good"
    checkpoint = await reopened.checkpoint(False, kind="clear")
    assert (checkpoint.id, checkpoint.parent) == (2, newest.uid)


async def test_a_compaction_replaces_the_history_and_can_be_undone(context_file):
    context = Context(context_file)
    await run_turn(context, "one", "1")
    await run_turn(context, "two", "2")
    result = await context.replace(
        [user_message("a summary"), assistant_message("2"), tool_result("gone", "stray")]
    )
    assert history_texts(context) == ["a summary", "2"]
    assert context.token_count_with_pending < 10
    await context.checkpoint(False, kind="compaction")
    await context.restore_from_rotation(result.branch, reason="undo")
    assert history_texts(context) == ["one", "1", "two", "2"]
    assert history_texts(await reopen(context_file)) == ["one", "1", "two", "2"]


async def test_a_switch_keeps_the_current_branch(context_file):
    context = Context(context_file)
    await run_turn(context, "one", "1")
    await run_turn(context, "left", "behind")
    tip = context.checkpoints[-1]
    await context.revert_to(2)
    await run_turn(context, "other", "way")
    result = await context.restore_from_rotation(1)
    assert history_texts(context) == ["one", "1", "left", "behind"]
    assert (result.branch, result.from_id, result.to) == (2, 5, tip.id)
    assert [message.text for message in (await context.read_branch(2)).history] == [
        "one",
        "1",
        "other",
        "way",
    ]
    checkpoint = await context.checkpoint(False)
    assert (checkpoint.id, checkpoint.parent) == (6, tip.uid)


async def test_a_switch_to_an_unknown_branch_is_an_error(context_file):
    context = Context(context_file)
    await run_turn(context, "one", "1")
    with pytest.raises(ValueError, match="Branch 7"):
        await context.restore_from_rotation(7)
    with pytest.raises(ValueError, match="Branch 7"):
        await context.read_branch(7)
    assert history_texts(context) == ["one", "1"]


async def test_branches_have_the_reason_why_they_were_left(context_file):
    context = Context(context_file)
    assert await context.branches() == ()
    await run_turn(context, "one", "1")
    await context.revert_to(1, reason="dmail")
    await run_turn(context, "two", "2")
    await context.replace([assistant_message("a summary")])
    await context.restore_from_rotation(1)
    branches = await (await reopen(context_file)).branches()
    assert [(branch.number, branch.reason, branch.to, branch.messages) for branch in branches] == [
        (1, "dmail", 1, 2),
        (2, "compaction", 0, 3),
        (3, "switch", 1, 1),
    ]
    assert [checkpoint.id for checkpoint in branches[1].checkpoints] == [0, 2, 3]
    assert branches[1].checkpoints[1].parent == branches[0].checkpoints[1].uid


async def test_a_step_is_one_synced_write(context_file):
    fs = RecordingFileSystem()
    context = Context(context_file, fs=fs)
    await context.append_message(user_message("hi"))
    fs.calls.clear()
    await context.append_step(
        [assistant_calls("", "a", "b"), tool_result("a", "1"), tool_result("b", "2")], token_count=7
    )
    assert fs.calls == ["write", "fsync"]


async def test_prompts_are_synced_and_pending_records_are_not(context_file):
    fs = RecordingFileSystem()
    context = Context(context_file, fs=fs)
    await context.checkpoint(False)
    fs.calls.clear()
    await context.append_message(user_message("hi"))
    assert fs.calls == ["write", "fsync"]
    fs.calls.clear()
    await context.record_pending(assistant_calls("", "a"))
    await context.record_pending(tool_result("a", "1"))
    assert fs.calls == ["write", "write"]


async def test_an_interrupted_step_gets_pending_results_and_interruptions(context_file):
    context = Context(context_file)
    step = assistant_calls("", "a", "b", "c")
    await context.record_pending(step)
    await context.record_pending(tool_result("b", "2"))
    assert history_texts(context) == []
    await context.append_step([step, tool_result("a", "1")], token_count=None)
    assert history_texts(context) == ["", "1", "2", f"<system>{INTERRUPTED}</system>"]
    assert (await reopen(context_file)).history == context.history


async def test_a_result_that_comes_after_its_step_is_ignored(context_file):
    context = Context(context_file)
    await context.record_pending(assistant_calls("", "a"))
    await context.append_step([assistant_calls("", "a")], token_count=None)
    await context.record_pending(tool_result("a", "late"))
    reopened = await reopen(context_file)
    assert reopened.history == context.history
    assert reopened.repairs == ()


async def test_an_unfinished_step_is_completed_before_the_next_message(context_file):
    context = Context(context_file)
    await context.record_pending(assistant_calls("ask", "a", "b"))
    await context.record_pending(tool_result("a", "1"))
    await context.append_message(user_message("next"))
    assert history_texts(context) == ["ask", "1", f"<system>{INTERRUPTED}</system>", "next"]
    reopened = await reopen(context_file)
    assert reopened.history == context.history
    assert reopened.repairs == ()


async def test_results_may_also_be_appended_one_by_one_in_any_order(context_file):
    context = Context(context_file)
    await context.append_message(assistant_calls("", "a", "b"))
    await context.append_message(tool_result("b", "2"))
    await context.append_message(tool_result("a", "1"))
    assert history_texts(context) == ["", "1", "2"]
    assert (await reopen(context_file)).history == context.history


@pytest.mark.parametrize(
    "messages",
    [
        [tool_result("x", "?")],
        [assistant_calls("", "a"), tool_result("b", "?")],
        [assistant_calls("", "a"), tool_result("a", "1"), tool_result("a", "reopened")],
        [assistant_calls("", "a"), user_message("hi"), tool_result("a", "late")],
    ],
)
async def test_a_result_without_a_call_is_rejected(context_file, messages):
    context = Context(context_file)
    await context.append_message(user_message("hi"))
    with pytest.raises(ValueError, match="no call awaits"):
        await context.append_message(messages)
    assert history_texts(context) == ["hi"]
    assert history_texts(await reopen(context_file)) == ["hi"]


@pytest.mark.parametrize("messages", [[user_message("hi")], [assistant_message("a"), assistant_message("b")]])
async def test_a_step_has_exactly_one_response(context_file, messages):
    with pytest.raises(ValueError, match="step"):
        await Context(context_file).append_step(messages, token_count=None)


async def test_tool_results_are_not_counted_yet(context_file):
    context = Context(context_file)
    await context.append_step([assistant_calls("", "a"), tool_result("a", "x" * 4000)], token_count=500)
    assert context.token_count == 500
    assert context.token_count_with_pending == 1500
    reopened = await reopen(context_file)
    assert reopened.token_count_with_pending == 1500
    await reopened.update_token_count(1400)
    assert reopened.token_count_with_pending == 1400
    assert (await reopened.checkpoint(False)).tokens == 1400


async def test_a_new_system_prompt_replaces_the_old_one_without_a_branch(context_file):
    context = Context(context_file)
    await context.set_system_prompt("Monday")
    await run_turn(context, "one", "1")
    reopened = await reopen(context_file)
    assert reopened.system_prompt == "Monday"
    await reopened.set_system_prompt("a much longer Tuesday")
    await run_turn(reopened, "two", "2")
    first, *others = (json.loads(line) for line in context_file.read_bytes().splitlines())
    assert first == {"role": "_system_prompt", "content": "a much longer Tuesday"}
    assert "_system_prompt" not in {record["role"] for record in others}
    assert await reopened.branches() == ()
    await reopened.revert_to(2)
    assert history_texts(await reopen(context_file)) == ["one", "1"]


async def test_the_same_system_prompt_changes_nothing(context_file):
    context = Context(context_file)
    await context.set_system_prompt("Monday")
    await run_turn(context, "one", "1")
    before = context_file.stat().st_ino
    reopened = await reopen(context_file)
    await reopened.set_system_prompt("Monday")
    await run_turn(reopened, "two", "2")
    assert context_file.stat().st_ino == before


async def test_a_branch_continues_with_the_current_system_prompt(context_file):
    context = Context(context_file)
    await context.set_system_prompt("Monday")
    await run_turn(context, "one", "1")
    await context.set_system_prompt("Tuesday")
    await context.revert_to(1)
    assert context.system_prompt == "Tuesday"
    await context.restore_from_rotation(1)
    assert context.system_prompt == "Tuesday"
    reopened = await reopen(context_file)
    assert reopened.system_prompt == "Tuesday"
    assert history_texts(reopened) == ["one", "1"]


@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EIO, errno.EROFS])
async def test_a_failed_write_changes_nothing_in_memory_and_can_be_repeated(context_file, error):
    fs = FailingFileSystem(error=error)
    context = Context(context_file, fs=fs)
    await run_turn(context, "one", "1")
    await context.record_pending(assistant_calls("", "a"))
    before = (history_texts(context), list(context.checkpoints), context.token_count, context.n_checkpoints)
    fs.failing_calls = {"write"}
    for operation in (
        lambda: context.append_message(user_message("lost?")),
        lambda: context.append_step([assistant_calls("", "a"), tool_result("a", "1")], token_count=9),
        lambda: context.record_pending(tool_result("a", "1")),
        lambda: context.checkpoint(True),
        lambda: context.revert_to(0),
        lambda: context.clear(),
        lambda: context.replace([assistant_message("summary")]),
        lambda: context.update_token_count(9),
    ):
        with pytest.raises(JournalWriteError):
            await operation()
        assert (
            history_texts(context),
            list(context.checkpoints),
            context.token_count,
            context.n_checkpoints,
        ) == before
    fs.failing_calls = set()
    await context.append_step([assistant_calls("", "a"), tool_result("a", "1")], token_count=9)
    await context.checkpoint(False)
    reopened = await reopen(context_file)
    assert reopened.history == context.history
    assert reopened.checkpoints == context.checkpoints
    assert [branch.number for branch in await reopened.branches()] == []


class SlowWriteFileSystem(RecordingFileSystem):
    """Waits in each write until `released` is set, in a thread, while the test's event loop runs."""

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.get_running_loop()
        self.reached = asyncio.Event()
        self.released = asyncio.Event()

    def write(self, file, data):
        self.loop.call_soon_threadsafe(self.reached.set)
        asyncio.run_coroutine_threadsafe(self.released.wait(), self.loop).result(timeout=TEST_TIMEOUT_S)
        return super().write(file, data)


async def test_a_canceled_append_is_completed_before_the_cancellation(context_file):
    fs = SlowWriteFileSystem()
    context = Context(context_file, fs=fs)
    append = asyncio.ensure_future(context.append_message(user_message("hi")))
    await fs.reached.wait()
    append.cancel()
    await asyncio.sleep(0)
    append.cancel()
    await asyncio.sleep(0)
    assert not append.done()
    fs.released.set()
    with pytest.raises(asyncio.CancelledError):
        await append
    assert history_texts(context) == ["hi"]
    assert history_texts(await reopen(context_file)) == ["hi"]


async def test_a_write_error_during_a_cancellation_is_its_cause(context_file):
    context = Context(context_file, fs=FailingFileSystem("write"))
    append = asyncio.ensure_future(context.append_message(user_message("hi")))
    await asyncio.sleep(0)
    append.cancel()
    with pytest.raises(asyncio.CancelledError) as raised:
        await append
    assert isinstance(raised.value.__cause__, JournalWriteError)


async def test_concurrent_appends_are_written_one_after_another(context_file):
    context = Context(context_file)
    await asyncio.gather(*(context.append_message(user_message(str(number))) for number in range(20)))
    await context.close()
    assert history_texts(context) == [str(number) for number in range(20)]
    assert history_texts(await reopen(context_file)) == history_texts(context)


async def test_text_that_cannot_be_encoded_is_the_same_in_memory_and_on_disk(context_file):
    context = Context(context_file)
    await context.record_pending(assistant_calls("odd \udcff", "a"))
    await context.append_step(
        [assistant_calls("odd \udcff", "a"), Message("tool", (TextPart("\udcff"),), None, "a")], token_count=1
    )
    await context.set_system_prompt("\udcff")
    await context.checkpoint(False, label="\udcff")
    assert history_texts(context) == ["odd \ufffd", "\ufffd"]
    reopened = await reopen(context_file)
    assert reopened.history == context.history
    assert reopened.checkpoints == context.checkpoints
    assert_sendable(reopened.history)
