"""Records of the journal, as written by kimi-tui and by other programs."""

import json

import pytest

from kimi_tui.base.content_parts import ImageURLPart, MediaURL, TextPart, ThinkPart
from kimi_tui.base.json_codec import to_json
from kimi_tui.base.message import FunctionCall, Message, ToolCall, user_message
from kimi_tui.base.message_text import MessageText, msg
from kimi_tui.history.record_codec import (
    DamagedLine,
    UnknownRole,
    encode,
    encode_sanitized,
    parse,
    pending_message,
)
from kimi_tui.history.records import (
    Checkpoint,
    IgnoredRecord,
    PendingRecord,
    RepairRecord,
    RevertRecord,
    SystemPrompt,
    UsageRecord,
)
from kimi_tui.history.repair_report import RepairFinding

MESSAGE = Message(
    "assistant",
    (
        ThinkPart("hm", "signature"),
        TextPart("“Ja” 是\n"),
        ImageURLPart(MediaURL("data:image/png;base64,AA", "1")),
    ),
    (ToolCall("a", FunctionCall("Bash", '{"command": "ls"}'), extras={"thought": None, "deep": {"x": [1]}}),),
)


@pytest.mark.parametrize(
    "record",
    [
        MESSAGE,
        Message("tool", (TextPart("ok"),), tool_call_id="a"),
        SystemPrompt("be good"),
        Checkpoint(
            id=3, uid="u3", parent="u2", time=1.5, kind="dmail", label="an “x”", files="m1", tokens=70_000
        ),
        Checkpoint(id=0, uid="u0"),
        UsageRecord(12),
        RevertRecord(to=3, next_id=9, branch=2, reason="dmail", parent="u3"),
        RevertRecord(to=0, next_id=0, reason="clear"),
        RepairRecord(found=(RepairFinding("damaged_line", 7, "why"),), next_id=4, time=2.0),
        PendingRecord(to_json(MESSAGE)),
    ],
    ids=lambda record: type(record).__name__,
)
def test_a_record_is_read_back_as_it_was_written(record):
    line = encode(record)
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert parse(line) == (record, "")


def test_a_generated_label_keeps_its_id():
    label = msg("before {revert}", revert=msg("revert to {checkpoint}", checkpoint=3))
    line = encode(Checkpoint(id=4, uid="u4", kind="revert", label=label))

    assert json.loads(line)["label"] == "before revert to 3"
    record, _ = parse(line)
    assert isinstance(record, Checkpoint)
    assert isinstance(record.label, MessageText)
    assert (record.label.id, record.label.params) == (label.id, label.params)


def test_a_pending_message_is_read_back_whole():
    assert pending_message(parse(encode(PendingRecord(to_json(MESSAGE))))[0]) == MESSAGE


@pytest.mark.parametrize(
    ("line", "record"),
    [
        ('{"role": "_checkpoint", "id": 3}', Checkpoint(id=3, uid="checkpoint-3")),
        (
            '{"role": "_checkpoint", "id": 3, "kind": "future", "uid": 5}',
            Checkpoint(id=3, uid="checkpoint-3"),
        ),
        ('{"role": "_usage", "token_count": 150}', UsageRecord(150)),
        ('{"token_count": 150, "role": "_usage"}', UsageRecord(150)),
        ('{"role": "user", "content": "Hello"}', user_message("Hello")),
        ('{"role":"assistant","content":null,"tool_calls":null}', Message("assistant")),
        ('{"role":"user","content":"Hello","name":"me","partial":true}', user_message("Hello")),
        ('{"content":"Hello","role":"user"}\r\n', user_message("Hello")),
        ('\ufeff{"role":"user","content":"Hello"}', user_message("Hello")),
        ('\0\0\0{"role":"user","content":"Hello"}', user_message("Hello")),
        ('{"role":"user","content":"a\0b\tc"}', user_message("a\0b\tc")),
        ('{"role": "_pending", "message": {"role": "user"}}', PendingRecord(b'{"role": "user"}')),
        ('{"role":"_something","new":[1]}', IgnoredRecord()),
    ],
)
def test_records_of_other_programs_are_understood(line, record):
    assert parse(line.encode()) == (record, "")


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"{",
        b'{"role":"user","content":"cut o',
        b"\0\0\0\0",
        b"7",
        b"[]",
        b"{}",
        b'{"role":7}',
        b'{"role":"user","content":7}',
        b'{"role":"assistant","tool_calls":[{"id":1}]}',
        b'{"role":"_checkpoint"}',
        b'{"role":"_checkpoint","id":-1}',
        b'{"role":"_checkpoint","id":1e400}',
        b'{"role":"_checkpoint","id":123456789012345678901234567890}',
        b'{"role":"_usage","token_count":"many"}',
        b'{"role":"_revert"}',
        b"[" * 100_000,
    ],
    ids=lambda line: line[:40].decode(),
)
def test_invalid_lines_are_damaged(line):
    with pytest.raises(DamagedLine):
        parse(line)


def test_an_unknown_role_is_not_reported_as_damage():
    with pytest.raises(UnknownRole, match="oracle"):
        parse(b'{"role":"oracle","content":"hm"}')


def test_only_invalid_bytes_are_replaced():
    record, loss = parse(b'{"role":"user","content":"caf\xe9 au lait"}')
    assert record == user_message("caf\ufffd au lait")
    assert "UTF-8" in loss


def test_only_content_parts_of_unknown_types_are_skipped():
    parts = [{"type": "text", "text": "look"}, {"type": "smell", "smell": "roses"}]
    record, loss = parse(json.dumps({"role": "user", "content": parts}).encode())
    assert record == user_message("look")
    assert "1 content part" in loss


def test_lone_surrogates_are_replaced_when_read():
    record, _ = parse(rb'{"role":"user","content":"odd \udc80 name, fine \ud83d\ude00"}')
    assert record == user_message("odd \ufffd name, fine 😀")


@pytest.mark.parametrize(
    "record",
    [
        Message("tool", (TextPart("odd \udc80 name"),), tool_call_id="a"),
        Checkpoint(id=0, uid="u", label="odd \udc80 name"),
        SystemPrompt("odd \udc80 name"),
    ],
)
def test_text_that_cannot_be_encoded_is_replaced_before_it_is_written(record):
    clean, line = encode_sanitized(record)
    assert parse(line) == (clean, "")
    assert "odd \ufffd name" in line.decode()
