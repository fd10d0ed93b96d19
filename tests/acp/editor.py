"""An editor: the SDK's own client, which answers as a test wants and notes what it is told."""

import asyncio
import json
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, TypeVar, cast

from acp.client import ClientSideConnection
from acp.schema import (
    AllowedOutcome,
    ClientCapabilities,
    DeniedOutcome,
    PermissionOption,
    PromptResponse,
    RequestPermissionResponse,
    TextContentBlock,
    ToolCallProgress,
    ToolCallStart,
    ToolCallUpdate,
)

from kimi_tui.acp.login import Login
from kimi_tui.acp.running import run_acp_server
from kimi_tui.acp.sessions import SessionWish
from kimi_tui.base.interruption import Interruption
from kimi_tui.base.raw_input import RawInput
from kimi_tui.config.settings import Settings
from kimi_tui.engine.build import open_engine
from kimi_tui.engine.options import EngineOptions
from kimi_tui.history.session import SessionStore
from kimi_tui.tools.mcp.sources import McpWish
from kimi_tui.wire.channel import Wire
from tests.engine.front import Home
from tests.patience import PATIENCE_S

T = TypeVar("T")


@dataclass(eq=False)
class Asked:
    """A request for permission."""

    session_id: str
    call: ToolCallUpdate
    options: list[PermissionOption]
    answer: "asyncio.Future[str | None]"

    def choose(self, kind: str) -> None:
        """Choose the first option of `kind`; `cancelled` means that the turn was cancelled."""
        ids = [option.option_id for option in self.options if option.kind == kind]
        self.answer.set_result(ids[0] if ids else None)


@dataclass(eq=False)
class Editor:
    """The client's side of the protocol."""

    connection: Any = None
    updates: list[tuple[str, Any]] = field(default_factory=list)
    """Every update so far: the session's id, and what it was told."""
    asked: "asyncio.Queue[Asked]" = field(default_factory=asyncio.Queue)
    arrived: asyncio.Event = field(default_factory=asyncio.Event)

    # what the agent asks of it

    async def session_update(self, session_id: str, update: Any, **_: Any) -> None:
        self.updates.append((session_id, update))
        self.arrived.set()

    async def request_permission(
        self, session_id: str, tool_call: ToolCallUpdate, options: list[PermissionOption], **_: Any
    ) -> RequestPermissionResponse:
        asked = Asked(session_id, tool_call, options, asyncio.get_running_loop().create_future())
        self.asked.put_nowait(asked)
        chosen = await asked.answer
        if chosen is None:
            return RequestPermissionResponse(outcome=DeniedOutcome(outcome="cancelled"))
        return RequestPermissionResponse(outcome=AllowedOutcome(outcome="selected", option_id=chosen))

    # what a test looks at

    async def permission(self) -> Asked:
        """The next request for permission."""
        async with asyncio.timeout(PATIENCE_S):
            return await self.asked.get()

    async def until(self, wanted: Callable[[], T]) -> T:
        """What `wanted` gives once that is something."""
        async with asyncio.timeout(PATIENCE_S):
            while not (found := wanted()):
                self.arrived.clear()
                await self.arrived.wait()
            return found

    def of(self, session_id: str, kind: str) -> list[Any]:
        """The updates of a session of that kind."""
        return [it for id_, it in self.updates if id_ == session_id and it.session_update == kind]

    def said(self, session_id: str, kind: str = "agent_message_chunk") -> str:
        """The text that a session said so far."""
        return "".join(getattr(it.content, "text", "") for it in self.of(session_id, kind))

    def calls(self, session_id: str) -> dict[str, ToolCallStart]:
        """Tool calls by their ids, with all that was told of them later."""
        calls: dict[str, ToolCallStart] = {}
        for id_, it in self.updates:
            if id_ == session_id and isinstance(it, ToolCallStart):
                assert it.tool_call_id not in calls, "an id was used twice"
                calls[it.tool_call_id] = it.model_copy()
            elif id_ == session_id and isinstance(it, ToolCallProgress):
                changes = it.model_dump(exclude_none=True, exclude={"session_update", "tool_call_id"})
                for name in changes:
                    setattr(calls[it.tool_call_id], name, getattr(it, name))
        return calls

    def call(self, session_id: str) -> ToolCallStart:
        """The last tool call of a session."""
        return list(self.calls(session_id).values())[-1]

    # what it does

    async def initialize(self, **capabilities: Any) -> Any:
        return await self.connection.initialize(1, ClientCapabilities(**capabilities))

    async def new(self, cwd: Path, **options: Any) -> str:
        response = await self.connection.new_session(str(cwd), **options)
        return str(response.session_id)

    async def prompt(self, session_id: str, text: str) -> PromptResponse:
        async with asyncio.timeout(PATIENCE_S):
            response: PromptResponse = await self.connection.prompt(
                session_id, [TextContentBlock(type="text", text=text)]
            )
            return response

    def begin(self, session_id: str, text: str) -> "asyncio.Task[PromptResponse]":
        """Prompt without waiting."""
        return asyncio.ensure_future(self.prompt(session_id, text))

    async def request(self, method: str, params: Any = None) -> Any:
        """Call a method that the SDK's client has no function for."""
        async with asyncio.timeout(PATIENCE_S):
            return await self.connection._conn.send_request(method, params)

    async def notify(self, method: str, params: Any = None) -> None:
        await self.connection._conn.send_notification(method, params)


class Wiretap:
    """What the agent writes, line by line, before the SDK's client reads it."""

    def __init__(self, stream: asyncio.StreamReader, editor: Editor) -> None:
        self.lines: list[dict[str, Any]] = []
        self.reader = asyncio.StreamReader(limit=1 << 27)
        self._stream = stream
        self._editor = editor

    async def run(self) -> None:
        while line := await self._stream.readline():
            self.lines.append(json.loads(line))
            self._editor.arrived.set()
            self.reader.feed_data(line)
        self.reader.feed_eof()

    def errors(self) -> list[dict[str, Any]]:
        """The answers to what was no message."""
        return [it["error"] for it in self.lines if it.get("id", 0) is None]


@dataclass
class Desk:
    """An editor at work, its pipes, and the home of its sessions."""

    editor: Any
    """An Editor, or one that can do more."""
    tap: Wiretap
    writer: asyncio.StreamWriter
    interruption: Interruption

    async def raw(self, data: bytes) -> None:
        """Write `data` past the SDK."""
        self.writer.write(data)
        await self.writer.drain()


@asynccontextmanager
async def at_desk(
    home: Home,
    *,
    has_model: Callable[[], bool] = lambda: True,
    settings: Settings | None = None,
    editor: Any = None,
    **options: Any,
) -> AsyncIterator[Desk]:
    """An editor that is connected to a server in this process, over real pipes. The server ends well."""

    async def serve(wire: Wire, wish: SessionWish) -> None:
        engine = await open_engine(
            wire,
            EngineOptions(
                settings=settings or home.settings(),
                share_dir=home.share_dir,
                work_dir=wish.cwd,
                additional_dirs=wish.additional_dirs,
                session_id=wish.session_id,
                fork=wish.fork,
                editor=wish.editor,
                terminals=wish.terminals,
                mcp=McpWish(servers=wish.mcp_servers),
                **options,
            ),
        )
        await engine.serve()

    theirs_in, ours_out = os.pipe()
    ours_in, theirs_out = os.pipe()
    interruption = Interruption()
    with os.fdopen(theirs_out, "wb", buffering=0) as stdout:
        server = asyncio.ensure_future(
            run_acp_server(
                version="1.2.3",
                serve=serve,
                store=SessionStore(home.share_dir),
                login=Login(has_model),
                stdin=RawInput(theirs_in),
                stdout=stdout,
                interruption=interruption,
            )
        )
        editor = editor or Editor()
        try:
            async with _streams(ours_in, ours_out) as (reader, writer):
                tap = Wiretap(reader, editor)
                tapping = asyncio.ensure_future(tap.run())
                editor.connection = ClientSideConnection(
                    cast("Any", editor), writer, tap.reader, use_unstable_protocol=True
                )
                yield Desk(editor, tap, writer, interruption)
                writer.close()
                async with asyncio.timeout(PATIENCE_S):
                    assert await server == (0 if interruption.signal_number is None else 130)
                    stdout.close()
                    await tapping
                    await editor.connection.close()
        finally:
            os.close(theirs_in)


@asynccontextmanager
async def _streams(
    incoming: int, outgoing: int
) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=1 << 27)
    reading, _ = await loop.connect_read_pipe(
        partial(asyncio.StreamReaderProtocol, reader), os.fdopen(incoming, "rb", buffering=0)
    )
    writing, protocol = await loop.connect_write_pipe(
        asyncio.streams.FlowControlMixin, os.fdopen(outgoing, "wb", buffering=0)
    )
    writer = asyncio.StreamWriter(writing, protocol, reader, loop)
    try:
        yield reader, writer
    finally:
        writing.close()
        reading.close()
