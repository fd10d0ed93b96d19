"""Restoring what is torn, damaged, unfinished or written by somebody else."""

import errno
import json

import pytest

from kimi_tui.base.encoding import to_json
from kimi_tui.base.errors import SessionError
from kimi_tui.base.message import user_message
from kimi_tui.history.context import Context
from kimi_tui.history.conversation import INTERRUPTED
from kimi_tui.history.notation import encode
from kimi_tui.history.records import Checkpoint, Pending, Revert, Usage
from tests.history.disks import FailingDisk
from tests.history.words import asks, assert_sendable, gives, reopened, said, says

INTERRUPTION = f"<system>{INTERRUPTED}</system>"


def hold(context_file, *lines):
    """Write lines, given as records or bytes, as the file."""
    context_file.parent.mkdir(exist_ok=True)
    context_file.write_bytes(b"".join(line if isinstance(line, bytes) else encode(line) for line in lines))


def kinds(context):
    return [(repair.kind, repair.line) for repair in context.repairs]


async def test_nothing_or_an_empty_file_is_nothing_to_restore(context_file):
    assert await Context(context_file).restore() is False
    hold(context_file)
    context = Context(context_file)
    assert await context.restore() is False
    await context.append_message(user_message("hi"))
    assert said(await reopened(context_file)) == ["hi"]


async def test_a_line_that_was_cut_off_is_moved_away_and_told_once(context_file):
    torn = b'{"role":"user","content":"cut o'
    hold(context_file, user_message("one"), torn)
    context = await reopened(context_file)
    assert said(context) == ["one"]
    assert kinds(context) == [("torn_line", 2)]
    assert "context.jsonl.damaged" in context.repairs[0].description
    assert (context_file.parent / "context.jsonl.damaged").read_bytes() == torn + b"\n"
    await context.append_message(user_message("two"))
    again = await reopened(context_file)
    assert said(again) == ["one", "two"]
    assert again.repairs == ()
    assert torn not in context_file.read_bytes()


async def test_a_whole_last_line_without_a_line_end_is_kept(context_file):
    hold(context_file, user_message("one"), encode(user_message("two")).rstrip())
    context = await reopened(context_file)
    await context.append_message(user_message("three"))
    assert said(await reopened(context_file)) == ["one", "two", "three"]


@pytest.mark.parametrize(
    "torn", [b"\0" * 4096, b'{"role":"_pending","message":{"role":"assist', b"7", b"\xff"]
)
async def test_whatever_is_at_the_end_what_was_said_before_stays(context_file, torn):
    hold(context_file, user_message("one"), torn)
    context = await reopened(context_file)
    await context.append_message(user_message("two"))
    assert said(await reopened(context_file)) == ["one", "two"]
    assert kinds(context) == [("torn_line", 2)]


async def test_a_damaged_line_in_the_middle_costs_itself_and_is_named_once(context_file):
    damaged = b'{"role":"user","cont\0\0\0\0\n'
    hold(context_file, user_message("one"), damaged, b"\n", user_message("three"), b'{"role":"oracle"}\n')
    context = await reopened(context_file)
    assert said(context) == ["one", "three"]
    assert kinds(context) == [("damaged_line", 2), ("unknown_role", 5)]
    assert "Line 2" in context.repairs[0].description
    assert damaged in context_file.read_bytes()
    assert (await reopened(context_file)).repairs == ()


async def test_damaged_and_unknown_lines_survive_a_revert(context_file):
    strange = b'{"role":"_note","of":"another version"}\n'
    extra = b'{"role":"user","content":"hi","name":"me"}\n'
    hold(context_file, strange, b"damaged\n", extra, Checkpoint(id=0, uid="u0"), says("gone"))
    context = await reopened(context_file)
    await context.revert_to(0)
    assert context_file.read_bytes().startswith(strange + b"damaged\n" + extra)


async def test_a_call_whose_result_is_lost_counts_as_interrupted(context_file):
    hold(
        context_file,
        asks("in the middle", "a", "b"),
        gives("b", "2"),
        user_message("on"),
        asks("at the end", "c"),
    )
    context = await reopened(context_file)
    assert said(context) == ["in the middle", INTERRUPTION, "2", "on", "at the end", INTERRUPTION]
    assert_sendable(context.history)
    assert kinds(context) == [("unanswered_call", 1), ("unanswered_call", 4)]
    assert "Bash" in context.repairs[0].description
    again = await reopened(context_file)
    assert again.history == context.history
    assert again.repairs == ()


async def test_results_that_answer_nothing_are_left_out(context_file):
    hold(
        context_file, gives("x", "?"), asks("", "a"), gives("a", "1"), gives("a", "again"), user_message("on")
    )
    context = await reopened(context_file)
    assert said(context) == ["", "1", "on"]
    assert kinds(context) == [("stray_result", 1), ("stray_result", 4)]
    assert (await reopened(context_file)).repairs == ()


async def test_a_step_that_was_killed_while_its_tools_ran_is_kept(context_file):
    context = Context(context_file)
    await context.append_message(user_message("go"))
    await context.note_pending(asks("ask", "a", "b"))
    await context.note_pending(gives("b", "2"))
    again = await reopened(context_file)
    assert said(again) == ["go", "ask", INTERRUPTION, "2"]
    assert kinds(again) == [("interrupted_step", 2)]
    third = await reopened(context_file)
    assert third.history == again.history
    assert third.repairs == ()


async def test_results_that_the_steps_own_write_lost_come_from_its_notes(context_file):
    step, first, second = asks("ask", "a", "b"), gives("a", "1"), gives("b", "2")
    notes = [Pending(to_json(message)) for message in (step, first, second)]
    hold(context_file, *notes, step, Usage(9), first, encode(second)[:20])
    context = await reopened(context_file)
    assert said(context) == ["ask", "1", "2"]
    assert kinds(context) == [("torn_line", 7), ("interrupted_step", 4)]
    assert said(await reopened(context_file)) == ["ask", "1", "2"]


async def test_a_damaged_note_costs_itself_only(context_file):
    hold(
        context_file,
        user_message("go"),
        Pending(to_json(asks("ask", "a"))),
        b'{"role":"_pending","message":{7}}\n',
    )
    assert said(await reopened(context_file)) == ["go", "ask", INTERRUPTION]
    hold(context_file, user_message("go"), b'{"role":"_pending","message":{"role":"assistant",7}}\n')
    assert said(await reopened(context_file)) == ["go"]


async def test_a_checkpoint_that_was_damaged_can_not_be_reverted_to_and_its_id_is_not_used_again(
    context_file,
):
    hold(
        context_file,
        Checkpoint(id=0, uid="u0"),
        encode(Checkpoint(id=1, uid="u1"))[:-10] + b"\n",
        says("hi"),
    )
    context = await reopened(context_file)
    with pytest.raises(ValueError, match="1"):
        await context.revert_to(1)
    assert (await context.checkpoint(False)).id == 2
    hold(context_file, Checkpoint(id=0, uid="u0"), encode(Checkpoint(id=1, uid="u1"))[:-10])
    assert (await (await reopened(context_file)).checkpoint(False)).id == 2
    assert (await (await reopened(context_file)).checkpoint(False)).id == 3


async def test_ids_of_branches_are_not_used_again_when_the_record_that_knew_them_is_damaged(context_file):
    context = Context(context_file)
    for _ in range(5):
        await context.checkpoint(False)
    await context.revert_to(1)
    lines = context_file.read_bytes().splitlines(keepends=True)
    hold(context_file, *lines[:1], b"\0" * len(lines[1]) + b"\n", says("hi"))
    assert (await (await reopened(context_file)).checkpoint(False)).id == 5


async def test_of_two_checkpoints_with_one_id_the_first_counts(context_file):
    hold(context_file, Checkpoint(id=0, uid="a"), says("1"), Checkpoint(id=0, uid="b"), says("2"))
    context = await reopened(context_file)
    assert [checkpoint.uid for checkpoint in context.checkpoints] == ["a"]
    assert kinds(context) == [("repeated_checkpoint", 3)]
    await context.revert_to(0)
    assert said(context) == []


async def test_a_file_of_kimi_cli_loads_as_it_is(context_file):
    hold(
        context_file,
        b'{"role": "_system_prompt", "content": "You are Kimi"}\r\n',
        b'{"role": "_checkpoint", "id": 0}\r\n',
        b'{"role": "user", "content": "Hello"}\r\n',
        b'{"role": "_checkpoint", "id": 1}\r\n',
        b'{"role": "assistant", "content": [{"type": "think", "think": "hm", "encrypted": null}], '
        b'"tool_calls": [{"type": "function", "id": "Shell:0", '
        b'"function": {"name": "Shell", "arguments": "{}"}}]}\r\n',
        b'{"role": "_usage", "token_count": 150}\r\n',
        b'{"role": "tool", "content": [{"type": "text", "text": "ok"}], "tool_call_id": "Shell:0"}\r\n',
        b'{"role": "_checkpoint", "id": 2}',
    )
    (context_file.parent / "context_1.jsonl").write_bytes(encode(says("before")))
    context = await reopened(context_file)
    assert said(context) == ["Hello", "", "ok"]
    assert (context.system_prompt, context.token_count, context.n_checkpoints) == ("You are Kimi", 150, 3)
    assert context.checkpoints[2].parent == context.checkpoints[1].uid
    assert context.repairs == ()
    assert [branch.number for branch in await context.branches()] == [1]
    await context.revert_to(1)
    assert said(context) == ["Hello"]
    await context.restore_from_rotation(1)
    assert said(await reopened(context_file)) == ["before"]


async def test_a_very_long_line_is_a_line(context_file):
    hold(context_file, user_message("x" * 5_000_000), says("ok"))
    assert [len(text) for text in said(await reopened(context_file))] == [5_000_000, 2]


async def test_a_disk_that_takes_no_writes_can_still_be_restored_from_and_is_mended_later(context_file):
    torn = b'{"role":"user","content":"cut o'
    hold(context_file, user_message("go"), Pending(to_json(asks("ask", "a"))), torn)
    before = context_file.read_bytes()
    disk = FailingDisk("open", error=errno.EROFS)
    context = Context(context_file, disk=disk)
    assert await context.restore() is True
    assert said(context) == ["go", "ask", INTERRUPTION]
    assert context_file.read_bytes() == before
    disk.refused = set()
    await context.append_step([says("on")], token_count=None)
    again = await reopened(context_file)
    assert said(again) == said(context) == ["go", "ask", INTERRUPTION, "on"]
    assert torn in context_file.read_bytes()


async def test_a_branch_is_mended_as_it_was_in_memory_though_the_disk_did_not_take_the_repair(context_file):
    hold(context_file, Checkpoint(id=0, uid="u0"), Pending(to_json(asks("ask", "a"))))
    disk = FailingDisk("open", error=errno.EROFS)
    context = Context(context_file, disk=disk)
    await context.restore()
    mended = said(context)
    disk.refused = set()
    reversion = await context.revert_to(0)
    branch = await context.read_branch(reversion.branch)
    assert [message.text for message in branch.history] == mended
    await context.append_message(user_message("on"))
    assert said(await reopened(context_file)) == ["on"]


async def test_switching_to_a_damaged_branch_gives_what_can_be_read_and_says_so(context_file):
    hold(context_file, says("live"))
    (context_file.parent / "context.jsonl.3").write_bytes(
        encode(asks("ask", "a")) + b"damaged\n" + encode(gives("a", "1"))[:-9]
    )
    context = await reopened(context_file)
    await context.restore_from_rotation(3)
    assert said(context) == ["ask", INTERRUPTION]
    assert ("damaged_line", 2) in kinds(context)
    again = await reopened(context_file)
    assert again.history == context.history
    assert again.repairs == ()


async def test_an_unreadable_file_is_a_session_error(context_file):
    context_file.mkdir(parents=True)
    with pytest.raises(SessionError, match="can't be read"):
        await Context(context_file).restore()


async def test_a_revert_record_with_what_a_later_version_may_add_is_followed(context_file):
    later = json.loads(encode(Revert(to=3, next_id=9, branch=1, reason="undo", parent="u3"))) | {"new": 1}
    hold(context_file, json.dumps(later).encode() + b"\n")
    checkpoint = await (await reopened(context_file)).checkpoint(False)
    assert (checkpoint.id, checkpoint.parent) == (9, "u3")
