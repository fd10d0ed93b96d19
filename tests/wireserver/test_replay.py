"""Tests of replays and of long sessions."""

import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.program import Program, script, tool_call
from tests.wireserver.client import WireTestClient

Connect = Callable[..., WireTestClient]


def session_id(program: Program) -> str:
    return program.context_files[0].parent.name


def visible_messages(client: WireTestClient, *, since: int = 0) -> list[Any]:
    """Return the events and requests received so far."""
    return [it["params"] for it in client.seen[since:] if "method" in it]


def test_a_resumed_session_replays_the_same_messages(program: Program, connect: Connect) -> None:
    program.script(
        script("text: I write.", tool_call("w1", "WriteFile", path="a.txt", content="A")), "text: written"
    )
    first = connect()
    prompt = first.start_call("prompt", {"user_input": "write"})
    first.approve()
    first.answer_to(prompt)
    assert first.close_stdin() == 0

    second = connect("--session", session_id(program))
    result = second.call("replay")["result"]
    assert result == {"status": "finished", "events": len(visible_messages(first)) - 1, "requests": 1}
    assert visible_messages(second) == visible_messages(first)
    assert second.seen[-1]["result"] == result


def test_a_replay_right_after_a_turn_is_complete(program: Program, connect: Connect) -> None:
    program.script("text: hello")
    client = connect()
    client.prompt("hi")
    turn = visible_messages(client)
    client.call("replay")
    assert visible_messages(client)[len(turn) :] == turn


def test_a_new_session_has_nothing_to_replay(program: Program, connect: Connect) -> None:
    program.script("text: unused")
    assert connect().call("replay")["result"] == {"status": "finished", "events": 0, "requests": 0}


def test_unreadable_lines_of_a_recording_are_skipped(program: Program, connect: Connect) -> None:
    program.script("text: hello")
    first = connect()
    first.prompt("hi")
    first.close_stdin()
    recording = program.context_files[0].with_name("wire.jsonl")
    recording.write_bytes(b'torn{\n{"message":5}\n\xff\n' + recording.read_bytes())

    second = connect("--session", session_id(program))
    assert second.call("replay")["result"]["events"] == len(visible_messages(first))


def test_a_replay_can_be_cancelled(program: Program, connect: Connect) -> None:
    program.script("text: hello")
    first = connect()
    first.prompt("hi")
    first.close_stdin()
    recording = program.context_files[0].with_name("wire.jsonl")
    event = {"type": "ContentPart", "payload": {"type": "text", "text": "x" * 1000}}
    with recording.open("a") as file:
        file.writelines(json.dumps({"timestamp": 0, "message": event}) + "\n" for _ in range(20_000))

    second = connect("--session", session_id(program), reads=False)
    second.start_call("replay")
    second.start_call("cancel")
    busy = second.start_call("prompt", {"user_input": "meanwhile"})
    second.start_reading()
    result = second.answer_to("c1")["result"]
    assert result["status"] == "cancelled"
    assert result["events"] < 20_000
    assert second.answer_to(busy)


def resident_kb(client: WireTestClient) -> int:
    status = Path(f"/proc/{client.process.pid}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0])


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is read from /proc")
def test_three_hundred_prompts_need_little_more_memory_than_fifty(program: Program, connect: Connect) -> None:
    program.script(*[script("think: hm", f"text: answer {n}") for n in range(300)])
    client = connect()
    after_fifty = 0
    for number in range(300):
        assert client.prompt(f"prompt {number}")["result"] == {"status": "finished"}
        if number == 49:
            after_fifty = resident_kb(client)
    assert client.text.endswith("answer 299")
    assert resident_kb(client) < 1.15 * after_fifty
    assert threading.active_count() < 20
