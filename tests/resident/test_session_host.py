"""Several clients on one session: one order, one answer, and a session that outlives its clients."""

import asyncio
import socket
from contextlib import suppress
from pathlib import Path

import pytest

from kimi_tui.base.content_parts import TextPart
from kimi_tui.base.errors import EngineLost, KimiTuiError, SessionInUse
from kimi_tui.base.json_codec import to_json
from kimi_tui.resident import attached_client
from kimi_tui.resident.connection import EngineNotRunning, connect, send_hello
from kimi_tui.resident.frames import Hello, parse_error, parse_object
from kimi_tui.resident.shared_log import MAX_BACKLOG, LogEntry, SharedLog
from kimi_tui.resident.socket_path import socket_path
from kimi_tui.wire.commands import (
    Interrupt,
    ListSessions,
    Prompt,
    RunShell,
    SetPlanMode,
    ShowTimeline,
)
from kimi_tui.wire.display_blocks import TodoItem
from kimi_tui.wire.events import (
    ApprovalResponse,
    Notification,
    ReplayBegin,
    ReplayEnd,
    RequestClosed,
    SessionList,
    StatusUpdate,
    StepBegin,
    TodoUpdate,
    TurnBegin,
    TurnEnd,
)
from kimi_tui.wire.requests import (
    ApprovalRequest,
    Question,
    QuestionOption,
    QuestionRequest,
    QuestionResponse,
)
from kimi_tui.wire.timeline import Timeline
from tests.resident.conftest import VERSION, PlayedSession, ResidentEngine, session_info, start_engine

APPROVAL = ApprovalRequest("r-1", "c-1", "Bash", "run command", "ls")
QUESTION = QuestionRequest(
    "q-1", "c-1", (Question("Which?", "Choice", (QuestionOption("a"), QuestionOption("b"))),)
)


def texts(client) -> str:
    return "".join(message.text for message in client.received if isinstance(message, TextPart))


async def test_all_clients_get_the_same_messages_in_the_same_order(engine: ResidentEngine) -> None:
    first, session = await engine.open()
    others = [await engine.attach() for _ in range(3)]
    for client in others:
        await client.wait_for(session_info())
    session.run_turn("hi", StepBegin(1), *(TextPart(f"{number} ") for number in range(300)))
    for client in (first, *others):
        await client.wait_for(TurnEnd())
    expected = "".join(f"{number} " for number in range(300))
    assert [texts(client) for client in (first, *others)] == [expected] * 4


async def test_a_prompt_of_one_client_begins_a_turn_for_all(engine: ResidentEngine) -> None:
    first, _ = await engine.open()
    second = await engine.attach()
    await second.wait_for(session_info())
    second.wire.command(Prompt("hello"))
    await first.wait_for(TurnBegin("hello"))
    await second.wait_for(TurnBegin("hello"))


async def test_a_client_that_attaches_later_gets_the_history_as_a_replay(engine: ResidentEngine) -> None:
    first, session = await engine.open()
    session.run_turn("hi", StepBegin(1), TextPart("hel"), TextPart("lo"))
    session.wire.send(TodoUpdate((TodoItem("test", "pending"),)))
    await first.wait_for(TodoUpdate((TodoItem("test", "pending"),)))
    second = await engine.attach()
    received = await second.wait_for(TodoUpdate((TodoItem("test", "pending"),)))
    assert received[1:] == [
        ReplayBegin(anew=True),
        TurnBegin("hi"),
        StepBegin(1),
        TextPart("hello"),
        TurnEnd(),
        ReplayEnd(),
        TodoUpdate((TodoItem("test", "pending"),)),
    ]


async def test_a_client_that_attaches_during_a_turn_gets_the_running_turn_live(
    engine: ResidentEngine,
) -> None:
    first, session = await engine.open()
    session.wire.send(TurnBegin("hi"))
    session.wire.send(TextPart("so far"))
    await first.wait_for(TextPart("so far"))
    second = await engine.attach()
    await second.wait_for(TextPart("so far"))
    session.wire.send(TextPart(", and more"))
    received = await second.wait_for(TextPart(", and more"))
    assert received[received.index(ReplayEnd()) + 1 :] == [
        TurnBegin("hi"),
        TextPart("so far"),
        TextPart(", and more"),
    ]


async def test_a_request_is_answered_once_and_closed_everywhere(engine: ResidentEngine) -> None:
    first, session = await engine.open()
    second = await engine.attach()
    await second.wait_for(session_info())
    session.wire.send(TurnBegin("hi"))
    asking = asyncio.ensure_future(session.wire.ask(QUESTION))
    for client in (first, second):
        assert await client.wait_for_request() == QUESTION
    assert first.answer(QuestionResponse("q-1", {"Which?": "a"}))
    assert await asking == QuestionResponse("q-1", {"Which?": "a"})
    await second.wait_for(RequestClosed("q-1"))
    assert not second.answer(QuestionResponse("q-1", {"Which?": "b"}))


async def test_of_raced_answers_exactly_one_counts(engine: ResidentEngine) -> None:
    clients = [(await engine.open())[0], *[await engine.attach() for _ in range(3)]]
    session = engine.opener.sessions["s-1"]
    session.wire.send(TurnBegin("hi"))
    for number in range(50):
        request = ApprovalRequest(f"r-{number}", "c-1", "Bash", "run command", "ls")
        asking = asyncio.ensure_future(session.wire.ask(request))
        for client in clients:
            await client.wait_for(request)
        for index, client in enumerate(clients):
            client.answer(ApprovalResponse(request.id, "reject", str(index)))
        answer = await asking
        session.wire.send(answer)
        for client in clients:
            await client.wait_for(answer)
    for client in clients:
        answers = [it.request_id for it in client.received if isinstance(it, ApprovalResponse)]
        assert answers == [f"r-{number}" for number in range(50)]


async def test_a_later_client_gets_open_requests_but_not_closed_ones(engine: ResidentEngine) -> None:
    first, session = await engine.open()
    session.wire.send(TurnBegin("hi"))
    asking = asyncio.ensure_future(session.wire.ask(QUESTION))
    await first.wait_for_request()
    first.answer(QuestionResponse("q-1", {}))
    await asking
    open_request = asyncio.ensure_future(session.wire.ask(APPROVAL))
    await first.wait_for(APPROVAL)
    second = await engine.attach()
    received = await second.wait_for(APPROVAL)
    assert QUESTION not in received
    assert second.answer(ApprovalResponse("r-1", "approve"))
    assert await open_request == ApprovalResponse("r-1", "approve")


async def test_a_command_is_done_after_the_messages_that_it_caused(engine: ResidentEngine) -> None:
    class Planning(PlayedSession):
        async def handle(self, command) -> None:
            self.wire.send(StatusUpdate(plan_mode=True))

    engine.opener.build = Planning
    client, _ = await engine.open()
    subscription = client.wire.subscribe()
    await client.wire.command_and_wait(SetPlanMode(True))
    assert StatusUpdate(plan_mode=True) in subscription.pop_pending()


async def test_a_reply_goes_only_to_the_client_that_asked(engine: ResidentEngine) -> None:
    class Listing(PlayedSession):
        async def handle(self, command) -> None:
            self.wire.send(SessionList(()) if isinstance(command, ListSessions) else Timeline())
            self.wire.send(StatusUpdate(context_usage=0.5))

    engine.opener.build = Listing
    first, _ = await engine.open()
    second = await engine.attach()
    await second.wait_for(session_info())
    second.wire.command(ListSessions())
    second.wire.command(ShowTimeline())
    assert SessionList(()) in await second.wait_for(Timeline())
    received = await first.wait_for(StatusUpdate(context_usage=0.5))
    assert SessionList(()) not in received
    assert Timeline() not in received


async def test_a_session_continues_when_its_last_client_detaches(engine: ResidentEngine) -> None:
    client, session = await engine.open()
    client.wire.command(Prompt("hi"))
    await client.wait_for(TurnBegin("hi"))
    await client.detach()
    session.wire.send(TextPart("alone"))
    session.wire.send(TurnEnd())
    second = await engine.attach()
    assert TextPart("alone") in await second.wait_for(ReplayEnd())
    assert Interrupt() not in session.commands


async def test_a_cut_connection_does_not_disturb_the_session(engine: ResidentEngine) -> None:
    first, session = await engine.open()
    second = await engine.attach()
    await second.wait_for(session_info())
    second.cut()
    session.run_turn("hi", TextPart("still here"))
    assert TextPart("still here") in await first.wait_for(TurnEnd())


async def test_a_client_that_is_too_far_behind_is_disconnected(engine: ResidentEngine) -> None:
    hello = Hello(version=VERSION, request="open", options={"session": "s-1"})
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
        await asyncio.to_thread(client.connect, str(socket_path(engine.data_dir)))
        client.sendall(to_json(hello) + b"\n")
        assert b"welcome" in await asyncio.to_thread(client.recv, 1000)
        session = engine.opener.sessions["s-1"]
        session.wire.send(TextPart("x" * 5_000_000))  # more than the buffers of the connection hold
        await asyncio.sleep(0.1)
        for number in range(MAX_BACKLOG + 1):
            session.wire.send(StepBegin(number))
        received = await asyncio.to_thread(client.makefile("rb").read)
    error = parse_error(parse_object(received.splitlines()[-1])["end"])
    assert isinstance(error, EngineLost), "the app must connect again"
    assert (error.session_id, "couldn't keep up" in error.what) == ("s-1", True)
    assert received.count(b"StepBegin") == 0


async def test_another_version_is_refused_with_the_command_that_restarts_the_engine(
    engine: ResidentEngine,
) -> None:
    client = await engine.attach(version="0.9")
    with pytest.raises(KimiTuiError, match="engine is version") as caught:
        await client.end()
    assert "kimi-tui serve --restart" in caught.value.hint


async def test_the_error_of_an_engine_that_cannot_open_reaches_the_client(engine: ResidentEngine) -> None:
    engine.opener.failure = SessionInUse("It is in use.", session_id="s-1", hint="Fork it.")
    client = await engine.attach()
    with pytest.raises(SessionInUse, match="in use") as caught:
        await client.end()
    assert (caught.value.session_id, caught.value.hint) == ("s-1", "Fork it.")


async def test_a_viewer_sees_everything_but_changes_nothing(engine: ResidentEngine) -> None:
    first, session = await engine.open()
    viewer = await engine.attach(is_viewer=True)
    await viewer.wait_for(session_info(read_only=True))
    viewer.wire.command(Prompt("do harm"))
    session.wire.send(TurnBegin("hi"))
    asking = asyncio.ensure_future(session.wire.ask(APPROVAL))
    await first.wait_for(APPROVAL)
    session.wire.send(TextPart("text"))
    received = await viewer.wait_for(TextPart("text"))
    assert APPROVAL not in received
    assert [it.title for it in received if isinstance(it, Notification)] == [
        "You're only watching this session."
    ]
    assert Prompt("do harm") not in session.commands
    assert not asking.done()
    asking.cancel()


async def test_a_viewer_cannot_answer_a_request_that_it_knows(engine: ResidentEngine) -> None:
    first, session = await engine.open()
    asking = asyncio.ensure_future(session.wire.ask(APPROVAL))
    await first.wait_for(APPROVAL)
    hello = Hello(version=VERSION, request="open", options={"session": "s-1"}, is_viewer=True)
    async with connect(engine.data_dir, hello) as ((_, writer), _):
        writer.write(
            b'{"answer":{"type":"ApprovalResponse","payload":{"request_id":"r-1","response":"approve"}}}\n'
        )
        await writer.drain()
        first.wire.command(Prompt("later"))
        await first.wait_for(TurnBegin("later"))
    assert not asking.done()
    asking.cancel()


async def test_a_command_that_uses_a_terminal_is_refused(engine: ResidentEngine) -> None:
    client, session = await engine.open()
    await client.wire.command_and_wait(RunShell("s", "vim", on_terminal=True))
    client.wire.command(Prompt("hi"))
    received = await client.wait_for(TurnBegin("hi"))
    assert any(isinstance(it, Notification) and it.severity == "warning" for it in received)
    assert not any(isinstance(command, RunShell) for command in session.commands)


async def test_a_list_names_the_state_of_each_session(engine: ResidentEngine) -> None:
    client, session = await engine.open()
    await engine.open("s-2")
    session.wire.send(TurnBegin("hi"))
    session.wire.send(TextPart("one\ntwo"))
    asking = asyncio.ensure_future(session.wire.ask(APPROVAL))
    await client.wait_for(APPROVAL)
    listed = (await send_hello(engine.data_dir, Hello(version=VERSION, request="list"))).sessions
    assert [(it.id, it.state, it.last_line, it.clients) for it in listed] == [
        ("s-1", "awaiting approval", "two", 1),
        ("s-2", "idle", "", 1),
    ]
    answer = {"type": "ApprovalResponse", "payload": {"request_id": "r-1", "response": "approve"}}
    hello = Hello(version=VERSION, request="answer", session="s-1", answer=answer)
    assert (await send_hello(engine.data_dir, hello)).is_accepted
    assert (await asking) == ApprovalResponse("r-1", "approve")
    assert not (await send_hello(engine.data_dir, hello)).is_accepted


async def test_a_session_can_be_stopped(engine: ResidentEngine) -> None:
    client, _ = await engine.open()
    await send_hello(engine.data_dir, Hello(version=VERSION, request="stop", session="s-"))
    with pytest.raises(KimiTuiError, match="session was stopped from another screen"):
        await client.end()
    assert not (await send_hello(engine.data_dir, Hello(version=VERSION, request="list"))).sessions


async def test_lists_do_not_keep_an_idle_engine_running(data_dir: Path) -> None:
    async with start_engine(data_dir, idle_s=0.2) as engine, asyncio.timeout(20):
        while not engine.running.done():
            with suppress(KimiTuiError):  # it ends
                await send_hello(data_dir, Hello(version=VERSION, request="list"))
            await asyncio.sleep(0.02)


async def test_a_client_that_is_about_to_open_a_session_keeps_the_engine_running(data_dir: Path) -> None:
    async with start_engine(data_dir, idle_s=0.5) as engine:
        for _ in range(40):
            await send_hello(data_dir, Hello(version=VERSION, request="prepare"))
            await asyncio.sleep(0.02)
        assert not engine.running.done()


async def test_an_idle_engine_without_clients_ends(data_dir: Path) -> None:
    async with start_engine(data_dir, idle_s=0.05) as engine:
        client, _ = await engine.open()
        await asyncio.sleep(0.2)
        assert not engine.running.done()
        await client.detach()
        async with asyncio.timeout(20):
            await engine.running
    with pytest.raises(EngineNotRunning):
        await send_hello(data_dir, Hello(version=VERSION, request="list"))


async def test_an_engine_whose_session_is_working_does_not_end(data_dir: Path) -> None:
    async with start_engine(data_dir, idle_s=0.05) as engine:
        client, session = await engine.open()
        client.wire.command(Prompt("hi"))
        await client.wait_for(TurnBegin("hi"))
        await client.detach()
        await asyncio.sleep(0.2)
        assert not engine.running.done()
        session.wire.send(TurnEnd())
        async with asyncio.timeout(20):
            await engine.running


async def test_the_engine_can_be_stopped_by_a_client_of_any_version(engine: ResidentEngine) -> None:
    client, _ = await engine.open()
    await send_hello(engine.data_dir, Hello(version="other", request="shutdown"))
    with pytest.raises(KimiTuiError, match="engine was stopped"):
        await client.end()
    async with asyncio.timeout(20):
        await engine.running


@pytest.mark.parametrize(
    "line", [b"nonsense\n", b"{}\n", b'{"version":"1.2","request":"open","options":[]}\n']
)
async def test_an_invalid_first_line_ends_only_that_connection(engine: ResidentEngine, line: bytes) -> None:
    client, session = await engine.open()
    reader, writer = await asyncio.open_unix_connection(str(engine.data_dir / "resident" / "engine.sock"))
    writer.write(line)
    assert await reader.read() == b""
    writer.close()
    session.run_turn("hi")
    await client.wait_for(TurnEnd())


def test_the_size_of_what_a_client_has_not_read_is_limited() -> None:
    log = SharedLog(max_bytes=50_000)
    for number in range(300):
        log.append(LogEntry(TextPart(f"{number} " + "x" * 1000)))
    kept = log.read(log.start, log.end)
    assert log.end == 300
    assert sum(len(entry.line) for entry in kept) < 50_000 + 100 * 1200
    log.drop_before(log.end)
    for _ in range(200):  # the sizes of dropped entries don't count
        log.append(LogEntry(TextPart("y")))
    assert log.start == 300


async def test_a_client_that_does_not_read_is_disconnected_and_the_others_go_on(
    engine: ResidentEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attached_client, "_STALL_S", 0.05)
    client, session = await engine.open()
    hello = Hello(version=VERSION, request="open", options={"session": "s-1"})
    async with connect(engine.data_dir, hello) as ((reader, _), _):
        reader._transport.pause_reading()  # type: ignore[attr-defined]
        async with asyncio.timeout(60):
            number = 0
            while number == 0 or (await list_sessions(engine))[0].clients > 1:
                event = TodoUpdate((TodoItem(f"{number} {'x' * 500_000}", "pending"),))
                session.wire.send(event)
                await client.wait_for(event)
                client.received.clear()
                number += 1
    assert number < 1000


async def list_sessions(engine: ResidentEngine):
    return (await send_hello(engine.data_dir, Hello(version=VERSION, request="list"))).sessions
