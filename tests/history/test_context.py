"""The conversation as the soul uses it."""

import asyncio
import errno
import json

import pytest

from kimi_tui.base.content import TextPart, system_note
from kimi_tui.base.errors import JournalWriteError
from kimi_tui.base.message import Message, user_message
from kimi_tui.history.context import Context
from kimi_tui.history.conversation import INTERRUPTED
from tests.history.disks import FailingDisk, WatchedDisk
from tests.history.words import asks, assert_sendable, gives, reopened, said, says
from tests.patience import PATIENCE_S


async def a_turn(context: Context, request: str, answer: str) -> None:
    """What the soul does in a turn without tools."""
    await context.checkpoint(False, kind="user", label=request)
    await context.append_message(user_message(request))
    await context.checkpoint(False)
    await context.append_step([says(answer)], token_count=100)


async def test_nothing_is_on_disk_before_something_is_said(context_file):
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


async def test_what_was_said_is_restored(context_file):
    context = Context(context_file)
    await a_turn(context, "hello", "hi")
    await context.append_message([user_message("more"), says("sure")])
    again = Context(context_file)
    assert await again.restore() is True
    assert again.history == context.history
    assert again.checkpoints == context.checkpoints
    assert (again.token_count, again.n_checkpoints) == (100, 2)
    assert again.repairs == ()


async def test_a_used_context_can_not_be_restored(context_file):
    context = Context(context_file)
    await context.append_message(user_message("hi"))
    with pytest.raises(RuntimeError):
        await context.restore()
    again = await reopened(context_file)
    with pytest.raises(RuntimeError):
        await again.restore()


async def test_a_file_that_holds_something_must_be_restored_before_it_changes(context_file):
    await Context(context_file).append_message(user_message("hi"))
    with pytest.raises(RuntimeError):
        await Context(context_file).append_message(user_message("hi"))
    assert said(await reopened(context_file)) == ["hi"]


async def test_checkpoints_are_numbered_from_0_and_form_a_chain(context_file):
    context = Context(context_file)
    first = await context.checkpoint(True, kind="user", label="hi", files="m1")
    second = await context.checkpoint(False)
    assert (first.id, first.parent, first.kind, first.label, first.files) == (0, None, "user", "hi", "m1")
    assert (second.id, second.parent, second.kind) == (1, first.uid, "step")
    assert context.n_checkpoints == 2
    assert said(context) == ["<system>CHECKPOINT 0</system>"]


async def test_reverting_drops_everything_after_the_checkpoint(context_file):
    context = Context(context_file)
    await a_turn(context, "one", "1")
    await a_turn(context, "two", "2")
    reversion = await context.revert_to(2)
    assert said(context) == ["one", "1"]
    assert (reversion.branch, reversion.from_id, reversion.to) == (1, 3, 2)
    assert [checkpoint.id for checkpoint in context.checkpoints] == [0, 1]
    assert context.token_count == 100


async def test_ids_are_never_used_again(context_file):
    context = Context(context_file)
    await a_turn(context, "one", "1")
    target = context.checkpoints[0].uid
    await context.revert_to(0)
    after = await (await reopened(context_file)).checkpoint(False, kind="revert")
    assert (after.id, after.parent) == (2, target)


@pytest.mark.parametrize("checkpoint_id", [-1, 2, 3, 4, 99])
async def test_only_checkpoints_of_the_live_line_can_be_reverted_to(context_file, checkpoint_id):
    context = Context(context_file)
    await a_turn(context, "one", "1")
    await a_turn(context, "two", "2")
    await context.revert_to(2)
    before = context_file.read_bytes()
    with pytest.raises(ValueError, match=str(checkpoint_id)):
        await context.revert_to(checkpoint_id)
    assert context_file.read_bytes() == before
    assert said(context) == ["one", "1"]


async def test_a_dmail_to_the_start_of_a_turn_keeps_the_users_request(context_file):
    context = Context(context_file)
    await a_turn(context, "earlier", "done")
    start = await context.checkpoint(True, kind="user")
    await context.append_message([user_message("fix it"), Message("user", (system_note("a reminder"),))])
    await context.checkpoint(True)
    await context.append_step([asks("", "a"), gives("a", "x" * 100)], token_count=500)
    await context.revert_to(start.id, reason="dmail", keep_user_message=True)
    assert said(context) == ["earlier", "done", "fix it"]
    assert said(await reopened(context_file)) == ["earlier", "done", "fix it"]
    assert context.token_count == 100
    assert (await context.checkpoint(False)).parent == start.uid


async def test_a_dmail_to_a_later_step_keeps_no_more_than_was_there(context_file):
    context = Context(context_file)
    await a_turn(context, "fix it", "looking")
    step = await context.checkpoint(False)
    await context.append_step([says("wrong way")], token_count=None)
    await context.revert_to(step.id, reason="dmail", keep_user_message=True)
    assert said(context) == ["fix it", "looking"]


async def test_a_clear_leaves_a_branch_and_the_system_prompt(context_file):
    context = Context(context_file)
    await context.set_system_prompt("be good")
    await a_turn(context, "one", "1")
    newest = context.checkpoints[-1]
    reversion = await context.clear()
    assert (reversion.branch, reversion.from_id, reversion.to) == (1, newest.id, 0)
    assert said(context) == []
    assert (context.token_count, context.checkpoints) == (0, [])
    again = await reopened(context_file)
    assert again.system_prompt == "be good"
    checkpoint = await again.checkpoint(False, kind="clear")
    assert (checkpoint.id, checkpoint.parent) == (2, newest.uid)


async def test_a_compaction_replaces_the_history_and_can_be_taken_back(context_file):
    context = Context(context_file)
    await a_turn(context, "one", "1")
    await a_turn(context, "two", "2")
    reversion = await context.replace([user_message("a summary"), says("2"), gives("gone", "stray")])
    assert said(context) == ["a summary", "2"]
    assert context.token_count_with_pending < 10
    await context.checkpoint(False, kind="compaction")
    await context.restore_from_rotation(reversion.branch, reason="undo")
    assert said(context) == ["one", "1", "two", "2"]
    assert said(await reopened(context_file)) == ["one", "1", "two", "2"]


async def test_switching_makes_a_branch_of_the_line_that_was_live(context_file):
    context = Context(context_file)
    await a_turn(context, "one", "1")
    await a_turn(context, "left", "behind")
    tip = context.checkpoints[-1]
    await context.revert_to(2)
    await a_turn(context, "other", "way")
    reversion = await context.restore_from_rotation(1)
    assert said(context) == ["one", "1", "left", "behind"]
    assert (reversion.branch, reversion.from_id, reversion.to) == (2, 5, tip.id)
    assert [message.text for message in (await context.read_branch(2)).history] == [
        "one",
        "1",
        "other",
        "way",
    ]
    checkpoint = await context.checkpoint(False)
    assert (checkpoint.id, checkpoint.parent) == (6, tip.uid)


async def test_a_branch_that_is_not_there_can_not_be_switched_to(context_file):
    context = Context(context_file)
    await a_turn(context, "one", "1")
    with pytest.raises(ValueError, match="Branch 7"):
        await context.restore_from_rotation(7)
    with pytest.raises(ValueError, match="Branch 7"):
        await context.read_branch(7)
    assert said(context) == ["one", "1"]


async def test_branches_say_why_they_were_left_and_what_they_hold(context_file):
    context = Context(context_file)
    assert await context.branches() == ()
    await a_turn(context, "one", "1")
    await context.revert_to(1, reason="dmail")
    await a_turn(context, "two", "2")
    await context.replace([says("a summary")])
    await context.restore_from_rotation(1)
    branches = await (await reopened(context_file)).branches()
    assert [(branch.number, branch.reason, branch.to, branch.messages) for branch in branches] == [
        (1, "dmail", 1, 2),
        (2, "compaction", 0, 3),
        (3, "switch", 1, 1),
    ]
    assert [checkpoint.id for checkpoint in branches[1].checkpoints] == [0, 2, 3]
    assert branches[1].checkpoints[1].parent == branches[0].checkpoints[1].uid


async def test_a_step_is_one_synced_write(context_file):
    disk = WatchedDisk()
    context = Context(context_file, disk=disk)
    await context.append_message(user_message("hi"))
    disk.calls.clear()
    await context.append_step([asks("", "a", "b"), gives("a", "1"), gives("b", "2")], token_count=7)
    assert disk.calls == ["write", "fsync"]


async def test_what_the_user_says_is_synced_and_a_note_of_a_running_step_is_not(context_file):
    disk = WatchedDisk()
    context = Context(context_file, disk=disk)
    await context.checkpoint(False)
    disk.calls.clear()
    await context.append_message(user_message("hi"))
    assert disk.calls == ["write", "fsync"]
    disk.calls.clear()
    await context.note_pending(asks("", "a"))
    await context.note_pending(gives("a", "1"))
    assert disk.calls == ["write", "write"]


async def test_a_step_that_was_cut_short_gets_what_was_noted_and_interruptions(context_file):
    context = Context(context_file)
    step = asks("", "a", "b", "c")
    await context.note_pending(step)
    await context.note_pending(gives("b", "2"))
    assert said(context) == []
    await context.append_step([step, gives("a", "1")], token_count=None)
    assert said(context) == ["", "1", "2", f"<system>{INTERRUPTED}</system>"]
    assert (await reopened(context_file)).history == context.history


async def test_a_result_that_comes_after_its_step_is_ignored(context_file):
    context = Context(context_file)
    await context.note_pending(asks("", "a"))
    await context.append_step([asks("", "a")], token_count=None)
    await context.note_pending(gives("a", "late"))
    again = await reopened(context_file)
    assert again.history == context.history
    assert again.repairs == ()


async def test_a_step_that_was_never_ended_is_before_what_comes_next(context_file):
    context = Context(context_file)
    await context.note_pending(asks("ask", "a", "b"))
    await context.note_pending(gives("a", "1"))
    await context.append_message(user_message("next"))
    assert said(context) == ["ask", "1", f"<system>{INTERRUPTED}</system>", "next"]
    again = await reopened(context_file)
    assert again.history == context.history
    assert again.repairs == ()


async def test_results_may_also_be_appended_one_by_one_in_any_order(context_file):
    context = Context(context_file)
    await context.append_message(asks("", "a", "b"))
    await context.append_message(gives("b", "2"))
    await context.append_message(gives("a", "1"))
    assert said(context) == ["", "1", "2"]
    assert (await reopened(context_file)).history == context.history


@pytest.mark.parametrize(
    "messages",
    [
        [gives("x", "?")],
        [asks("", "a"), gives("b", "?")],
        [asks("", "a"), gives("a", "1"), gives("a", "again")],
        [asks("", "a"), user_message("hi"), gives("a", "late")],
    ],
)
async def test_a_result_that_answers_nothing_is_refused(context_file, messages):
    context = Context(context_file)
    await context.append_message(user_message("hi"))
    with pytest.raises(ValueError, match="no call awaits"):
        await context.append_message(messages)
    assert said(context) == ["hi"]
    assert said(await reopened(context_file)) == ["hi"]


@pytest.mark.parametrize("messages", [[user_message("hi")], [says("a"), says("b")]])
async def test_a_step_has_one_message_of_the_model(context_file, messages):
    with pytest.raises(ValueError, match="step"):
        await Context(context_file).append_step(messages, token_count=None)


async def test_tool_results_count_as_not_weighed_yet(context_file):
    context = Context(context_file)
    await context.append_step([asks("", "a"), gives("a", "x" * 4000)], token_count=500)
    assert context.token_count == 500
    assert context.token_count_with_pending == 1500
    again = await reopened(context_file)
    assert again.token_count_with_pending == 1500
    await again.update_token_count(1400)
    assert again.token_count_with_pending == 1400
    assert (await again.checkpoint(False)).tokens == 1400


async def test_a_new_system_prompt_takes_the_old_ones_place_without_a_branch(context_file):
    context = Context(context_file)
    await context.set_system_prompt("Monday")
    await a_turn(context, "one", "1")
    again = await reopened(context_file)
    assert again.system_prompt == "Monday"
    await again.set_system_prompt("a much longer Tuesday")
    await a_turn(again, "two", "2")
    first, *others = (json.loads(line) for line in context_file.read_bytes().splitlines())
    assert first == {"role": "_system_prompt", "content": "a much longer Tuesday"}
    assert "_system_prompt" not in {record["role"] for record in others}
    assert await again.branches() == ()
    await again.revert_to(2)
    assert said(await reopened(context_file)) == ["one", "1"]


async def test_the_same_system_prompt_changes_nothing(context_file):
    context = Context(context_file)
    await context.set_system_prompt("Monday")
    await a_turn(context, "one", "1")
    before = context_file.stat().st_ino
    again = await reopened(context_file)
    await again.set_system_prompt("Monday")
    await a_turn(again, "two", "2")
    assert context_file.stat().st_ino == before


async def test_a_branch_that_is_switched_to_runs_with_the_prompt_of_today(context_file):
    context = Context(context_file)
    await context.set_system_prompt("Monday")
    await a_turn(context, "one", "1")
    await context.set_system_prompt("Tuesday")
    await context.revert_to(1)
    assert context.system_prompt == "Tuesday"
    await context.restore_from_rotation(1)
    assert context.system_prompt == "Tuesday"
    again = await reopened(context_file)
    assert again.system_prompt == "Tuesday"
    assert said(again) == ["one", "1"]


@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EIO, errno.EROFS])
async def test_what_the_disk_refuses_is_not_in_memory_and_works_when_it_takes_writes_again(
    context_file, error
):
    disk = FailingDisk(error=error)
    context = Context(context_file, disk=disk)
    await a_turn(context, "one", "1")
    await context.note_pending(asks("", "a"))
    before = (said(context), list(context.checkpoints), context.token_count, context.n_checkpoints)
    disk.refused = {"write"}
    for refused in (
        lambda: context.append_message(user_message("lost?")),
        lambda: context.append_step([asks("", "a"), gives("a", "1")], token_count=9),
        lambda: context.note_pending(gives("a", "1")),
        lambda: context.checkpoint(True),
        lambda: context.revert_to(0),
        lambda: context.clear(),
        lambda: context.replace([says("summary")]),
        lambda: context.update_token_count(9),
    ):
        with pytest.raises(JournalWriteError):
            await refused()
        assert (
            said(context),
            list(context.checkpoints),
            context.token_count,
            context.n_checkpoints,
        ) == before
    disk.refused = set()
    await context.append_step([asks("", "a"), gives("a", "1")], token_count=9)
    await context.checkpoint(False)
    again = await reopened(context_file)
    assert again.history == context.history
    assert again.checkpoints == context.checkpoints
    assert [branch.number for branch in await again.branches()] == []


class SlowDisk(WatchedDisk):
    """Waits in its first write until it is let go on. The wait is in a thread; the test's loop runs."""

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.get_running_loop()
        self.reached = asyncio.Event()
        self.go_on = asyncio.Event()

    def write(self, file, data):
        self.loop.call_soon_threadsafe(self.reached.set)
        asyncio.run_coroutine_threadsafe(self.go_on.wait(), self.loop).result(timeout=PATIENCE_S)
        return super().write(file, data)


async def test_a_cancelled_append_is_carried_out_on_disk_and_in_memory_before_the_cancellation(context_file):
    disk = SlowDisk()
    context = Context(context_file, disk=disk)
    appending = asyncio.ensure_future(context.append_message(user_message("hi")))
    await disk.reached.wait()
    appending.cancel()
    await asyncio.sleep(0)
    appending.cancel()
    await asyncio.sleep(0)
    assert not appending.done()
    disk.go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await appending
    assert said(context) == ["hi"]
    assert said(await reopened(context_file)) == ["hi"]


async def test_a_refusal_during_a_cancellation_is_told_with_it(context_file):
    context = Context(context_file, disk=FailingDisk("write"))
    appending = asyncio.ensure_future(context.append_message(user_message("hi")))
    await asyncio.sleep(0)
    appending.cancel()
    with pytest.raises(asyncio.CancelledError) as raised:
        await appending
    assert isinstance(raised.value.__cause__, JournalWriteError)


async def test_things_said_at_once_are_written_one_after_another(context_file):
    context = Context(context_file)
    await asyncio.gather(*(context.append_message(user_message(str(number))) for number in range(20)))
    await context.close()
    assert said(context) == [str(number) for number in range(20)]
    assert said(await reopened(context_file)) == said(context)


async def test_text_that_can_not_be_written_is_the_same_in_memory_and_on_disk(context_file):
    context = Context(context_file)
    await context.note_pending(asks("odd \udcff", "a"))
    await context.append_step(
        [asks("odd \udcff", "a"), Message("tool", (TextPart("\udcff"),), None, "a")], token_count=1
    )
    await context.set_system_prompt("\udcff")
    await context.checkpoint(False, label="\udcff")
    assert said(context) == ["odd \ufffd", "\ufffd"]
    again = await reopened(context_file)
    assert again.history == context.history
    assert again.checkpoints == context.checkpoints
    assert_sendable(again.history)
