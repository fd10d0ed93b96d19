"""Tests of canceling a revert."""

import asyncio
import json
import os
from typing import Any

from kimi_tui.base.output_stream import OutputStream
from kimi_tui.engine.session.notices import build_notice
from kimi_tui.wire.channel import Wire
from kimi_tui.wire.commands import Interrupt, Revert, Undo
from kimi_tui.wire.events import SessionInfo
from kimi_tui.wire.timeline import Reverted
from kimi_tui.wireserver.client import WireClient
from kimi_tui.wireserver.server import WireServer
from tests.timeouts import TEST_TIMEOUT_S

INFO = SessionInfo(session_id="s", work_dir="/w", title="", model="m", model_kind="scripted", agent="a")


class RecordedOutput:
    """Records the server's output."""

    def __init__(self) -> None:
        self._written = b""

    def write(self, data: memoryview) -> int:
        self._written += bytes(data)
        return len(data)

    def fileno(self) -> int:
        raise OSError("not a file")

    def answer_to(self, call_id: str) -> dict[str, Any] | None:
        answers = [json.loads(line) for line in self._written.split(b"\n")[:-1]]
        return next((answer for answer in answers if answer.get("id") == call_id), None)


async def engine(wire: Wire) -> None:
    """Run a revert until it is interrupted; complete an undo immediately."""
    wire.send(INFO)
    revert: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    async for command in wire.commands():
        match command:
            case Revert():
                wire.defer_completion(revert)
            case Interrupt():
                wire.send(build_notice("Revert canceled.", "Nothing was changed.", source_id="s"))
                revert.set_result(None)
            case Undo():
                wire.send(Reverted(0, 1, "undo"))


async def test_cancel_works_during_a_revert() -> None:
    wire, output = Wire(), RecordedOutput()
    async with asyncio.TaskGroup() as group:
        server = WireServer(
            wire=wire, client=WireClient(out := OutputStream(output)), version="1", tasks=group
        )
        group.create_task(server.forward_events())
        group.create_task(engine(wire))

        async def call(call_id: str, method: str, **params: Any) -> None:
            rpc = {"jsonrpc": "2.0", "id": call_id, "method": method, "params": params}
            await server.handle_line(json.dumps(rpc).encode() + os.linesep.encode())

        async def answer(call_id: str) -> dict[str, Any]:
            async with asyncio.timeout(TEST_TIMEOUT_S):
                while (response := output.answer_to(call_id)) is None:
                    await asyncio.sleep(0.001)
            return response

        await call("1", "initialize", protocol_version="1.10", capabilities={"supports_timeline": True})
        await call("2", "revert", to=0)
        await call("3", "cancel")
        assert (await answer("3"))["result"] == {}
        assert (await answer("2"))["error"]["message"] == "Revert canceled. Nothing was changed."
        await call("4", "undo")
        assert (await answer("4"))["result"]["reason"] == "undo"
        await call("5", "cancel")
        assert "No agent turn is in progress" in (await answer("5"))["error"]["message"]
        wire.close()
    await out.close()
