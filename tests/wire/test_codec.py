"""JSON of messages, in the format of Wire 1.10."""

import json
from typing import get_args

import pytest

from kimi_tui.base.content_parts import ImageURLPart, MediaURL, TextPart, ThinkPart
from kimi_tui.base.message import FunctionCall, ToolCall
from kimi_tui.wire.codec import (
    UnknownWireMessage,
    decode,
    decode_command,
    encode,
    encode_command,
    envelope,
)
from kimi_tui.wire.commands import Command, Prompt, Revert, ShowTimeline
from kimi_tui.wire.display_blocks import BriefBlock, DiffBlock, ShellBlock, TodoBlock, TodoItem, UnknownBlock
from kimi_tui.wire.events import (
    Event,
    PlannedFile,
    Reverted,
    RevertPlan,
    StatusUpdate,
    StepRetry,
    SubagentEvent,
    ToolResult,
    ToolReturn,
    TurnBegin,
    TurnEnd,
)
from kimi_tui.wire.requests import Answer, ApprovalRequest, Question, QuestionOption, QuestionRequest, Request
from kimi_tui.wire.timeline import (
    BranchContent,
    ComparedFile,
    Comparison,
    FileChanges,
    PatchWritten,
    SessionForked,
    Timeline,
    TimelineBranch,
    TimelineNode,
    TimelineUpdate,
)

SAMPLES = [
    TurnBegin("hi"),
    TurnBegin((TextPart("look"), ImageURLPart(MediaURL("data:image/png;base64,AA==", "1")))),
    TextPart("é 中文 \u2028"),
    ThinkPart("hm", "signature"),
    ToolCall("c1", FunctionCall("Bash", '{"command": "ls"}')),
    ToolResult(
        "c1",
        ToolReturn(
            output=(TextPart("x"),),
            display=(BriefBlock("+1"), DiffBlock("a", "b", "c"), TodoBlock((TodoItem("t", "done"),))),
        ),
    ),
    StepRetry(1, 2, 3, 0.5, "APIStatusError", 429),
    Reverted(1, 2, "user", 3, ("a.py",), scope="both", prompt="fix it"),
    RevertPlan(1, "user", (PlannedFile("a", "merge", 1, 2, diff=DiffBlock("a", "b", "c")),), ("ls",)),
    Timeline(
        (TimelineNode(0, "u", "user", "fix it", tools=("Bash",), shell=True, files=FileChanges(1, 2, 3)),),
        (TimelineBranch(1, 2.5, "undo", 0, "u", 3),),
        current="u",
        undo="going back to 0",
    ),
    TimelineUpdate((TimelineNode(1, "v", "step", "Bash ls", parent="u", branch=1, name="good"),), "v"),
    BranchContent(1, (envelope(TurnBegin("hi")),), since="u", summary="they greeted"),
    Comparison(0, None, (ComparedFile("a", "changed", 1, 2, DiffBlock("a", "b", "c"), by="both"),)),
    SessionForked("s", "fix it (fork)", at=3),
    PatchWritten("/w/checkpoint-1-to-now.patch", 1, files=2, left_out=("big: it is too large",)),
    SubagentEvent(envelope(TextPart("nested")), agent_id="a"),
    StatusUpdate(context_usage=0.5),
    ApprovalRequest("r", "c", "Bash", "run command", "ls", (ShellBlock("ls"),), rule="Bash(ls *)"),
    QuestionRequest("q", "c", (Question("Which?", "Choice", (QuestionOption("a"), QuestionOption("b"))),)),
    TurnEnd("failed", 2),
]


@pytest.mark.parametrize("message", SAMPLES, ids=lambda message: type(message).__name__)
def test_a_message_survives_a_json_round_trip(message: Event | Request | Answer) -> None:
    assert decode(json.loads(json.dumps(encode(message)))) == message


def test_content_parts_share_one_type_name() -> None:
    assert encode(TextPart("x")) == {"type": "ContentPart", "payload": {"type": "text", "text": "x"}}


def test_a_revert_has_the_key_from_as_in_the_protocol() -> None:
    payload = encode(Reverted(1, 2, "undo"))["payload"]
    assert payload == {"to": 1, "from": 2, "reason": "undo", "files": [], "note": "", "kept": [], "saved": []}


def test_unset_fields_are_omitted() -> None:
    assert encode(StatusUpdate(context_tokens=3))["payload"] == {"context_tokens": 3}


def test_unknown_fields_are_ignored_and_unknown_blocks_are_kept() -> None:
    value = {
        "is_error": False,
        "output": "",
        "message": "",
        "display": [{"type": "hologram", "data": {"x": 1}}],
    }
    message = decode(
        {"type": "ToolResult", "payload": {"tool_call_id": "1", "return_value": value, "new": 1}}
    )

    assert message == ToolResult("1", ToolReturn(display=(UnknownBlock({"x": 1}, "hologram"),)))


@pytest.mark.parametrize(
    "data",
    [
        None,
        [],
        "x",
        {},
        {"type": 3},
        {"type": "Nope", "payload": {}},
        {"type": "StepBegin", "payload": {"n": "many"}},
        {"type": "StepBegin", "payload": [1]},
        {"type": "StepBegin", "payload": "1"},
    ],
)
def test_invalid_messages_are_rejected(data: object) -> None:
    with pytest.raises(UnknownWireMessage):
        decode(data)


def test_every_event_and_request_has_a_codec() -> None:
    from kimi_tui.wire.codec import _TYPES

    names = {cls.__name__ for cls in (*get_args(Event), *get_args(Request))}
    parts = {"TextPart", "ThinkPart", "ImageURLPart", "AudioURLPart", "VideoURLPart"}
    assert names - parts <= set(_TYPES)


@pytest.mark.parametrize(
    "command", [Prompt((TextPart("look"),)), Revert(3, "files", ("a.py",), note="no"), ShowTimeline(100)]
)
def test_commands_survive_a_round_trip(command: Command) -> None:
    assert decode_command(json.loads(json.dumps(encode_command(command)))) == command


@pytest.mark.parametrize("data", [None, {"type": "TurnBegin"}, {"type": "Revert", "payload": {"to": "x"}}])
def test_invalid_commands_are_rejected(data: object) -> None:
    with pytest.raises(UnknownWireMessage):
        decode_command(data)
