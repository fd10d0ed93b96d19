"""Tests of turns: prompts, steering, cancellation and outcomes."""

import json
import signal
import time
from collections.abc import Callable
from typing import Any

import pytest

from tests.e2e.program import Program, script, tool_call
from tests.timeouts import TEST_TIMEOUT_S
from tests.wireserver.client import WireTestClient

Connect = Callable[..., WireTestClient]

WRITE = script("text: I write it.", tool_call("w1", "WriteFile", path="a.txt", content="A"))


def test_a_prompt_is_answered_at_the_end_of_its_turn_without_a_handshake(
    program: Program, connect: Connect
) -> None:
    program.script(script("think: hm", "text: hello there"))
    client = connect()
    client.send(id=7, method="prompt", params={"user_input": "hi"})

    assert client.answer_to(7) == {"jsonrpc": "2.0", "id": 7, "result": {"status": "finished"}}
    assert client.kinds == [
        "TurnBegin", "StepBegin", "ContentPart", "ContentPart", "StatusUpdate", "TurnEnd",
    ]  # fmt: skip
    assert client.text == "hello there"
    assert client.close_stdin() == 0
    assert client.stderr == ""


def test_a_prompt_can_have_parts_and_run_is_an_alias(program: Program, connect: Connect) -> None:
    program.script("text: fine")
    client = connect()
    parts = [{"type": "text", "text": "look"}, {"type": "text", "text": "here"}]
    assert client.call("run", user_input=parts)["result"] == {"status": "finished"}
    assert client.seen[0]["params"] == {"type": "TurnBegin", "payload": {"user_input": parts}}


def test_an_approved_tool_runs_and_a_rejected_one_does_not(program: Program, connect: Connect) -> None:
    program.script(WRITE, "text: done", script(tool_call("w2", "WriteFile", path="b.txt", content="B")))
    client = connect()

    first = client.start_call("prompt", {"user_input": "write"})
    request = client.approve()
    assert client.seen[-1]["id"] == request["id"]
    assert not {"rule", "danger"} & request.keys()
    assert client.answer_to(first)["result"] == {"status": "finished"}
    assert (program.work_dir / "a.txt").read_text() == "A"

    second = client.start_call("prompt", {"user_input": "write more"})
    client.approve("reject")
    assert client.answer_to(second)["result"] == {"status": "finished"}
    assert not (program.work_dir / "b.txt").exists()


def test_an_invalid_or_error_response_to_an_approval_rejects_it(program: Program, connect: Connect) -> None:
    program.script(WRITE, WRITE.replace("w1", "w2"))
    client = connect()
    for answer in (
        {"result": {"response": "sure"}},
        {"error": {"code": -32601, "message": "no such method"}},
    ):
        prompt = client.start_call("prompt", {"user_input": "write"})
        client.send(id=client.event("ApprovalRequest")["id"], **answer)
        assert client.answer_to(prompt)["result"] == {"status": "finished"}
    assert not (program.work_dir / "a.txt").exists()


def test_cancelling_a_streaming_turn_keeps_its_text(program: Program, connect: Connect) -> None:
    program.script(script("chunk: 40", "text: " + "many words " * 400), "text: here again")
    client = connect()
    prompt = client.start_call("prompt", {"user_input": "talk"})
    client.event("ContentPart")

    cancel = client.start_call("cancel")
    assert client.answer_to(cancel)["result"] == {}
    assert client.answer_to(prompt)["result"] == {"status": "cancelled"}
    assert client.kinds[-2:] == ["StepInterrupted", "TurnEnd"]
    assert client.prompt("still there?")["result"] == {"status": "finished"}
    assert client.text.endswith("here again")


def test_a_prompt_can_be_cancelled_immediately(program: Program, connect: Connect) -> None:
    program.script(script("delay: 30", "text: late"), "text: next")
    client = connect()
    client.initialize()
    client.send_raw(
        b'{"jsonrpc":"2.0","id":"p","method":"prompt","params":{"user_input":"wait"}}\n'
        b'{"jsonrpc":"2.0","id":"c","method":"interrupt"}\n'
    )
    assert client.answer_to("p")["result"] == {"status": "cancelled"}
    assert client.kinds.count("TurnBegin") == client.kinds.count("TurnEnd") == 1


def test_cancelling_closes_an_open_approval(program: Program, connect: Connect) -> None:
    program.script(WRITE)
    client = connect()
    prompt = client.start_call("prompt", {"user_input": "write"})
    request = client.event("ApprovalRequest")
    client.start_call("cancel")

    closed = client.event("ApprovalResponse")
    assert (closed["request_id"], closed["response"]) == (request["id"], "reject")
    assert client.answer_to(prompt)["result"] == {"status": "cancelled"}
    client.answer(request["id"], response="approve")  # too late
    assert client.call("steer", user_input="hey")["error"]["code"] == -32000
    assert not (program.work_dir / "a.txt").exists()


def test_steering_reaches_the_next_step(program: Program, connect: Connect) -> None:
    program.script(WRITE, "text: understood")
    client = connect()
    prompt = client.start_call("prompt", {"user_input": "write"})
    request = client.event("ApprovalRequest")
    assert client.call("steer", user_input="in Latin")["result"] == {"status": "steered"}
    client.answer(request["id"], response="approve")

    assert client.event("SteerInput") == {"user_input": "in Latin"}
    assert client.answer_to(prompt)["result"] == {"status": "finished"}


@pytest.mark.parametrize("method", ["steer", "cancel", "interrupt"])
def test_steering_and_cancelling_fail_without_a_turn(program: Program, connect: Connect, method: str) -> None:
    program.script("text: unused")
    assert connect().call(method, user_input="x")["error"]["code"] == -32000


def test_a_second_prompt_is_rejected_during_a_turn(program: Program, connect: Connect) -> None:
    program.script(script("delay: 0.5", "text: slow"))
    client = connect()
    first = client.start_call("prompt", {"user_input": "one"})
    second = client.start_call("prompt", {"user_input": "two"})
    for refused in (client.answer_to(second), client.call("initialize", protocol_version="1.10")):
        assert refused["error"]["code"] == -32000
    assert client.answer_to(first)["result"] == {"status": "finished"}


def test_a_turn_stopped_by_the_step_limit_reports_its_steps(program: Program, connect: Connect) -> None:
    program.script(*[script(tool_call(f"l{n}", "LS", path=".")) for n in range(3)])
    assert connect("--max-steps-per-turn", "2").prompt("look")["result"] == {
        "status": "max_steps_reached",
        "steps": 2,
    }


def test_a_provider_error_has_a_message_and_a_hint(program: Program, connect: Connect) -> None:
    program.script("error: 401 who are you", "text: better now")
    client = connect()
    assert client.prompt("hi")["error"] == {"code": -32003, "message": "who are you"}
    assert client.prompt("again")["result"] == {"status": "finished"}

    exhausted = client.prompt("once more")["error"]
    assert exhausted["code"] == -32003
    assert ". " in exhausted["message"]


def test_without_a_model_the_handshake_works_and_a_prompt_fails(connect: Connect) -> None:
    client = connect()
    assert client.initialize()["slash_commands"] == []
    assert client.prompt("hi")["error"]["code"] == -32001
    assert client.call("replay")["result"] == {"status": "finished", "events": 0, "requests": 0}
    assert client.close_stdin() == 0


def test_an_unknown_session_stops_the_server_with_an_error(program: Program, connect: Connect) -> None:
    program.script("text: unused")
    client = connect("--session", "nosuchsession")
    assert client.wait_for_exit() == 1
    assert "Session “nosuchsession” doesn't exist." in client.stderr


def test_slash_commands_run_without_the_model(program: Program, connect: Connect) -> None:
    program.script("text: one", "text: two")
    client = connect()
    names = [
        command["name"]
        for command in client.initialize(capabilities={"supports_timeline": True})["slash_commands"]
    ]
    assert "clear" in names
    client.prompt("hello")
    assert client.prompt("/clear")["result"] == {"status": "finished"}
    assert client.last_event("Reverted")["reason"] == "clear"
    assert client.prompt("/no such command")["result"] == {"status": "finished"}
    assert client.text == "onetwo"


def test_eof_cancels_the_turn_and_exits_cleanly(program: Program, connect: Connect) -> None:
    program.script(script("text: so far", "delay: 60"))
    client = connect()
    prompt = client.start_call("prompt", {"user_input": "hi"})
    client.event("ContentPart")
    assert client.close_stdin() == 0
    assert client.seen[-1] == {"jsonrpc": "2.0", "id": prompt, "result": {"status": "cancelled"}}
    assert "so far" in program.context_files[0].read_text()


def test_sigterm_cancels_the_turn_and_exits_cleanly(program: Program, connect: Connect) -> None:
    program.script(script("text: so far", "delay: 60"))
    client = connect()
    client.start_call("prompt", {"user_input": "hi"})
    client.event("ContentPart")
    client.process.send_signal(signal.SIGTERM)
    assert client.wait_for_exit() == 143
    assert client.seen[-1]["result"] == {"status": "cancelled"}


def test_a_client_that_does_not_read_does_not_block_the_turn(program: Program, connect: Connect) -> None:
    big = "x" * 3_000_000
    program.script(
        script(f"text: {json.dumps(big)}", tool_call("w1", "WriteFile", path="done.txt", content="yes")),
        "text: the end",
    )
    config = program.data_dir / "config.toml"
    config.write_text(config.read_text().replace("100000", "10000000"))
    client = connect("--yolo", reads=False)
    client.start_call("prompt", {"user_input": "hi"})
    wait_for(lambda: (program.work_dir / "done.txt").exists())
    client.start_reading()
    assert client.answer_to("c1") == {"jsonrpc": "2.0", "id": "c1", "result": {"status": "finished"}}
    assert len(client.text) == len(big) + len("the end")


def test_the_server_ends_when_the_client_has_disconnected(program: Program, connect: Connect) -> None:
    program.script(script("chunk: 50", "text: " + "word " * 4000))
    client = connect(reads=False)
    client.start_call("prompt", {"user_input": "hi"})
    client.close_stdout()
    assert client.process.wait(TEST_TIMEOUT_S) == 141


def wait_for(condition: Callable[[], Any]) -> None:
    deadline = time.monotonic() + TEST_TIMEOUT_S
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_plan_mode_can_be_switched_on_and_off(program: Program, connect: Connect) -> None:
    program.script(WRITE, "text: I see", WRITE, "text: done")
    client = connect("--yolo")
    assert client.initialize()["capabilities"]["supports_plan_mode"] is True
    assert client.call("set_plan_mode", enabled=True)["result"] == {"status": "ok", "plan_mode": True}
    assert client.last_event("StatusUpdate")["plan_mode"] is True
    client.prompt("write")
    assert not (program.work_dir / "a.txt").exists()
    assert client.call("set_plan_mode", enabled=False)["result"] == {"status": "ok", "plan_mode": False}
    client.prompt("write")
    assert (program.work_dir / "a.txt").read_text() == "A"


def test_a_side_question_works_as_a_prompt_and_during_a_turn(program: Program, connect: Connect) -> None:
    program.script("text: forty-two", WRITE, "text: in the middle of it", "text: done")
    client = connect()
    assert client.prompt("/btw what is it?")["result"] == {"status": "finished"}
    assert client.last_event("BtwEnd")["response"] == "forty-two"

    turn = client.start_call("prompt", {"user_input": "write"})
    request = client.event("ApprovalRequest")
    assert client.call("steer", user_input="/btw where are you?")["result"] == {"status": "steered"}
    assert client.event("BtwEnd")["response"] == "in the middle of it"
    client.answer(request["id"], response="approve")
    assert client.answer_to(turn)["result"] == {"status": "finished"}


def test_the_model_learns_that_no_user_can_answer(program: Program, connect: Connect) -> None:
    options = [{"label": "A"}, {"label": "B"}]
    ask = tool_call("q1", "AskUserQuestion", questions=[{"question": "Which?", "options": options}])
    program.script(script(ask), "text: then A")
    client = connect()
    assert client.prompt("ask")["result"] == {"status": "finished"}
    result = client.last_event("ToolResult")
    assert "No user is available" in result["return_value"]["message"]


def test_an_app_only_command_is_rejected(program: Program, connect: Connect) -> None:
    program.script("text: fine")
    client = connect()
    error = client.call("prompt", user_input="/model opus")["error"]
    assert (error["code"], "--model NAME" in error["message"]) == (-32602, True)
    assert client.prompt("/model trains are nice")["result"] == {"status": "finished"}
