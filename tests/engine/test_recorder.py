"""Recorder of `wire.jsonl`."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from kimi_tui.base.content_parts import TextPart
from kimi_tui.base.message_text import MessageText, msg
from kimi_tui.engine.recording.index import load_recording
from kimi_tui.engine.recording.recorder import Recorder
from kimi_tui.wire.channel import Wire
from kimi_tui.wire.display_blocks import BriefBlock
from kimi_tui.wire.events import (
    ReplayBegin,
    ReplayEnd,
    StepBegin,
    ToolOutput,
    ToolResult,
    ToolReturn,
    TurnBegin,
    TurnEnd,
)
from kimi_tui.wire.timeline import Timeline
from tests.timeouts import TEST_TIMEOUT_S


async def record(path: Path, *events: Any) -> list[dict[str, Any]]:
    """Record `events` and return the lines of the recording."""
    wire = Wire()
    recorder = Recorder(path, wire)
    for event in events:
        wire.send(event)
    wire.close()
    await recorder.run()
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


async def test_it_begins_with_the_protocol_version(tmp_path: Path) -> None:
    lines = await record(tmp_path / "s" / "wire.jsonl", TurnBegin("hi"), TurnEnd())
    assert lines[0] == {"type": "metadata", "protocol_version": "1.10"}
    assert [line["message"]["type"] for line in lines[1:]] == ["TurnBegin", "TurnEnd"]


async def test_fragments_become_one_line(tmp_path: Path) -> None:
    lines = await record(tmp_path / "wire.jsonl", TextPart("a"), TextPart("b"), StepBegin(2))
    assert [line["message"]["payload"] for line in lines[1:]] == [{"type": "text", "text": "ab"}, {"n": 2}]


async def test_a_summary_of_a_result_keeps_its_id(tmp_path: Path) -> None:
    summary = BriefBlock(msg("{count} tasks", count=3))
    lines = await record(tmp_path / "wire.jsonl", ToolResult("1", ToolReturn(display=(summary,))))
    assert lines[1]["message"]["payload"]["return_value"]["display"] == [{"text": "3 tasks", "type": "brief"}]

    [result] = load_recording(tmp_path / "wire.jsonl").results["1"]
    [block] = result.display
    assert isinstance(block, BriefBlock)
    assert isinstance(block.text, MessageText)
    assert (block.text.id, block.text.params) == ("{count} tasks", {"count": 3})


async def test_live_output_is_not_recorded(tmp_path: Path) -> None:
    lines = await record(tmp_path / "wire.jsonl", ToolOutput("1", "x"), TurnBegin("new"))
    assert [line["message"]["payload"] for line in lines[1:]] == [{"user_input": "new"}]


async def test_a_replay_after_a_revert_is_not_recorded(tmp_path: Path) -> None:
    lines = await record(
        tmp_path / "wire.jsonl",
        TurnBegin("hi"), TurnEnd(), ReplayBegin(anew=True), TurnBegin("hi"), TurnEnd(), ReplayEnd(),
        Timeline(), TurnBegin("on"),
    )  # fmt: skip
    kinds = [line["message"]["type"] for line in lines[1:]]
    assert kinds == ["TurnBegin", "TurnEnd", "TurnBegin"]


async def test_a_session_without_events_has_no_recording(tmp_path: Path) -> None:
    assert await record(tmp_path / "s" / "wire.jsonl") == []
    assert not (tmp_path / "s").exists()


async def test_only_the_owner_can_read_it(tmp_path: Path) -> None:
    path = tmp_path / "s" / "wire.jsonl"
    await record(path, TurnBegin("secret"))
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700


async def test_an_incomplete_last_line_does_not_affect_later_lines(tmp_path: Path) -> None:
    path = tmp_path / "wire.jsonl"
    await record(path, ToolResult("1", ToolReturn(output="one")))
    with path.open("a") as file:
        file.write('{"timestamp": 1, "message": {"type": "ToolResult"')
    wire = Wire()
    recorder = Recorder(path, wire)
    wire.send(ToolResult("2", ToolReturn(output="two")))
    wire.close()
    await recorder.run()

    results = load_recording(path).results
    assert {key: [value.output for value in values] for key, values in results.items()} == {
        "1": ["one"],
        "2": ["two"],
    }


async def test_a_recording_that_can_not_be_written_raises_no_error(tmp_path: Path) -> None:
    blocked_path = tmp_path / "wire.jsonl"
    blocked_path.mkdir()
    wire = Wire()
    recorder = Recorder(blocked_path, wire)
    wire.send(TurnBegin("hi"))
    wire.close()
    await recorder.run()


async def test_a_message_that_can_not_be_encoded_is_skipped(tmp_path: Path) -> None:
    unencodable = ToolResult("1", ToolReturn(extras={"no JSON": object()}))
    lines = await record(tmp_path / "wire.jsonl", TurnBegin("a"), unencodable, TurnEnd())
    assert [line["message"]["type"] for line in lines[1:]] == ["TurnBegin", "TurnEnd"]


async def test_a_stream_is_written_before_it_ends(tmp_path: Path) -> None:
    path = tmp_path / "wire.jsonl"
    wire = Wire()
    task = asyncio.ensure_future(Recorder(path, wire).run())
    wire.send(TextPart("so far"))
    async with asyncio.timeout(TEST_TIMEOUT_S):
        while not path.exists() or "so far" not in path.read_text():
            await asyncio.sleep(0.02)
    wire.close()
    await task


def test_a_missing_recording_is_empty(tmp_path: Path) -> None:
    assert load_recording(tmp_path / "none.jsonl").results == {}


@pytest.mark.parametrize(
    "line", ['{"type":"ToolResult"', '{"message":{"type":"ToolResult","payload":{}}}', "\udcff"]
)
def test_lines_that_are_not_results_are_skipped(tmp_path: Path, line: str) -> None:
    path = tmp_path / "wire.jsonl"
    path.write_bytes(line.encode("utf-8", "surrogateescape") + b"\n")
    assert load_recording(path).results == {}
