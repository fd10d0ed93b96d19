"""Transport to a server that is a child process, with one JSON message per line."""

import logging
from asyncio.subprocess import Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import anyio
from anyio.abc import ObjectReceiveStream, ObjectSendStream
from fastmcp.client.transports.base import ClientTransport, TransportOptions
from mcp import ClientSession
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter

from kimi_tui.mcp.client_handler import ClientHandler
from kimi_tui.mcp.errors import McpServerError
from kimi_tui.mcp.line_buffer import LineBuffer
from kimi_tui.mcp.process_reaper import ProcessReaper
from kimi_tui.mcp.server_config import StdioServer
from kimi_tui.mcp.server_log import ServerLog
from kimi_tui.mcp.server_process import run_server_process
from kimi_tui.mcp.tolerant_session import TolerantSession

_READ_BYTES = 256 * 1024
_POLL_S = 0.005
_EXIT_TIMEOUT_S = 1.0
"""Maximum time for a server that no longer reads its input to exit and report the cause."""


class StdioTransport(ClientTransport):
    """Starts the server for a session, and stops it with the session.

    `handler` is notified once, with the reason, when the connection is lost.
    """

    def __init__(
        self,
        server: StdioServer,
        *,
        work_dir: Path,
        log: ServerLog,
        reaper: ProcessReaper,
        handler: ClientHandler,
    ) -> None:
        self._server = server
        self._work_dir = work_dir
        self._log = log
        self._reaper = reaper
        self._handler = handler

    @asynccontextmanager
    async def connect_session(
        self, *, transport_options: TransportOptions | None = None, **session_kwargs: Any
    ) -> AsyncIterator[ClientSession]:
        """Open a session with a new process. Raises McpServerError if the process can't be started."""
        async with run_server_process(
            self._server, work_dir=self._work_dir, log=self._log, reaper=self._reaper
        ) as process:
            incoming, received = anyio.create_memory_object_stream[SessionMessage | Exception](0)
            to_send, outgoing = anyio.create_memory_object_stream[SessionMessage](0)
            ended = anyio.Event()
            async with anyio.create_task_group() as group:
                group.start_soon(self._read_messages, process, incoming, ended)
                group.start_soon(_write_messages, process, outgoing, incoming, ended)
                try:
                    async with TolerantSession(received, to_send, **session_kwargs) as session:
                        yield session
                finally:
                    group.cancel_scope.cancel()
                    for stream in (incoming, received, to_send, outgoing):
                        stream.close()

    async def _read_messages(
        self,
        process: Process,
        incoming: "ObjectSendStream[SessionMessage | Exception]",
        ended: anyio.Event,
    ) -> None:
        assert process.stdout is not None
        lines = LineBuffer()
        line_error = None
        with suppress(anyio.ClosedResourceError, anyio.BrokenResourceError):
            try:
                while data := await process.stdout.read(_READ_BYTES):
                    for line in lines.feed(data):
                        if (message := self._parse_message(line)) is not None:
                            await incoming.send(message)
            except McpServerError as error:
                line_error = error
            self._handler.on_connection_lost(line_error or await self._describe_exit(process))
            ended.set()
            await incoming.aclose()

    def _parse_message(self, line: bytes) -> SessionMessage | None:
        """Parse `line`. Log an invalid message and return None."""
        if not line.strip():
            return None
        try:
            return SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False))
        except ValueError:
            self._log.log(f"invalid message: {line[:200].decode('utf-8', 'replace')}", level=logging.WARNING)
            return None

    async def _describe_exit(self, process: Process) -> McpServerError:
        assert process.stderr is not None
        with anyio.move_on_after(0.5):
            await process.wait()
            while not process.stderr.at_eof():  # noqa: ASYNC110 - the reader signals no end
                await anyio.sleep(_POLL_S)
            await anyio.sleep(_POLL_S)  # let the reader log the last line
        last_line = self._log.last_line
        last_output = f" Last output: {last_line[:300]}" if last_line else ""
        match process.returncode:
            case None:
                what = "The server closed its output."
            case code if code < 0:
                what = f"The server was terminated by signal {-code}."
            case code:
                what = f"The server exited with status {code}."
        return McpServerError(what + last_output, hint="See the log for all its output.")


async def _write_messages(
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
        with anyio.move_on_after(_EXIT_TIMEOUT_S):
            await ended.wait()
        with suppress(anyio.ClosedResourceError, anyio.BrokenResourceError):
            await incoming.aclose()  # so that no request waits forever
