"""Restoring conversations that are truncated, damaged, unfinished or written by another program."""

import errno
import json

import pytest

from kimi_tui.base.errors import SessionError
from kimi_tui.base.json_codec import to_json
from kimi_tui.base.message import user_message
from kimi_tui.history.context import Context
from kimi_tui.history.message_history import INTERRUPTED
from kimi_tui.history.record_codec import encode
from kimi_tui.history.records import Checkpoint, PendingRecord, RevertRecord, UsageRecord
from tests.history.file_systems import FailingFileSystem
from tests.history.messages import (
    assert_sendable,
    assistant_calls,
    assistant_message,
    history_texts,
    reopen,
    tool_result,
)

INTERRUPTION = f"<system>{INTERRUPTED}</system>"


def write_lines(context_file, *lines):
    """Write the file from lines, given as records or bytes."""
    context_file.parent.mkdir(exist_ok=True)
    context_file.write_bytes(b"".join(line if isinstance(line, bytes) else encode(line) for line in lines))


def finding_kinds(context):
    return [(repair.kind, repair.line) for repair in context.repairs]


async def test_a_missing_or_empty_file_restores_nothing(context_file):
    assert await Context(context_file).restore() is False
    write_lines(context_file)
    context = Context(context_file)
    assert await context.restore() is False
    await context.append_message(user_message("hi"))
    assert history_texts(await reopen(context_file)) == ["hi"]


async def test_a_truncated_line_is_moved_away_and_reported_once(context_file):
    torn = b'{"role":"user","content":"cut o'
    write_lines(context_file, user_message("one"), torn)
    context = await reopen(context_file)
    assert history_texts(context) == ["one"]
    assert finding_kinds(context) == [("torn_line", 2)]
    assert "context.jsonl.damaged" in context.repairs[0].description
    assert (context_file.parent / "context.jsonl.damaged").read_bytes() == torn + b"\n"
    await context.append_message(user_message("two"))
    again = await reopen(context_file)
    assert history_texts(again) == ["one", "two"]
    assert again.repairs == ()
    assert torn not in context_file.read_bytes()


async def test_a_complete_last_line_without_a_newline_is_kept(context_file):
    write_lines(context_file, user_message("one"), encode(user_message("two")).rstrip())
    context = await reopen(context_file)
    await context.append_message(user_message("three"))
    assert history_texts(await reopen(context_file)) == ["one", "two", "three"]


@pytest.mark.parametrize(
    "torn", [b"\0" * 4096, b'{"role":"_pending","message":{"role":"assist', b"7", b"\xff"]
)
async def test_garbage_at_the_end_does_not_affect_earlier_messages(context_file, torn):
    write_lines(context_file, user_message("one"), torn)
    context = await reopen(context_file)
    await context.append_message(user_message("two"))
    assert history_texts(await reopen(context_file)) == ["one", "two"]
    assert finding_kinds(context) == [("torn_line", 2)]


async def test_only_the_damaged_line_is_skipped_and_reported_once(context_file):
    damaged = b'{"role":"user","cont\0\0\0\0\n'
    write_lines(
        context_file, user_message("one"), damaged, b"\n", user_message("three"), b'{"role":"oracle"}\n'
    )
    context = await reopen(context_file)
    assert history_texts(context) == ["one", "three"]
    assert finding_kinds(context) == [("damaged_line", 2), ("unknown_role", 5)]
    assert "Line 2" in context.repairs[0].description
    assert damaged in context_file.read_bytes()
    assert (await reopen(context_file)).repairs == ()


async def test_damaged_and_unknown_lines_survive_a_revert(context_file):
    strange = b'{"role":"_note","of":"another version"}\n'
    extra = b'{"role":"user","content":"hi","name":"me"}\n'
    write_lines(
        context_file, strange, b"damaged\n", extra, Checkpoint(id=0, uid="u0"), assistant_message("gone")
    )
    context = await reopen(context_file)
    await context.revert_to(0)
    assert context_file.read_bytes().startswith(strange + b"damaged\n" + extra)


async def test_a_call_whose_result_is_lost_counts_as_interrupted(context_file):
    write_lines(
        context_file,
        assistant_calls("in the middle", "a", "b"),
        tool_result("b", "2"),
        user_message("on"),
        assistant_calls("at the end", "c"),
    )
    context = await reopen(context_file)
    assert history_texts(context) == ["in the middle", INTERRUPTION, "2", "on", "at the end", INTERRUPTION]
    assert_sendable(context.history)
    assert finding_kinds(context) == [("unanswered_call", 1), ("unanswered_call", 4)]
    assert "Bash" in context.repairs[0].description
    again = await reopen(context_file)
    assert again.history == context.history
    assert again.repairs == ()


async def test_results_without_a_call_are_skipped(context_file):
    write_lines(
        context_file,
        tool_result("x", "?"),
        assistant_calls("", "a"),
        tool_result("a", "1"),
        tool_result("a", "again"),
        user_message("on"),
    )
    context = await reopen(context_file)
    assert history_texts(context) == ["", "1", "on"]
    assert finding_kinds(context) == [("stray_result", 1), ("stray_result", 4)]
    assert (await reopen(context_file)).repairs == ()


async def test_a_step_that_was_killed_while_its_tools_ran_is_kept(context_file):
    context = Context(context_file)
    await context.append_message(user_message("go"))
    await context.record_pending(assistant_calls("ask", "a", "b"))
    await context.record_pending(tool_result("b", "2"))
    again = await reopen(context_file)
    assert history_texts(again) == ["go", "ask", INTERRUPTION, "2"]
    assert finding_kinds(again) == [("interrupted_step", 2)]
    third = await reopen(context_file)
    assert third.history == again.history
    assert third.repairs == ()


async def test_results_missing_from_a_truncated_step_come_from_pending_records(context_file):
    step, first, second = assistant_calls("ask", "a", "b"), tool_result("a", "1"), tool_result("b", "2")
    pending = [PendingRecord(to_json(message)) for message in (step, first, second)]
    write_lines(context_file, *pending, step, UsageRecord(9), first, encode(second)[:20])
    context = await reopen(context_file)
    assert history_texts(context) == ["ask", "1", "2"]
    assert finding_kinds(context) == [("torn_line", 7), ("interrupted_step", 4)]
    assert history_texts(await reopen(context_file)) == ["ask", "1", "2"]


async def test_only_the_damaged_pending_record_is_skipped(context_file):
    write_lines(
        context_file,
        user_message("go"),
        PendingRecord(to_json(assistant_calls("ask", "a"))),
        b'{"role":"_pending","message":{7}}\n',
    )
    assert history_texts(await reopen(context_file)) == ["go", "ask", INTERRUPTION]
    write_lines(context_file, user_message("go"), b'{"role":"_pending","message":{"role":"assistant",7}}\n')
    assert history_texts(await reopen(context_file)) == ["go"]


async def test_a_damaged_checkpoint_cannot_be_reverted_to_and_its_id_is_not_reused(
    context_file,
):
    write_lines(
        context_file,
        Checkpoint(id=0, uid="u0"),
        encode(Checkpoint(id=1, uid="u1"))[:-10] + b"\n",
        assistant_message("hi"),
    )
    context = await reopen(context_file)
    with pytest.raises(ValueError, match="1"):
        await context.revert_to(1)
    assert (await context.checkpoint(False)).id == 2
    write_lines(context_file, Checkpoint(id=0, uid="u0"), encode(Checkpoint(id=1, uid="u1"))[:-10])
    assert (await (await reopen(context_file)).checkpoint(False)).id == 2
    assert (await (await reopen(context_file)).checkpoint(False)).id == 3


async def test_ids_of_branches_are_not_reused_if_the_record_with_them_is_damaged(context_file):
    context = Context(context_file)
    for _ in range(5):
        await context.checkpoint(False)
    await context.revert_to(1)
    lines = context_file.read_bytes().splitlines(keepends=True)
    write_lines(context_file, *lines[:1], b"\0" * len(lines[1]) + b"\n", assistant_message("hi"))
    assert (await (await reopen(context_file)).checkpoint(False)).id == 5


async def test_the_first_of_two_checkpoints_with_the_same_id_is_used(context_file):
    write_lines(
        context_file,
        Checkpoint(id=0, uid="a"),
        assistant_message("1"),
        Checkpoint(id=0, uid="b"),
        assistant_message("2"),
    )
    context = await reopen(context_file)
    assert [checkpoint.uid for checkpoint in context.checkpoints] == ["a"]
    assert finding_kinds(context) == [("repeated_checkpoint", 3)]
    await context.revert_to(0)
    assert history_texts(context) == []


async def test_a_kimi_cli_file_is_read_without_changes(context_file):
    write_lines(
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
    (context_file.parent / "context_1.jsonl").write_bytes(encode(assistant_message("before")))
    context = await reopen(context_file)
    assert history_texts(context) == ["Hello", "", "ok"]
    assert (context.system_prompt, context.token_count, context.n_checkpoints) == ("You are Kimi", 150, 3)
    assert context.checkpoints[2].parent == context.checkpoints[1].uid
    assert context.repairs == ()
    assert [branch.number for branch in await context.branches()] == [1]
    await context.revert_to(1)
    assert history_texts(context) == ["Hello"]
    await context.restore_from_rotation(1)
    assert history_texts(await reopen(context_file)) == ["before"]


async def test_a_very_long_line_is_read(context_file):
    write_lines(context_file, user_message("x" * 5_000_000), assistant_message("ok"))
    assert [len(text) for text in history_texts(await reopen(context_file))] == [5_000_000, 2]


async def test_a_read_only_disk_can_be_restored_from_and_is_repaired_later(context_file):
    torn = b'{"role":"user","content":"cut o'
    write_lines(context_file, user_message("go"), PendingRecord(to_json(assistant_calls("ask", "a"))), torn)
    before = context_file.read_bytes()
    fs = FailingFileSystem("open", error=errno.EROFS)
    context = Context(context_file, fs=fs)
    assert await context.restore() is True
    assert history_texts(context) == ["go", "ask", INTERRUPTION]
    assert context_file.read_bytes() == before
    fs.failing_calls = set()
    await context.append_step([assistant_message("on")], token_count=None)
    again = await reopen(context_file)
    assert history_texts(again) == history_texts(context) == ["go", "ask", INTERRUPTION, "on"]
    assert torn in context_file.read_bytes()


async def test_a_branch_is_repaired_as_in_memory_if_the_repair_was_not_written(context_file):
    write_lines(context_file, Checkpoint(id=0, uid="u0"), PendingRecord(to_json(assistant_calls("ask", "a"))))
    fs = FailingFileSystem("open", error=errno.EROFS)
    context = Context(context_file, fs=fs)
    await context.restore()
    repaired = history_texts(context)
    fs.failing_calls = set()
    result = await context.revert_to(0)
    branch = await context.read_branch(result.branch)
    assert [message.text for message in branch.history] == repaired
    await context.append_message(user_message("on"))
    assert history_texts(await reopen(context_file)) == ["on"]


async def test_switching_to_a_damaged_branch_keeps_readable_lines_and_reports_the_damage(context_file):
    write_lines(context_file, assistant_message("live"))
    (context_file.parent / "context.jsonl.3").write_bytes(
        encode(assistant_calls("ask", "a")) + b"damaged\n" + encode(tool_result("a", "1"))[:-9]
    )
    context = await reopen(context_file)
    await context.restore_from_rotation(3)
    assert history_texts(context) == ["ask", INTERRUPTION]
    assert ("damaged_line", 2) in finding_kinds(context)
    again = await reopen(context_file)
    assert again.history == context.history
    assert again.repairs == ()


async def test_an_unreadable_file_is_a_session_error(context_file):
    context_file.mkdir(parents=True)
    with pytest.raises(SessionError, match="Can't read"):
        await Context(context_file).restore()


async def test_unknown_fields_of_a_revert_record_are_ignored(context_file):
    later = json.loads(encode(RevertRecord(to=3, next_id=9, branch=1, reason="undo", parent="u3"))) | {
        "new": 1
    }
    write_lines(context_file, json.dumps(later).encode() + b"\n")
    checkpoint = await (await reopen(context_file)).checkpoint(False)
    assert (checkpoint.id, checkpoint.parent) == (9, "u3")


@pytest.mark.parametrize(
    "order", ["c a b", "c b a", "c a a b b", "c c a b", "a b c", "b c a", "a c c b b"], ids=str
)
async def test_duplicated_or_reversed_lines_give_each_call_its_one_result(context_file, order):
    known = {"c": assistant_calls("ask", "a", "b"), "a": tool_result("a", "1"), "b": tool_result("b", "2")}
    lines = [known[name] for name in order.split()]
    write_lines(context_file, user_message("go"), *lines, assistant_message("end"))
    context = await reopen(context_file)
    assert_sendable(context.history)
    assert history_texts(context) == ["go", "ask", "1", "2", "end"]
