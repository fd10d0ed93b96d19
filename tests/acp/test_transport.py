"""Tests of the responses to invalid lines and invalid requests."""

import json
from typing import Any

import pytest
from acp import RequestError

from tests.acp.fake_editor import connect_editor
from tests.engine.fake_front_end import SessionEnv

BAD = {
    b"[]": -32600,
    b'"x"': -32600,
    b"null": -32600,
    b"5": -32600,
    b"[[[": -32700,
    b"{}": -32600,
    b'{"jsonrpc": "2.0", "method": 5, "id": null}': -32600,
    b'{"jsonrpc": "2.0", "id": {}, "result": 1}': -32600,
    b"\xff\xfe": -32700,
    b"[" * 100_000: -32700,
}


async def test_invalid_lines_are_answered_and_the_connection_survives(home: SessionEnv) -> None:
    home.script("text: still here")
    async with connect_editor(home) as harness:
        for line in BAD:
            await harness.send_raw(line + b"\n")
        await harness.send_raw(b"\n \n")
        session = await harness.editor.new(home.work_dir)
        await harness.editor.prompt(session, "hi")
        assert harness.editor.text_of(session) == "still here"
        assert [error["code"] for error in harness.recorder.errors()] == list(BAD.values())


async def test_unexpected_responses_and_unknown_notifications_are_ignored(home: SessionEnv) -> None:
    async with connect_editor(home) as harness:
        for message in (
            {"id": 99, "result": {}},
            {"id": "x", "error": {"code": 1}},
            {"method": "no/such"},
            {"method": "$/cancel_request"},
            {"method": "$/cancel_request", "params": {"requestId": []}},
            {"method": "session/cancel", "params": {"sessionId": "nobody"}},
            {"method": "session/cancel", "params": 7},
        ):
            await harness.send_raw(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        assert (await harness.editor.initialize()).protocol_version == 1


@pytest.mark.parametrize(
    ("method", "params", "code"),
    [
        ("no/such", {}, -32601),
        ("_custom/no_such", {}, -32601),
        ("initialize", None, -32602),
        ("initialize", [1], -32602),
        ("session/new", {"cwd": "relative", "mcpServers": []}, -32602),
        ("session/new", {"cwd": "/no/such/folder", "mcpServers": []}, -32602),
        ("session/new", {"cwd": "/\0", "mcpServers": []}, -32602),
        ("session/new", {"mcpServers": []}, -32602),
        ("session/prompt", {"sessionId": "nobody", "prompt": []}, -32002),
        ("session/load", {"sessionId": "nobody", "cwd": "/", "mcpServers": []}, -32002),
        ("session/set_mode", {"sessionId": "nobody", "modeId": "default"}, -32002),
        ("session/close", {"sessionId": "nobody"}, -32002),
        ("session/delete", {"sessionId": "nobody"}, -32002),
        ("session/list", {"cursor": "yesterday"}, -32602),
    ],
)
async def test_an_invalid_request_gets_an_error(
    home: SessionEnv, method: str, params: Any, code: int
) -> None:
    async with connect_editor(home) as harness:
        with pytest.raises(RequestError) as raised:
            await harness.editor.request(method, params)
        assert raised.value.code == code
        assert str(raised.value)
        await harness.editor.initialize()


async def test_an_empty_prompt_is_rejected(home: SessionEnv) -> None:
    async with connect_editor(home) as harness:
        session = await harness.editor.new(home.work_dir)
        with pytest.raises(RequestError, match="empty"):
            await harness.editor.prompt(session, "  \n")


async def test_only_newlines_separate_messages(home: SessionEnv) -> None:
    odd = "a\u2028b\u0085c\x1b[31m\u202e"
    home.script("text: " + json.dumps(odd))
    async with connect_editor(home) as harness:
        session = await harness.editor.new(home.work_dir)
        await harness.editor.prompt(session, odd)
        assert harness.editor.text_of(session) == odd


async def test_lone_surrogates_are_replaced(home: SessionEnv) -> None:
    home.script('text: "half \\ud83d of one"')
    async with connect_editor(home) as harness:
        session = await harness.editor.new(home.work_dir)
        await harness.editor.prompt(session, "hi")
        assert harness.editor.text_of(session) == "half \ufffd of one"


async def test_a_client_may_omit_mcp_servers(home: SessionEnv) -> None:
    async with connect_editor(home) as harness:
        assert (await harness.editor.request("session/new", {"cwd": str(home.work_dir)}))["sessionId"]
