"""A fake editor: the SDK's client with scripted answers, which records the updates it receives."""

import asyncio
import json
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
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

from kimi_tui.acp.server import run_acp_server
from kimi_tui.acp.session_registry import AcpSessionOptions
from kimi_tui.base.interrupt import ProcessInterrupt
from kimi_tui.base.raw_input import RawInput
from kimi_tui.config.settings import Settings
from kimi_tui.engine.build.engine import build_engine
from kimi_tui.engine.options import EngineOptions
from kimi_tui.history.session import SessionStore
from kimi_tui.mcp.config_discovery import McpSelection
from kimi_tui.wire.channel import Wire
from tests.engine.fake_front_end import SessionEnv
from tests.timeouts import TEST_TIMEOUT_S

T = TypeVar("T")


@dataclass(eq=False)
class PermissionPrompt:
    """A request for permission."""

    session_id: str
    call: ToolCallUpdate
    options: list[PermissionOption]
    answer: "asyncio.Future[str | None]"

    def choose(self, kind: str) -> None:
        """Choose the first option of `kind`. Any other value, such as `cancelled`, cancels the turn."""
        ids = [option.option_id for option in self.options if option.kind == kind]
        self.answer.set_result(ids[0] if ids else None)


@dataclass(eq=False)
class FakeEditor:
    """The client's side of the protocol."""

    connection: Any = None
    updates: list[tuple[str, Any]] = field(default_factory=list)
    """All updates so far, as pairs of session id and update."""
    permission_prompts: "asyncio.Queue[PermissionPrompt]" = field(default_factory=asyncio.Queue)
    update_event: asyncio.Event = field(default_factory=asyncio.Event)

    # requests from the agent

    async def session_update(self, session_id: str, update: Any, **_: Any) -> None:
        self.updates.append((session_id, update))
        self.update_event.set()

    async def request_permission(
        self, session_id: str, tool_call: ToolCallUpdate, options: list[PermissionOption], **_: Any
    ) -> RequestPermissionResponse:
        prompt = PermissionPrompt(session_id, tool_call, options, asyncio.get_running_loop().create_future())
        self.permission_prompts.put_nowait(prompt)
        option_id = await prompt.answer
        if option_id is None:
            return RequestPermissionResponse(outcome=DeniedOutcome(outcome="cancelled"))
        return RequestPermissionResponse(outcome=AllowedOutcome(outcome="selected", option_id=option_id))

    # inspection

    async def next_permission_prompt(self) -> PermissionPrompt:
        """Wait for the next permission request and return it."""
        async with asyncio.timeout(TEST_TIMEOUT_S):
            return await self.permission_prompts.get()

    async def wait_for(self, condition: Callable[[], T]) -> T:
        """Wait until `condition` returns a true value and return that."""
        async with asyncio.timeout(TEST_TIMEOUT_S):
            while not (value := condition()):
                self.update_event.clear()
                await self.update_event.wait()
            return value

    def updates_of(self, session_id: str, kind: str) -> list[Any]:
        """Return the updates of one kind of a session."""
        return [update for id_, update in self.updates if id_ == session_id and update.session_update == kind]

    def text_of(self, session_id: str, kind: str = "agent_message_chunk") -> str:
        """Return the text of a session so far."""
        return "".join(getattr(update.content, "text", "") for update in self.updates_of(session_id, kind))

    def calls(self, session_id: str) -> dict[str, ToolCallStart]:
        """Return the tool calls of a session by id, with all later updates applied."""
        calls: dict[str, ToolCallStart] = {}
        for id_, update in self.updates:
            if id_ == session_id and isinstance(update, ToolCallStart):
                assert update.tool_call_id not in calls, "an id was used twice"
                calls[update.tool_call_id] = update.model_copy()
            elif id_ == session_id and isinstance(update, ToolCallProgress):
                changes = update.model_dump(exclude_none=True, exclude={"session_update", "tool_call_id"})
                for name in changes:
                    setattr(calls[update.tool_call_id], name, getattr(update, name))
        return calls

    def call(self, session_id: str) -> ToolCallStart:
        """Return the last tool call of a session."""
        return list(self.calls(session_id).values())[-1]

    # requests to the agent

    async def initialize(self, **capabilities: Any) -> Any:
        return await self.connection.initialize(1, ClientCapabilities(**capabilities))

    async def new(self, cwd: Path, **options: Any) -> str:
        response = await self.connection.new_session(str(cwd), **options)
        return str(response.session_id)

    async def prompt(self, session_id: str, text: str) -> PromptResponse:
        async with asyncio.timeout(TEST_TIMEOUT_S):
            response: PromptResponse = await self.connection.prompt(
                session_id, [TextContentBlock(type="text", text=text)]
            )
            return response

    def start_prompt(self, session_id: str, text: str) -> "asyncio.Task[PromptResponse]":
        """Send a prompt without waiting for the response."""
        return asyncio.ensure_future(self.prompt(session_id, text))

    async def request(self, method: str, params: Any = None) -> Any:
        """Call a method that the SDK's client doesn't support."""
        async with asyncio.timeout(TEST_TIMEOUT_S):
            return await self.connection._conn.send_request(method, params)

    async def notify(self, method: str, params: Any = None) -> None:
        await self.connection._conn.send_notification(method, params)

    async def disconnect(self) -> None:
        """Close the connection. The agent may be gone: responses to its last requests are discarded."""
        with suppress(ConnectionError):
            await self.connection.close()


class OutputRecorder:
    """Records the lines that the agent writes before the SDK's client parses them."""

    def __init__(self, stream: asyncio.StreamReader, editor: FakeEditor) -> None:
        self.lines: list[dict[str, Any]] = []
        self.reader = asyncio.StreamReader(limit=1 << 27)
        self._stream = stream
        self._editor = editor

    async def run(self) -> None:
        while line := await self._stream.readline():
            self.lines.append(json.loads(line))
            self._editor.update_event.set()
            self.reader.feed_data(line)
        self.reader.feed_eof()

    def canceled_requests(self) -> list[str]:
        """Return the methods of the requests that the agent has canceled."""
        methods = {line["id"]: line["method"] for line in self.lines if "id" in line and "method" in line}
        canceled = [line for line in self.lines if line.get("method") == "$/cancel_request"]
        return [methods[line["params"]["requestId"]] for line in canceled]

    def errors(self) -> list[dict[str, Any]]:
        """Return the error responses to invalid lines."""
        return [line["error"] for line in self.lines if line.get("id", 0) is None]


@dataclass
class EditorHarness:
    """A connected editor with its pipes."""

    editor: Any
    """A FakeEditor or a subclass."""
    recorder: OutputRecorder
    writer: asyncio.StreamWriter
    interruption: ProcessInterrupt

    async def send_raw(self, data: bytes) -> None:
        """Write `data` without the SDK."""
        self.writer.write(data)
        await self.writer.drain()


class HomeEngines:
    """Engines in a home directory with a scripted model."""

    def __init__(self, home: SessionEnv, *, settings: Settings | None = None, **options: Any) -> None:
        self._home = home
        self._settings = settings
        self._options = options
        self.is_configured = True

    def has_model(self) -> bool:
        return self.is_configured

    async def stop(self, session_id: str) -> None:
        """No session continues without its client."""

    async def serve(self, wire: Wire, session_options: AcpSessionOptions) -> None:
        engine = await build_engine(
            wire,
            EngineOptions(
                settings=self._settings or self._home.settings(),
                data_dir=self._home.data_dir,
                work_dir=session_options.cwd,
                additional_dirs=session_options.additional_dirs,
                session_id=session_options.session_id,
                fork=session_options.fork,
                editor=session_options.editor,
                terminals=session_options.terminals,
                mcp=McpSelection(servers=session_options.mcp_servers),
                **self._options,
            ),
        )
        await engine.serve()


@asynccontextmanager
async def connect_editor(
    home: SessionEnv,
    *,
    engines: HomeEngines | None = None,
    settings: Settings | None = None,
    editor: Any = None,
    **options: Any,
) -> AsyncIterator[EditorHarness]:
    """Connect an editor to a server in this process over real pipes, and check that the server exits
    cleanly.
    """

    agent_input, editor_output = os.pipe()
    editor_input, agent_output = os.pipe()
    interruption = ProcessInterrupt()
    with os.fdopen(agent_output, "wb", buffering=0) as stdout:
        server = asyncio.ensure_future(
            run_acp_server(
                version="1.2.3",
                engines=engines or HomeEngines(home, settings=settings, **options),
                store=SessionStore(home.data_dir),
                stdin=RawInput(agent_input),
                stdout=stdout,
                interruption=interruption,
            )
        )
        editor = editor or FakeEditor()
        try:
            async with _streams(editor_input, editor_output) as (reader, writer):
                recorder = OutputRecorder(reader, editor)
                recorder_task = asyncio.ensure_future(recorder.run())
                editor.connection = ClientSideConnection(
                    cast("Any", editor), writer, recorder.reader, use_unstable_protocol=True
                )
                yield EditorHarness(editor, recorder, writer, interruption)
                writer.close()
                async with asyncio.timeout(TEST_TIMEOUT_S):
                    assert await server == (0 if interruption.signal_number is None else 130)
                    stdout.close()
                    await recorder_task
                    await editor.disconnect()
        finally:
            os.close(agent_input)


@asynccontextmanager
async def _streams(
    incoming: int, outgoing: int
) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=1 << 27)
    read_transport, _ = await loop.connect_read_pipe(
        partial(asyncio.StreamReaderProtocol, reader), os.fdopen(incoming, "rb", buffering=0)
    )
    write_transport, protocol = await loop.connect_write_pipe(
        asyncio.streams.FlowControlMixin, os.fdopen(outgoing, "wb", buffering=0)
    )
    writer = asyncio.StreamWriter(write_transport, protocol, reader, loop)
    try:
        yield reader, writer
    finally:
        write_transport.close()
        read_transport.close()
