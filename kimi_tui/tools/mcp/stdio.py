"""The transport to a server that is a child process: one JSON message a line."""

import logging
from asyncio.subprocess import Process
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import anyio
from anyio.abc import ObjectReceiveStream, ObjectSendStream
from fastmcp.client.transports.base import ClientTransport, TransportOptions
from mcp import ClientSession
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter

from kimi_tui.tools.mcp.leash import Leash
from kimi_tui.tools.mcp.lines import Lines
from kimi_tui.tools.mcp.problem import McpProblem
from kimi_tui.tools.mcp.server_config import StdioServer
from kimi_tui.tools.mcp.server_log import ServerLog
from kimi_tui.tools.mcp.server_process import server_process
from kimi_tui.tools.mcp.session import TolerantSession

_READ = 256 * 1024
_POLL_S = 0.005
_LAST_WORDS_S = 1.0
"""How long a server that takes nothing more has to end and to say why."""

Closed = Callable[[McpProblem], None]
"""Told, once, why the server is heard no more."""


class ChildTransport(ClientTransport):
    """Starts the server for a session, and ends it with that."""

    def __init__(
        self, server: StdioServer, *, work_dir: Path, log: ServerLog, leash: Leash, closed: Closed
    ) -> None:
        self._server = server
        self._work_dir = work_dir
        self._log = log
        self._leash = leash
        self._closed = closed

    @asynccontextmanager
    async def connect_session(
        self, *, transport_options: TransportOptions | None = None, **session_kwargs: Any
    ) -> AsyncIterator[ClientSession]:
        """A session with a fresh process. Raises McpProblem when it can't be started."""
        async with server_process(
            self._server, work_dir=self._work_dir, log=self._log, leash=self._leash
        ) as process:
            incoming, received = anyio.create_memory_object_stream[SessionMessage | Exception](0)
            to_send, outgoing = anyio.create_memory_object_stream[SessionMessage](0)
            ended = anyio.Event()
            async with anyio.create_task_group() as group:
                group.start_soon(self._read, process, incoming, ended)
                group.start_soon(_write, process, outgoing, incoming, ended)
                try:
                    async with TolerantSession(received, to_send, **session_kwargs) as session:
                        yield session
                finally:
                    group.cancel_scope.cancel()
                    for stream in (incoming, received, to_send, outgoing):
                        stream.close()

    async def _read(
        self,
        process: Process,
        incoming: "ObjectSendStream[SessionMessage | Exception]",
        ended: anyio.Event,
    ) -> None:
        assert process.stdout is not None
        lines = Lines()
        problem = None
        with suppress(anyio.ClosedResourceError, anyio.BrokenResourceError):
            try:
                while data := await process.stdout.read(_READ):
                    for line in lines.add(data):
                        if (message := self._message(line)) is not None:
                            await incoming.send(message)
            except McpProblem as too_long:
                problem = too_long
            self._closed(problem or await self._ending(process))
            ended.set()
            await incoming.aclose()

    def _message(self, line: bytes) -> SessionMessage | None:
        """The message that `line` is; what is none goes to the log."""
        if not line.strip():
            return None
        try:
            return SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False))
        except ValueError:
            self._log.take(f"no message: {line[:200].decode('utf-8', 'replace')}", level=logging.WARNING)
            return None

    async def _ending(self, process: Process) -> McpProblem:
        assert process.stderr is not None
        with anyio.move_on_after(0.5):
            await process.wait()
            while not process.stderr.at_eof():  # noqa: ASYNC110 - whoever reads it tells of no end
                await anyio.sleep(_POLL_S)
            await anyio.sleep(_POLL_S)  # what was read last goes to the log
        words = self._log.last_words
        said = f" Its last words: {words[:300]}" if words else ""
        match process.returncode:
            case None:
                what = "It closed its output."
            case code if code < 0:
                what = f"It was ended by signal {-code}."
            case code:
                what = f"It ended with status {code}."
        return McpProblem(what + said, hint="The log has all that it said.")


async def _write(
    process: Process,
    outgoing: "ObjectReceiveStream[SessionMessage]",
    incoming: "ObjectSendStream[SessionMessage | Exception]",
    ended: anyio.Event,
) -> None:
    assert process.stdin is not None
    try:
        async for message in outgoing:
            text = message.message.model_dump_json(by_alias=True, exclude_unset=True)
            process.stdin.write(text.encode("utf-8", "replace") + b"\n")
            await process.stdin.drain()
    except (OSError, anyio.ClosedResourceError, anyio.BrokenResourceError):
        with anyio.move_on_after(_LAST_WORDS_S):
            await ended.wait()
        with suppress(anyio.ClosedResourceError, anyio.BrokenResourceError):
            await incoming.aclose()  # so that no request waits for ever
