"""`wire.jsonl`: what went over the Wire, readable later."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from kimi_tui.base.content import TextPart
from kimi_tui.engine.recorded import read_recording
from kimi_tui.engine.recorder import Recorder
from kimi_tui.wire.channel import Wire
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
from tests.patience import PATIENCE_S


async def recorded(path: Path, *events: Any) -> list[dict[str, Any]]:
    """The lines of a recording of `events`."""
    wire = Wire()
    recorder = Recorder(path, wire.subscribe())
    for event in events:
        wire.send(event)
    wire.close()
    await recorder.run()
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


async def test_it_begins_with_the_protocol_version(tmp_path: Path) -> None:
    lines = await recorded(tmp_path / "s" / "wire.jsonl", TurnBegin("hi"), TurnEnd())
    assert lines[0] == {"type": "metadata", "protocol_version": "1.10"}
    assert [line["message"]["type"] for line in lines[1:]] == ["TurnBegin", "TurnEnd"]


async def test_fragments_become_one_line(tmp_path: Path) -> None:
    lines = await recorded(tmp_path / "wire.jsonl", TextPart("a"), TextPart("b"), StepBegin(2))
    assert [line["message"]["payload"] for line in lines[1:]] == [{"type": "text", "text": "ab"}, {"n": 2}]


async def test_live_output_is_left_out(tmp_path: Path) -> None:
    lines = await recorded(tmp_path / "wire.jsonl", ToolOutput("1", "x"), TurnBegin("new"))
    assert [line["message"]["payload"] for line in lines[1:]] == [{"user_input": "new"}]


async def test_what_is_told_anew_after_a_jump_is_not_recorded_twice(tmp_path: Path) -> None:
    lines = await recorded(
        tmp_path / "wire.jsonl",
        TurnBegin("hi"), TurnEnd(), ReplayBegin(anew=True), TurnBegin("hi"), TurnEnd(), ReplayEnd(),
        Timeline(), TurnBegin("on"),
    )  # fmt: skip
    kinds = [line["message"]["type"] for line in lines[1:]]
    assert kinds == ["TurnBegin", "TurnEnd", "TurnBegin"]


async def test_a_session_in_which_nothing_happened_leaves_no_file(tmp_path: Path) -> None:
    assert await recorded(tmp_path / "s" / "wire.jsonl") == []
    assert not (tmp_path / "s").exists()


async def test_only_the_owner_can_read_it(tmp_path: Path) -> None:
    path = tmp_path / "s" / "wire.jsonl"
    await recorded(path, TurnBegin("secret"))
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700


async def test_a_torn_last_line_costs_itself_only(tmp_path: Path) -> None:
    path = tmp_path / "wire.jsonl"
    await recorded(path, ToolResult("1", ToolReturn(output="one")))
    with path.open("a") as file:
        file.write('{"timestamp": 1, "message": {"type": "ToolResult"')
    wire = Wire()
    recorder = Recorder(path, wire.subscribe())
    wire.send(ToolResult("2", ToolReturn(output="two")))
    wire.close()
    await recorder.run()

    results = read_recording(path).results
    assert {key: [value.output for value in values] for key, values in results.items()} == {
        "1": ["one"],
        "2": ["two"],
    }


async def test_a_disk_that_refuses_costs_the_recording_only(tmp_path: Path) -> None:
    in_the_way = tmp_path / "wire.jsonl"
    in_the_way.mkdir()
    wire = Wire()
    recorder = Recorder(in_the_way, wire.subscribe())
    wire.send(TurnBegin("hi"))
    wire.close()
    await recorder.run()


async def test_a_message_that_can_not_be_written_costs_itself_only(tmp_path: Path) -> None:
    odd = ToolResult("1", ToolReturn(extras={"no JSON": object()}))
    lines = await recorded(tmp_path / "wire.jsonl", TurnBegin("a"), odd, TurnEnd())
    assert [line["message"]["type"] for line in lines[1:]] == ["TurnBegin", "TurnEnd"]


async def test_what_streams_is_on_disk_before_the_stream_ends(tmp_path: Path) -> None:
    path = tmp_path / "wire.jsonl"
    wire = Wire()
    task = asyncio.ensure_future(Recorder(path, wire.subscribe()).run())
    wire.send(TextPart("so far"))
    async with asyncio.timeout(PATIENCE_S):
        while not path.exists() or "so far" not in path.read_text():
            await asyncio.sleep(0.02)
    wire.close()
    await task


def test_reading_a_recording_that_is_not_there_gives_nothing(tmp_path: Path) -> None:
    assert read_recording(tmp_path / "none.jsonl").results == {}


@pytest.mark.parametrize(
    "line", ['{"type":"ToolResult"', '{"message":{"type":"ToolResult","payload":{}}}', "\udcff"]
)
def test_lines_that_are_no_results_are_skipped(tmp_path: Path, line: str) -> None:
    path = tmp_path / "wire.jsonl"
    path.write_bytes(line.encode("utf-8", "surrogateescape") + b"\n")
    assert read_recording(path).results == {}
