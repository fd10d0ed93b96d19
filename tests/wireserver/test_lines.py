"""Tests of the transport: valid and invalid lines of JSON-RPC."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.e2e.program import Program, script, tool_call
from tests.wireserver.client import WireTestClient

Connect = Callable[..., WireTestClient]


@pytest.mark.parametrize(
    ("line", "code", "echoed"),
    [
        (b"bad", -32700, None),
        (b'{"jsonrpc":"2.0","id":1', -32700, None),
        (b"\xff\xfe", -32700, None),
        (b"[" * 100_000, -32700, None),
        (b"[]", -32600, None),
        (b'"prompt"', -32600, None),
        (b'{"id":1,"method":"prompt"}', -32600, 1),
        (b'{"jsonrpc":"1.0","id":"x","method":"prompt"}', -32600, "x"),
        (b'{"jsonrpc":"2.0","id":"x"}', -32600, "x"),
        (b'{"jsonrpc":"2.0","id":1.5,"method":"prompt"}', -32600, None),
        (b'{"jsonrpc":"2.0","id":true,"method":"prompt"}', -32600, None),
        (b'{"jsonrpc":"2.0","id":2,"method":5}', -32600, 2),
        (b'{"jsonrpc":"2.0","id":3,"method":"nosuch"}', -32601, 3),
        (b'{"jsonrpc":"2.0","id":4,"method":"event","params":{}}', -32601, 4),
        (b'{"jsonrpc":"2.0","id":5,"method":"prompt","params":[1]}', -32602, 5),
        (b'{"jsonrpc":"2.0","id":6,"method":"prompt"}', -32602, 6),
        (b'{"jsonrpc":"2.0","id":7,"method":"prompt","params":{"user_input":""}}', -32602, 7),
        (b'{"jsonrpc":"2.0","id":8,"method":"prompt","params":{"user_input":[{"type":"odd"}]}}', -32602, 8),
        (b'{"jsonrpc":"2.0","id":9,"method":"prompt","params":{"user_input":"\\ud800"}}', -32602, 9),
        (b'{"jsonrpc":"2.0","id":10,"method":"initialize","params":{}}', -32602, 10),
        (b'{"jsonrpc":"2.0","id":11,"method":"set_plan_mode","params":{"enabled":"maybe"}}', -32602, 11),
    ],
)
def test_an_invalid_line_gets_an_error(
    program: Program, connect_shared: WireTestClient, line: bytes, code: int, echoed: Any
) -> None:
    connect_shared.send_raw(line + b"\n")
    answer = connect_shared.wait_for(lambda _: True)
    assert (answer["id"], answer["error"]["code"]) == (echoed, code)
    assert answer["error"]["message"].endswith(".")


def test_a_prompt_works_after_invalid_input(program: Program, connect: Connect) -> None:
    program.script("text: fine")
    client = connect()
    client.send_raw(b"\n  \r\n{\n\x00\n" + b'{"jsonrpc":"2.0","id":"nobody","result":{}}\n')
    client.send(method="cancel")  # a notification gets no response, not even an error
    client.send(method="nosuch")
    assert client.prompt("hi")["result"] == {"status": "finished"}
    errors = [message["error"]["code"] for message in client.seen if "error" in message]
    assert errors == [-32700, -32700]


def test_a_megabyte_is_transferred_in_both_directions(program: Program, connect: Connect) -> None:
    text = "né" * 350_000
    program.script(f"text: {json.dumps(text, ensure_ascii=False)}")
    config = program.data_dir / "config.toml"
    config.write_text(config.read_text().replace("100000", "10000000"))
    client = connect()
    assert client.prompt(text)["result"] == {"status": "finished"}
    assert client.seen[0]["params"]["payload"] == {"user_input": text}
    assert client.text == text


def test_only_a_newline_ends_a_line(program: Program, connect: Connect) -> None:
    odd = "one\u2028two\u2029three\u0085four\x0bfive\rsix\x1b[31m"
    program.script(f"text: {json.dumps(odd)}")
    client = connect()
    message = {"jsonrpc": "2.0", "id": "u", "method": "prompt", "params": {"user_input": odd}}
    client.send_raw(json.dumps(message, ensure_ascii=False).encode() + b"\n")
    assert client.answer_to("u")["result"] == {"status": "finished"}
    assert client.seen[0]["params"]["payload"] == {"user_input": odd}
    assert client.text == odd


def test_commands_cannot_access_the_protocol_streams(program: Program, connect: Connect) -> None:
    program.script(
        script(tool_call("b1", "Bash", command="echo loud; echo louder >&2; cat; echo > /proc/self/fd/1")),
        "text: done",
    )
    client = connect("--yolo")
    assert client.prompt("go")["result"] == {"status": "finished"}
    assert client.close_stdin() == 0
    assert client.text == "done"


def test_a_line_longer_than_100_megabytes_is_rejected(program: Program, connect: Connect) -> None:
    program.script("text: fine")
    client = connect()
    chunk = b"x" * (1 << 20)
    for _ in range(101):
        client.send_raw(chunk)
    client.send_raw(b"\n")
    assert client.wait_for(lambda _: True)["error"]["code"] == -32600
    assert client.prompt("hi")["result"] == {"status": "finished"}
