"""Editors, Wire clients and the daemon on the sessions of a running engine, with the real program."""

import asyncio
import json
import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
from acp.schema import FileSystemCapabilities

from kimi_tui.base.errors import EngineLost
from kimi_tui.cli.running_sessions import RunningSessions
from kimi_tui.resident.connection import send_hello
from kimi_tui.resident.frames import Hello
from kimi_tui.version import __version__
from kimi_tui.wire.events import ApprovalResponse
from kimi_tui.wire.running_session import RunningSession
from tests.acp.fake_editor import FakeEditor
from tests.acp.test_program import start_program
from tests.cli.conftest import Terminal
from tests.e2e.program import Program, script, tool_call
from tests.timeouts import TEST_TIMEOUT_S
from tests.wireserver.client import WireTestClient


@pytest.fixture
def engine(program: Program) -> Iterator[Program]:
    """A program whose resident engine is running."""
    running = program.start("serve")
    assert running.stdout is not None
    assert running.stdout.readline()
    yield program
    program.run("serve", "--stop")
    running.communicate(timeout=TEST_TIMEOUT_S)


def sessions(program: Program) -> list[dict[str, Any]]:
    listed: list[dict[str, Any]] = json.loads(program.run("ps", "--json").stdout)
    return listed


async def find_session(program: Program, state: str) -> RunningSession:
    """Wait until the only session is in a state."""
    service = RunningSessions(program.data_dir)
    async with asyncio.timeout(TEST_TIMEOUT_S):
        while True:
            with suppress(EngineLost):  # it was killed just now
                listed = (await service.list()).sessions
                if [session.state for session in listed] == [state]:
                    return listed[0]
            await asyncio.sleep(0.05)


WRITE = script(tool_call("w1", "WriteFile", path="a.txt", content="one\n"))


async def test_a_request_in_an_editor_is_answered_from_another_screen(engine: Program) -> None:
    engine.script(WRITE, "text: written")
    async with start_program(engine, "acp") as (harness, _):
        await harness.editor.initialize()
        session_id = await harness.editor.new(engine.work_dir)
        turn = harness.editor.start_prompt(session_id, "write it")
        asked = await harness.editor.next_permission_prompt()
        session = await find_session(engine, "awaiting approval")
        assert (session.id, session.is_resident, session.clients) == (session_id, True, 1)
        (request,) = session.open_requests
        service = RunningSessions(engine.data_dir)
        assert await service.answer(session_id, ApprovalResponse(request.id, "approve"))
        assert (await turn).stop_reason == "end_turn"
        await harness.editor.wait_for(
            lambda: harness.recorder.canceled_requests() == ["session/request_permission"]
        )
        asked.choose("reject_once")  # too late
        assert not await service.answer(session_id, ApprovalResponse(request.id, "reject"))
        assert harness.editor.call(session_id).status == "completed"
        assert (engine.work_dir / "a.txt").read_text() == "one\n"


async def test_an_answer_in_the_editor_closes_the_request_everywhere(engine: Program) -> None:
    engine.script(WRITE, "text: written")
    async with start_program(engine, "acp") as (harness, _):
        await harness.editor.initialize()
        session_id = await harness.editor.new(engine.work_dir)
        turn = harness.editor.start_prompt(session_id, "write it")
        asked = await harness.editor.next_permission_prompt()
        (request,) = (await find_session(engine, "awaiting approval")).open_requests
        asked.choose("allow_once")
        assert (await turn).stop_reason == "end_turn"
        service = RunningSessions(engine.data_dir)
        assert not await service.answer(session_id, ApprovalResponse(request.id, "reject"))
        assert (await find_session(engine, "done")).open_requests == ()


async def test_a_session_continues_without_its_editor_and_is_loaded_again(engine: Program) -> None:
    engine.script(WRITE, "text: written")
    async with start_program(engine, "acp") as (harness, process):
        await harness.editor.initialize()
        session_id = await harness.editor.new(engine.work_dir)
        turn = harness.editor.start_prompt(session_id, "write it")
        await harness.editor.next_permission_prompt()
        harness.writer.close()
        async with asyncio.timeout(TEST_TIMEOUT_S):
            assert await process.wait() == 0
        turn.cancel()
    session = await find_session(engine, "awaiting approval")  # not declined: the editor gave no answer
    assert session.clients == 0
    async with start_program(engine, "acp") as (harness, _):
        await harness.editor.initialize()
        await harness.editor.connection.load_session(str(engine.work_dir), session_id)
        asked = await harness.editor.next_permission_prompt()
        asked.choose("allow_once")
        await find_session(engine, "done")
        await harness.editor.wait_for(lambda: "written" in harness.editor.text_of(session_id))
        await harness.editor.request("session/close", {"sessionId": session_id})
        assert (await find_session(engine, "done")).clients == 0
        await harness.editor.request("session/delete", {"sessionId": session_id})
        assert sessions(engine) == []
        assert engine.context_files == []


async def kill_engine(program: Program) -> None:
    reply = await send_hello(program.data_dir, Hello(version=__version__, request="list"))
    os.kill(reply.pid, signal.SIGKILL)


async def test_an_editor_continues_its_session_after_the_engine_was_killed(engine: Program) -> None:
    engine.script("text: hello", WRITE, "text: written")
    async with start_program(engine, "acp") as (harness, _):
        editor = harness.editor
        await editor.initialize()
        session_id = await editor.new(engine.work_dir)
        await editor.prompt(session_id, "hi")
        turn = editor.start_prompt(session_id, "write it")
        asked = await editor.next_permission_prompt()
        await kill_engine(engine)
        assert (await turn).stop_reason == "end_turn"
        assert "has ended unexpectedly" in editor.text_of(session_id)
        await editor.wait_for(lambda: harness.recorder.canceled_requests() == ["session/request_permission"])
        asked.choose("allow_once")  # too late
        engine.script("text: here again")
        assert (await editor.prompt(session_id, "again")).stop_reason == "end_turn"
        assert editor.text_of(session_id).endswith("here again")
        assert editor.text_of(session_id).count("hello") == 1, "the history was sent again"
        session = await find_session(engine, "done")
        assert (session.id, session.is_resident, session.clients) == (session_id, True, 1)
        assert not (engine.work_dir / "a.txt").exists()


def test_a_wire_client_keeps_its_tools_after_the_engine_was_killed(engine: Program) -> None:
    call = script(tool_call("t1", "lookup", word="x"))
    engine.script("text: hello")
    client = WireTestClient(engine)
    tool = {"name": "lookup", "description": "Look up", "parameters": {"type": "object"}}
    client.initialize(external_tools=[tool])
    client.prompt("hi")
    engine.script(call, "text: found")
    asyncio.run(kill_engine(engine))
    asyncio.run(find_session(engine, "idle"))  # it is open again, in the new engine
    prompt = client.start_call("prompt", {"user_input": "look"})
    request = client.wait_for(lambda it: it.get("method") == "request")
    result = {"is_error": False, "output": "42", "message": "", "display": []}
    client.send(id=request["id"], result={"tool_call_id": "t1", "return_value": result})
    assert client.answer_to(prompt)["result"]["status"] == "finished"
    client.close()


async def test_a_terminal_attaches_to_the_session_of_an_editor(engine: Program, terminal: Terminal) -> None:
    engine.script("text: from the editor", "text: from the terminal")
    async with start_program(engine, "acp") as (harness, _):
        await harness.editor.initialize()
        session_id = await harness.editor.new(engine.work_dir)
        await harness.editor.prompt(session_id, "one")
        screen = await asyncio.to_thread(terminal.start, "attach", "--screen-reader")
        await asyncio.to_thread(screen.expect_exact, "from the editor")
        screen.send("two\r")
        await asyncio.to_thread(screen.expect_exact, "from the terminal")
        editor = harness.editor
        await editor.wait_for(lambda: "from the terminal" in editor.text_of(session_id))
        assert editor.text_of(session_id, "user_message_chunk") == "two"


async def test_a_terminal_attaches_to_a_session_without_messages(engine: Program, terminal: Terminal) -> None:
    engine.script("text: from the terminal")
    async with start_program(engine, "acp") as (harness, _):
        await harness.editor.initialize()
        session_id = await harness.editor.new(engine.work_dir)
        screen = await asyncio.to_thread(terminal.start, "attach", "--screen-reader")
        await asyncio.to_thread(screen.expect_exact, "You: ")
        screen.send("hello\r")
        await harness.editor.wait_for(lambda: "from the terminal" in harness.editor.text_of(session_id))


async def test_files_are_read_and_written_through_the_editor_that_is_attached(engine: Program) -> None:
    class EditorWithFiles(FakeEditor):
        written: str = ""

        async def read_text_file(self, path: str, session_id: str, **_: Any) -> dict[str, str]:
            return {"content": self.written or "unsaved text\n"}

        async def write_text_file(self, content: str, path: str, session_id: str, **_: Any) -> None:
            self.written = content
            with open(path, "w") as file:  # noqa: PTH123 (as editors do)
                file.write(content)

    (engine.work_dir / "a.txt").write_text("saved text\n")
    edit = tool_call("e1", "EditFile", path="a.txt", edit={"old": "unsaved", "new": "edited"})
    engine.script(script(tool_call("r1", "ReadFile", path="a.txt")), script(edit), "text: done")
    async with start_program(engine, "acp", "--yolo", editor=EditorWithFiles()) as (harness, _):
        files = FileSystemCapabilities(read_text_file=True, write_text_file=True)
        await harness.editor.initialize(fs=files)
        session_id = await harness.editor.new(engine.work_dir)
        await harness.editor.prompt(session_id, "edit it")
        assert (await find_session(engine, "done")).id == session_id
        assert "unsaved text" in str(harness.editor.calls(session_id))
        assert harness.editor.written == "edited text\n"


async def test_an_editor_can_keep_its_sessions_to_itself(engine: Program) -> None:
    engine.script("text: hello")
    async with start_program(engine, "acp", "--no-resident") as (harness, _):
        await harness.editor.initialize()
        session_id = await harness.editor.new(engine.work_dir)
        await harness.editor.prompt(session_id, "one")
        assert not (await find_session(engine, "open")).is_resident


async def test_changes_are_watched_across_a_restart_of_the_engine(
    engine: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kimi_tui.cli.running_sessions._LOOK_S", 0.05)
    engine.script("text: hello")
    states: list[tuple[str, ...]] = []

    async def watch() -> None:
        async for listed in RunningSessions(engine.data_dir).watch():
            states.append(tuple(session.state for session in listed))

    watching = asyncio.ensure_future(watch())
    async with start_program(engine, "acp") as (harness, _), asyncio.timeout(TEST_TIMEOUT_S):
        await harness.editor.initialize()
        session_id = await harness.editor.new(engine.work_dir)
        await harness.editor.prompt(session_id, "one")
        while ("done",) not in states:
            await asyncio.sleep(0.05)
    restarted = await asyncio.to_thread(engine.run, "serve", "--restart")
    assert restarted.exit_code == 0
    async with asyncio.timeout(TEST_TIMEOUT_S):
        while states[-1] != ():  # of the new engine
            await asyncio.sleep(0.05)
    watching.cancel()


def test_tools_of_a_wire_client_are_its_own_and_end_with_it(engine: Program) -> None:
    call = script(tool_call("t1", "lookup", word="x"))
    engine.script(call, "text: found", call, "text: gone")
    tool = {"name": "lookup", "description": "Look up", "parameters": {"type": "object"}}
    first = WireTestClient(engine)
    first.initialize(external_tools=[tool])
    prompt = first.start_call("prompt", {"user_input": "look"})
    request = first.wait_for(lambda it: it.get("method") == "request")
    result = {"is_error": False, "output": "42", "message": "", "display": []}
    first.send(id=request["id"], result={"tool_call_id": "t1", "return_value": result})
    assert first.answer_to(prompt)["result"]["status"] == "finished"
    (session,) = sessions(engine)
    assert (session["state"], session["is_resident"]) == ("done", True)

    second = WireTestClient(engine, "--session", session["id"])
    answered = second.initialize(external_tools=[tool])
    assert answered["external_tools"]["accepted"] == []
    (rejected,) = answered["external_tools"]["rejected"]
    assert rejected["name"] == "lookup"
    assert "Another client" in rejected["reason"]
    prompt = first.start_call("prompt", {"user_input": "again"})
    first.wait_for(lambda it: it.get("method") == "request" and it is not request)
    first.process.kill()  # during its tool
    second.wait_for(lambda it: "has disconnected" in json.dumps(it))
    second.wait_for(lambda it: "gone" in json.dumps(it))
    assert not any(it.get("params", {}).get("type") == "ToolCallRequest" for it in second.seen)
    first.close()
    second.close()


def test_clients_of_kimi_cli_have_their_own_engine(engine: Program) -> None:
    engine.script("text: hello")
    client = WireTestClient(engine, "--agent", "kimi")
    client.initialize()
    client.prompt("hello")
    assert [session["is_resident"] for session in sessions(engine)] == [False]
    client.close()


def test_the_daemon_uses_the_engine_and_declines_only_for_its_own_turns(engine: Program) -> None:
    engine.script(WRITE, "text: declined", WRITE, "text: written", "text: hello")
    process = engine.start("-d", stdin=subprocess.PIPE)
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(b"write it\n")
    process.stdin.flush()
    assert json.loads(process.stdout.readline())["result"] == "declined"
    (session,) = sessions(engine)
    assert (session["state"], session["is_resident"]) == ("done", True)
    other = WireTestClient(engine, "--session", session["id"])
    other.initialize()
    turn = other.start_call("prompt", {"user_input": "write it after all"})
    other.approve()
    assert other.answer_to(turn)["result"]["status"] == "finished"
    assert (engine.work_dir / "a.txt").read_text() == "one\n"
    other.close()
    process.stdin.write(b"hello\n")
    process.stdin.flush()
    assert json.loads(process.stdout.readline())["result"] == "hello"
    process.communicate(timeout=TEST_TIMEOUT_S)
    assert process.returncode == 0
    assert [session["clients"] for session in sessions(engine)] == [0]
