"""Tools, hooks and editors that belong to one client of a session."""

import asyncio
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from kimi_tui.base.errors import KimiTuiError
from kimi_tui.resident.editor_call import EditorCall, EditorResult, EditorService
from kimi_tui.resident.remote_engine import RemoteEngine
from kimi_tui.wire.commands import ExcludeTools, Prompt, RegisterTools, SubscribeHooks, ToolDefinition
from kimi_tui.wire.events import Notification, TextPart, ToolReturn, TurnBegin
from kimi_tui.wire.requests import HookRequest, HookResponse, ToolCallRequest, ToolCallResponse
from tests.resident.conftest import VERSION, Client, ResidentEngine, session_info

TOOLS = RegisterTools((ToolDefinition("lookup", "Look up", {}),))
CALL = ToolCallRequest("t-1", "lookup", "{}")
HOOK = HookRequest("h-1", "s-1", "PreToolUse", "Bash", {})


async def attach_two(engine: ResidentEngine):
    first, session = await engine.open()
    second = await engine.attach()
    await second.wait_for(session_info())
    return first, second, session


async def test_only_the_client_that_provides_a_tool_gets_its_calls(engine: ResidentEngine) -> None:
    first, second, session = await attach_two(engine)
    await first.wire.command_and_wait(TOOLS)
    asking = asyncio.ensure_future(session.wire.ask(CALL))
    await first.wait_for(CALL)
    assert first.answer(ToolCallResponse("t-1", ToolReturn(is_error=False, output="42")))
    assert (await asking).return_value.output == "42"
    session.wire.send(TextPart("end"))
    assert CALL not in await second.wait_for(TextPart("end"))


async def test_calls_end_and_tools_are_removed_when_their_client_leaves(engine: ResidentEngine) -> None:
    first, second, session = await attach_two(engine)
    await first.wire.command_and_wait(TOOLS)
    await first.wire.command_and_wait(SubscribeHooks(()))
    asking = asyncio.gather(session.wire.ask(CALL), session.wire.ask(HOOK))
    await first.wait_for(HOOK)
    first.cut()
    async with asyncio.timeout(20):
        result, allowed = await asking
    assert result.return_value.is_error
    assert allowed == HookResponse("h-1")
    await second.wire.command_and_wait(TOOLS)  # the next one can provide tools
    assert session.commands[-3:-1] in (
        [RegisterTools(()), SubscribeHooks(())],
        [SubscribeHooks(()), RegisterTools(())],
    )
    assert session.commands[-1] == TOOLS


async def test_a_second_provider_is_told_that_there_is_one(engine: ResidentEngine) -> None:
    first, second, session = await attach_two(engine)
    await first.wire.command_and_wait(TOOLS)
    with pytest.raises(KimiTuiError, match="Another client"):
        await second.wire.command_and_wait(SubscribeHooks(()))
    second.wire.command(Prompt("hi"))
    received = await second.wait_for(TurnBegin("hi"))
    assert any(isinstance(it, Notification) and "Another client" in it.title for it in received)
    assert SubscribeHooks(()) not in session.commands


async def test_tools_are_not_hidden_from_the_other_clients(engine: ResidentEngine) -> None:
    first, _, session = await attach_two(engine)
    await first.wire.command_and_wait(ExcludeTools(("AskUserQuestion",)))
    assert session.commands == []


@dataclass
class PlayedEditor:
    """An editor whose commands run until they are canceled."""

    services: frozenset[EditorService] = frozenset({"files", "terminals"})
    calls: list[EditorCall] = field(default_factory=list)
    started: asyncio.Event = field(default_factory=asyncio.Event)

    async def run(self, call: EditorCall) -> EditorResult:
        self.calls.append(call)
        if call.kind != "run":
            return EditorResult(id=call.id, is_done=True, text="unsaved")
        self.started.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            return EditorResult(id=call.id, is_done=True, text="partial output", status=-9)
        raise AssertionError


class Output:
    def __init__(self) -> None:
        self.text = ""

    def receive(self, data: bytes) -> None:
        self.text += data.decode()


async def attach_editor(engine: ResidentEngine, editor: PlayedEditor) -> Client:
    options = {"session": "s-1"}
    client = Client(RemoteEngine(data_dir=engine.data_dir, version=VERSION, options=options, editor=editor))
    engine.clients.append(client)
    await client.wait_for(session_info())
    return client


async def test_the_next_editor_takes_the_place_of_one_that_leaves(engine: ResidentEngine) -> None:
    one, two = PlayedEditor(), PlayedEditor()
    first = await attach_editor(engine, one)
    second = await attach_editor(engine, two)
    link = engine.opener.sessions["s-1"].editor
    assert await link.read(Path("/a")) == "unsaved"
    await first.detach()
    async with asyncio.timeout(20):
        while await link.read(Path("/b")) is None:  # the engine hasn't noticed yet
            await asyncio.sleep(0.01)
    assert two.calls
    assert [call.path for call in one.calls][:1] == ["/a"]
    await second.detach()
    async with asyncio.timeout(20):
        while link.is_available:
            await asyncio.sleep(0.01)
    assert await link.read(Path("/c")) is None
    assert await link.write(Path("/c"), "x") is False
    assert await link.run("ls", call_id="c", work_dir=Path("/"), timeout_s=1, output=Output()) is None


async def test_a_canceled_command_ends_in_the_editor_and_its_output_arrives(engine: ResidentEngine) -> None:
    editor, output = PlayedEditor(), Output()
    await attach_editor(engine, editor)
    link = engine.opener.sessions["s-1"].editor
    running = asyncio.ensure_future(
        link.run("sleep 9", call_id="c-1", work_dir=Path("/w"), timeout_s=60, output=output)
    )
    await editor.started.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert output.text == "partial output"
    assert (editor.calls[0].text, editor.calls[0].tool_call_id) == ("sleep 9", "c-1")


async def test_a_command_fails_when_its_editor_leaves_and_is_not_run_again(engine: ResidentEngine) -> None:
    editor, output = PlayedEditor(), Output()
    client = await attach_editor(engine, editor)
    link = engine.opener.sessions["s-1"].editor
    running = asyncio.ensure_future(
        link.run("make", call_id="c-1", work_dir=Path("/w"), timeout_s=60, output=output)
    )
    await editor.started.wait()
    client.cut()
    async with asyncio.timeout(20):
        status = await running
    assert status is not None
    assert status.status != 0
