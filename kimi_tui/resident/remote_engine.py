"""A session of the resident engine behind a local Wire, as if its engine were in this process."""

import asyncio
import logging
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kimi_tui.base.errors import EngineLost
from kimi_tui.resident.connection import Streams, connect
from kimi_tui.resident.frames import (
    Hello,
    InvalidFrame,
    answer_line,
    parse_error,
    parse_message,
    parse_object,
    to_line,
)
from kimi_tui.wire.channel import Wire
from kimi_tui.wire.codec import encode_command
from kimi_tui.wire.commands import Shutdown
from kimi_tui.wire.events import ApprovalResponse, RequestClosed, SessionInfo
from kimi_tui.wire.requests import Answer, Request

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class _Link:
    """State of one connection."""

    session_id: str = ""
    last_command: int = 0
    running: dict[int, "asyncio.Future[None]"] = field(default_factory=dict)
    """Commands that the engine isn't done with."""


class RemoteEngine:
    """Connects to the resident engine, which opens the session if it isn't open yet."""

    def __init__(
        self, *, data_dir: Path, version: str, options: dict[str, Any], is_viewer: bool = False
    ) -> None:
        """`options` are those that the engine's SessionOpener expects."""
        self._data_dir = data_dir
        self._hello = Hello(version=version, request="open", options=options, is_viewer=is_viewer)

    async def serve(self, wire: Wire) -> None:
        """Pass the messages of the session to `wire`, and its commands and answers to the engine.

        Returns after Shutdown, which only disconnects: the session continues. Finally closes the Wire.
        Raises EngineNotRunning, EngineLost, and the KimiTuiError that ended the session.
        """
        link = _Link()
        try:
            async with connect(self._data_dir, self._hello) as (streams, _):
                receiving = asyncio.ensure_future(self._receive(streams, link, wire))
                sending = asyncio.ensure_future(self._send(streams[1], link, wire))
                try:
                    await asyncio.wait([receiving, sending], return_when=asyncio.FIRST_COMPLETED)
                finally:
                    receiving.cancel()
                    sending.cancel()
                    await asyncio.wait([receiving, sending])
                for task in (receiving, sending):
                    if not task.cancelled():
                        task.result()
        except (ConnectionError, InvalidFrame) as error:
            raise EngineLost(
                "The connection to the resident engine was lost.",
                session_id=link.session_id,
                hint="The conversation is saved. Resume it with --continue.",
            ) from error
        finally:
            wire.close()

    async def _send(self, writer: asyncio.StreamWriter, link: _Link, wire: Wire) -> None:
        """Send commands until Shutdown. Raises ConnectionError."""
        async for command in wire.commands():
            if isinstance(command, Shutdown):
                return
            link.last_command += 1
            done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            link.running[link.last_command] = done
            wire.defer_completion(done)
            writer.write(to_line({"command": encode_command(command), "id": link.last_command}))
            await writer.drain()

    async def _receive(self, streams: Streams, link: _Link, wire: Wire) -> None:
        """Pass messages on until the session ends. Raises ConnectionError, InvalidFrame and KimiTuiError."""
        reader, writer = streams
        while True:
            try:
                line = await reader.readline()
            except ValueError as error:
                raise InvalidFrame(str(error)) from error
            if not line.endswith(b"\n"):
                raise ConnectionResetError
            data = parse_object(line)
            if "message" in data:
                self._pass_on(parse_message(data), link, wire, writer)
            elif "done" in data:
                if (done := link.running.pop(data["done"], None)) is not None and not done.done():
                    done.set_result(None)
            elif "end" in data:
                if isinstance(data["end"], dict):
                    raise parse_error(data["end"])
                return

    def _pass_on(self, message: Any, link: _Link, wire: Wire, writer: asyncio.StreamWriter) -> None:
        match message:
            case RequestClosed(request_id=request_id):
                wire.close_request(request_id, was_answered=False)
            case ApprovalResponse(request_id=request_id):
                wire.close_request(request_id, was_answered=True)
                wire.send(message)
            case _ if isinstance(message, Request):
                wire.open_request(message).add_done_callback(_AnswerSender(writer))
            case _:
                if isinstance(message, SessionInfo):
                    link.session_id = message.session_id
                wire.send(message)


class _AnswerSender:
    """Sends the answer to a request when there is one."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self._writer = writer

    def __call__(self, future: "asyncio.Future[Answer]") -> None:
        if not future.cancelled():
            with suppress(ConnectionError):
                self._writer.write(answer_line(future.result()))
