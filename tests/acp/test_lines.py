"""Lines that are no messages, and messages that ask for nonsense: each is answered."""

import json
from typing import Any

import pytest
from acp import RequestError

from tests.acp.editor import at_desk
from tests.engine.front import Home

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


async def test_what_is_no_message_is_answered_and_the_connection_lives(home: Home) -> None:
    home.script("text: still here")
    async with at_desk(home) as desk:
        for line in BAD:
            await desk.raw(line + b"\n")
        await desk.raw(b"\n \n")
        session = await desk.editor.new(home.work_dir)
        await desk.editor.prompt(session, "hi")
        assert desk.editor.said(session) == "still here"
        assert [error["code"] for error in desk.tap.errors()] == list(BAD.values())


async def test_answers_to_nothing_and_unknown_notifications_are_passed_over(home: Home) -> None:
    async with at_desk(home) as desk:
        for message in (
            {"id": 99, "result": {}},
            {"id": "x", "error": {"code": 1}},
            {"method": "no/such"},
            {"method": "$/cancel_request"},
            {"method": "$/cancel_request", "params": {"requestId": []}},
            {"method": "session/cancel", "params": {"sessionId": "nobody"}},
            {"method": "session/cancel", "params": 7},
        ):
            await desk.raw(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        assert (await desk.editor.initialize()).protocol_version == 1


@pytest.mark.parametrize(
    ("method", "params", "code"),
    [
        ("no/such", {}, -32601),
        ("_ours/neither", {}, -32601),
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
async def test_a_request_that_cannot_be_followed_says_why(
    home: Home, method: str, params: Any, code: int
) -> None:
    async with at_desk(home) as desk:
        with pytest.raises(RequestError) as raised:
            await desk.editor.request(method, params)
        assert raised.value.code == code
        assert str(raised.value)
        await desk.editor.initialize()


async def test_an_empty_prompt_is_refused(home: Home) -> None:
    async with at_desk(home) as desk:
        session = await desk.editor.new(home.work_dir)
        with pytest.raises(RequestError, match="empty"):
            await desk.editor.prompt(session, "  \n")


async def test_letters_that_break_lines_elsewhere_do_not_here(home: Home) -> None:
    odd = "a\u2028b\u0085c\x1b[31m\u202e"
    home.script("text: " + json.dumps(odd))
    async with at_desk(home) as desk:
        session = await desk.editor.new(home.work_dir)
        await desk.editor.prompt(session, odd)
        assert desk.editor.said(session) == odd


async def test_half_a_character_reaches_no_client(home: Home) -> None:
    home.script('text: "half \\ud83d of one"')
    async with at_desk(home) as desk:
        session = await desk.editor.new(home.work_dir)
        await desk.editor.prompt(session, "hi")
        assert desk.editor.said(session) == "half \ufffd of one"


async def test_a_client_may_leave_out_what_it_does_not_have(home: Home) -> None:
    async with at_desk(home) as desk:
        assert (await desk.editor.request("session/new", {"cwd": str(home.work_dir)}))["sessionId"]
