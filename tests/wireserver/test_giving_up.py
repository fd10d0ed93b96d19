"""A client that changes its mind while a jump only looks at the files."""

import asyncio
import json
import os
from typing import Any

from kimi_tui.base.output import Output
from kimi_tui.engine.notices import notice
from kimi_tui.wire.channel import Wire
from kimi_tui.wire.commands import Interrupt, Revert, Undo
from kimi_tui.wire.events import SessionInfo
from kimi_tui.wire.timeline import Reverted
from kimi_tui.wireserver.client import Client
from kimi_tui.wireserver.server import Server
from tests.patience import PATIENCE_S

INFO = SessionInfo(session_id="s", work_dir="/w", title="", model="m", model_kind="scripted", agent="a")


class Lines:
    """What the server wrote."""

    def __init__(self) -> None:
        self._written = b""

    def write(self, data: memoryview) -> int:
        self._written += bytes(data)
        return len(data)

    def fileno(self) -> int:
        raise OSError("there is always room")

    def answer_to(self, call_id: str) -> dict[str, Any] | None:
        found = [json.loads(line) for line in self._written.split(b"\n")[:-1]]
        return next((answer for answer in found if answer.get("id") == call_id), None)


async def engine(wire: Wire) -> None:
    """Reverts for ever, until it is interrupted; undoes at once."""
    wire.send(INFO)
    jump: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    async for command in wire.commands():
        match command:
            case Revert():
                wire.goes_on(jump)
            case Interrupt():
                wire.send(notice("The jump was given up.", "Nothing was changed.", source_id="s"))
                jump.set_result(None)
            case Undo():
                wire.send(Reverted(0, 1, "undo"))


async def test_cancel_is_heard_while_a_jump_is_under_way() -> None:
    wire, lines = Wire(), Lines()
    async with asyncio.TaskGroup() as group:
        server = Server(wire=wire, client=Client(out := Output(lines)), version="1", tasks=group)
        group.create_task(server.follow())
        group.create_task(engine(wire))

        async def call(call_id: str, method: str, **params: Any) -> None:
            rpc = {"jsonrpc": "2.0", "id": call_id, "method": method, "params": params}
            await server.take(json.dumps(rpc).encode() + os.linesep.encode())

        async def answer(call_id: str) -> dict[str, Any]:
            async with asyncio.timeout(PATIENCE_S):
                while (found := lines.answer_to(call_id)) is None:
                    await asyncio.sleep(0.001)
            return found

        await call("1", "initialize", protocol_version="1.10", capabilities={"supports_timeline": True})
        await call("2", "revert", to=0)
        await call("3", "cancel")
        assert (await answer("3"))["result"] == {}
        assert (await answer("2"))["error"]["message"] == "The jump was given up. Nothing was changed."
        await call("4", "undo")
        assert (await answer("4"))["result"]["reason"] == "undo"
        await call("5", "cancel")
        assert "No agent turn is in progress" in (await answer("5"))["error"]["message"]
        wire.close()
    await out.close()
